#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/finding.h"

namespace tacho {

// What `tacho doctor` can look at.
enum class Look : uint8_t {
  kEngine,     // what a server answers to probes
  kCommand,    // a command line and its environment, from the user or from a running process
  kVersion,    // only the version of an engine or of torch: faults that no probe can see
  kHost,       // processes, nsys, driver and free room of this host
  kLog,        // an engine's log
  kRecording,  // the run.json of a recording
  kTrace,
  kRay,  // the Ray nodes of this host; not tried where there are none
  kCount,
};
std::string_view NameOf(Look look);

// A known failure: one page in docs/doctor/, and one check. Read from rules/doctor.rules.
struct CheckPage {
  std::string id;     // "D01"
  std::string title;  // "/start_profile answers 404"
  // Ids of the findings or notes that show the failure; may be empty.
  std::vector<std::string> findings;
  std::vector<Look> looks;  // the looks that can show it; empty: none can, see `seen`
  std::string engine;  // "vllm", "sglang": the failure is only of that engine; "": of any engine
  // The page's sections. `verified`: how the failure was verified; `seen`: how tacho finds it, or
  // why it cannot.
  std::string symptom, cause, versions, remedy, verified, seen;
};
// All pages, in the order of their ids.
const std::vector<CheckPage>& CheckPages();
// The page with this id ("D01", "d1"), or all pages about the finding or note with this id.
std::vector<const CheckPage*> PagesFor(std::string_view id);
// Every id that PagesFor accepts, with the title of its first page.
std::map<std::string, std::string> PageTitles();
// The id that the user may have meant; "" if no id is similar.
std::string NearestPage(std::string_view id);

// A page's text: for a screen of `width` columns, and as Markdown with links, for a file of
// docs/doctor/.
std::string PageText(const CheckPage& page, size_t width);
std::string PageMarkdown(const CheckPage& page);
std::string PagesIndexMarkdown();  // the README.md of docs/doctor/

}  // namespace tacho
