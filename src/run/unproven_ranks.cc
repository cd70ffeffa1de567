#include "run/unproven_ranks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/parse_json.h"
#include "run/run_place.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostSentences = 1000;

// The ranks without a file. Maps the beginning of the sentence about a rank to the worker and the
// number of the rank. Workers with several engines are left out, because their files do not show
// which engine they are from.
std::map<std::string, std::pair<std::string, int64_t>> RanksWithoutFile(const Json& run) {
  std::map<std::string, std::pair<std::string, int64_t>> found;
  try {
    for (const Json& worker : run.value("workers", Json::array())) {
      const Json& ranks = worker.at("ranks");
      if (std::ranges::any_of(ranks, [](const Json& rank) { return rank.at("engine") != 0; }))
        continue;
      for (const Json& rank : ranks)
        if (rank.at("files").empty())
          found[rank.at("name").get<std::string>() + " ("] = {worker.at("name").get<std::string>(),
                                                              rank.at("rank").get<int64_t>()};
    }
  } catch (const Json::exception&) {
    return {};  // not a run.json of tacho
  }
  return found;
}

}  // namespace

std::vector<UnprovenRank> UnprovenOfRunJson(std::string_view text) {
  std::vector<UnprovenRank> unproven;
  const Json run = ParseJson(text);
  const auto missing = run.is_object() ? run.find("missing") : run.end();
  if (missing == run.end() || !missing->is_array()) return unproven;
  const auto without_file = RanksWithoutFile(run);
  for (const Json& sentence : *missing) {
    if (!sentence.is_string() || unproven.size() >= kMostSentences) continue;
    UnprovenRank rank{sentence.get<std::string>()};
    for (const auto& [beginning, which] : without_file)
      if (rank.sentence.starts_with(beginning)) rank.without_file = which;
    unproven.push_back(std::move(rank));
  }
  return unproven;
}

std::vector<UnprovenRank> FindUnproven(const std::vector<std::string>& traces) {
  std::set<std::string> folders;
  for (const std::string& trace : traces) {
    if (const auto place = RunPlaceOf(trace)) folders.insert(place->folder);
  }
  std::vector<UnprovenRank> unproven;
  for (const std::string& folder : folders)
    std::ranges::move(UnprovenOfRunJson(ReadRunJson(folder)), std::back_inserter(unproven));
  return unproven;
}

bool IsOfWorker(std::string_view sentence, std::string_view worker) {
  return sentence.starts_with(std::string(worker) + " ");
}

bool IsAboutWholeWorker(std::string_view sentence, std::string_view worker) {
  return sentence.starts_with(std::string(worker) + " (");
}

bool NamesDefect(std::string_view sentence, const std::string& trace, NoteId defect) {
  return sentence.ends_with("/" + trace.substr(trace.rfind('/') + 1)) &&
         sentence.find(KindOf(defect).id) != std::string_view::npos;
}

}  // namespace tacho
