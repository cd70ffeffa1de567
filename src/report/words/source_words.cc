#include "report/words/source_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "text/format_number.h"

namespace tacho {

namespace {

// "_custom_ops.py:334 rms_norm" of "vllm/_custom_ops.py(334): rms_norm".
std::string ShortFrame(std::string_view frame) {
  const size_t open = frame.find('('), close = frame.find("): ", open);
  if (close == std::string_view::npos) return std::string(frame);
  const std::string_view path = frame.substr(0, open);
  return fmt::format("{}:{} {}", path.substr(path.rfind('/') + 1),
                     frame.substr(open + 1, close - open - 1), frame.substr(close + 3));
}

std::string Joined(const SourceRow& row, auto text_of) {
  std::vector<std::string> texts;
  for (const SourceSite& site : row.sites) texts.push_back(text_of(site));
  if (row.more_sites > 0) texts.push_back(FormatCount(row.more_sites) + " more");
  return fmt::format("{}", fmt::join(texts, " | "));
}

}  // namespace

std::string FramesText(const SourceRow& row) {
  return Joined(row, [](const SourceSite& site) { return site.frame; });
}

std::string ShortFramesText(const SourceRow& row) {
  if (row.sites.empty()) return "";
  const uint64_t more = row.sites.size() - 1 + row.more_sites;
  return ShortFrame(row.sites.front().frame) +
         (more == 0 ? "" : fmt::format(" or {} more", FormatCount(more)));
}

std::string ModulesText(const SourceRow& row) {
  return Joined(
      row, [](const SourceSite& site) { return fmt::format("{}", fmt::join(site.modules, ", ")); });
}

std::string ShortModulesText(const SourceRow& row) {
  if (row.sites.empty() || row.sites.front().modules.empty()) return "";
  const std::vector<std::string>& modules = row.sites.front().modules;
  return modules.front() +
         (modules.size() == 1 ? "" : fmt::format(" or {} more", FormatCount(modules.size() - 1)));
}

std::string WhyNoSources(const SourceTable& sources) {
  switch (sources.state) {
    case SourcesState::kNoFrames:
      return "no sources: no Python frame is known that launched work outside of a graph; "
             "--stacks-from "
             "takes a recording of this engine with stacks and without graphs";
    case SourcesState::kNoMatch:
      return "no sources: the recording of --stacks-from has no kernel of the same name: it is of "
             "another engine or GPU";
    default:
      return "no sources: they were not asked for when these results were made";
  }
}

void AddSourcesRemark(Document& document, const SourceTable& sources) {
  if (sources.state != SourcesState::kFound) return;
  const DurationNs none = sources.device - sources.one - sources.several;
  const auto share = [&](DurationNs time) { return FormatShare(time, sources.device); };
  std::string text = fmt::format(
      "{} of the time is launched from one known place, {} from one of several, {} from an unknown "
      "one",
      share(sources.one), share(sources.several), share(none));
  if (sources.by_category.ns > 0)
    text += fmt::format("; {} by other kernels of its category", share(sources.by_category));
  if (!sources.map.empty())
    text += "; joined with " + sources.map + " by block of the model and kernel";
  else if (none.ns > 0)
    text +=
        "; no frame is open for the kernels of a graph: --stacks-from takes a recording "
        "without graphs";
  document.Add(Paragraph{text + "; a line is that of the function's definition", Paint::kDim});
}

}  // namespace tacho
