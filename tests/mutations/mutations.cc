// Traces that lie, made of whole ones: work is removed, the device's clock moved, sources are cut
// short, by random amounts, and two are merged. No figure of theirs may be wrong by more than tacho
// says.
//
// usage: mutations [--count N] [--seed N] [--bytes N] TRACE...
//
// Of the traces those are used that are of a GPU, whole, and at most N bytes of JSON. Prints what
// is wrong, then how many of the mutated traces still tell their idle time and its causes. Exit
// status 1 if anything is wrong. A seed gives the same mutations each time.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analysis/ranks/merged_ranks.h"
#include "base/parallel.h"
#include "base/parse_number.h"
#include "mutations/figures.h"
#include "mutations/mutation.h"

namespace {

// Of its first launch.
std::string_view PidOf(const tacho::Base& base) {
  const tacho::Trace& trace = base.trace;
  const tacho::TrackId track = trace.host_calls.track[base.calls.front()];
  return trace.Text(trace.words[trace.words[track].process].id);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tacho;
  std::map<std::string, uint64_t> options{{"--count", 1000}, {"--seed", 1}, {"--bytes", 1 << 20}};
  std::vector<std::unique_ptr<Base>> bases;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (const auto option = options.find(argument); option != options.end() && i + 1 < argc)
      option->second = ParseWhole<uint64_t>(argv[++i]).value_or(0);
    else
      paths.push_back(argument);
  }
  for (const std::string& path : paths) {
    if (auto base = ReadBase(path, options["--bytes"]))
      bases.push_back(std::move(*base));
    else
      fmt::print("not used: {}\n", base.error().message);
  }
  if (bases.empty()) {
    fmt::print("no trace can be used\n");
    return 2;
  }
  const size_t count = options["--count"];
  std::vector<std::string> wrong(count);
  std::atomic<size_t> with_idle_time = 0, with_causes = 0;
  ParallelFor(count, 0, [&](size_t n) {
    std::mt19937_64 random(options["--seed"] * 1'000'003 + n);
    const Base& base = *bases[n % bases.size()];
    if (n % 50 == 49) {
      const Base& other = *bases[random() % bases.size()];
      // Of one process they may be two windows of one recording.
      if (&base != &other && PidOf(base) == PidOf(other)) return;
      if (FindRanksInside(Merged(base, other)) == RanksInside::kOne)
        wrong[n] = fmt::format("{} and {} in one file are one rank\n", base.path, other.path);
      return;
    }
    const Mutation mutation = RandomMutation(base, random);
    const CheckedFigures checked = CheckFigures(base, mutation, Mutated(base, mutation));
    if (checked.tells_idle_time) ++with_idle_time;
    if (checked.tells_causes) ++with_causes;
    for (const std::string& sentence : checked.wrong)
      wrong[n] += fmt::format("{}: {}{}\n", base.path, mutation.what, sentence);
  });
  size_t bad = 0;
  for (const std::string& text : wrong) {
    if (text.empty()) continue;
    ++bad;
    std::fputs(text.c_str(), stdout);
  }
  fmt::print("{} mutations of {} traces, {} of them tell idle time, {} its causes; {} wrong\n",
             count, bases.size(), with_idle_time.load(), with_causes.load(), bad);
  return bad == 0 ? 0 : 1;
}
