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
  kCommand,    // a command line and its environment, given by the user or of a running process
  kVersion,    // an engine's or torch's version alone: faults that no probe can see
  kHost,       // processes, nsys, driver and room of this host
  kLog,        // an engine's log
  kRecording,  // run.json of a recording
  kTrace,
  kCount,
};
std::string_view NameOf(Look look);

// A known failure: one page of docs/doctor/, and one check. From rules/doctor.rules.
struct CheckPage {
  std::string id;                     // "D01"
  std::string title;                  // "/start_profile answers 404"
  std::vector<std::string> findings;  // ids of findings or notes that show it; may be empty
  std::vector<Look> looks;            // the looks that show it; empty: no look does, see `seen`
  std::string engine;                 // "vllm", "sglang": only of that engine; "": of all
  // Symptom, cause, versions, remedy, how it was verified; `seen`: how tacho finds it, or why it
  // cannot.
  std::string symptom, cause, versions, remedy, verified, seen;
};
// In the order of their ids.
const std::vector<CheckPage>& CheckPages();
// The page with that id ("D01", "d1"), or all pages with that finding or note.
std::vector<const CheckPage*> PagesFor(std::string_view id);
// Every id that PagesFor accepts, with the title of its (first) page.
std::map<std::string, std::string> PageTitles();
// The id that the user may have meant; "" if none is near.
std::string NearestPage(std::string_view id);

// A page's text for a screen of `width` columns, and as a file of docs/doctor/ with links.
std::string PageText(const CheckPage& page, size_t width);
std::string PageMarkdown(const CheckPage& page);
std::string PagesIndexMarkdown();  // README.md of docs/doctor/

}  // namespace tacho
