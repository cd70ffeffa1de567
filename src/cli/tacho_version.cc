#include "cli/tacho_version.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "text/json_writer.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

struct Library {
  std::string name, built_with;
  std::string loaded;  // "libzstd.so.1.5.4"; "": not loaded, or part of the program
};

// The names of all files that the program has loaded.
std::vector<std::string> LoadedFiles() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        std::error_code error;
        const auto file = std::filesystem::canonical(info->dlpi_name, error);
        if (!error) static_cast<std::vector<std::string>*>(to)->push_back(file.filename().string());
        return 0;
      },
      &files);
  return files;
}

// Reads TACHO_LIBRARIES, "name file version;...", which cmake/version.cmake makes.
std::vector<Library> Libraries() {
  const std::vector<std::string> files = LoadedFiles();
  std::vector<Library> libraries;
  std::string_view rest = TACHO_LIBRARIES;
  while (!rest.empty()) {
    const std::string_view row = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), row.size() + 1));
    const size_t first = row.find(' '), last = row.rfind(' ');
    const std::string file(row.substr(first + 1, last - first - 1));
    const auto loaded = std::ranges::find_if(
        files, [&](const std::string& name) { return name.starts_with(file + ".so"); });
    libraries.push_back({std::string(row.substr(0, first)), std::string(row.substr(last + 1)),
                         loaded == files.end() ? "" : *loaded});
  }
  return libraries;
}

}  // namespace

std::string VersionText() {
  std::string out =
      fmt::format("tacho {}\nbuilt: {}, {}\n", TachoVersion(), TACHO_BUILD_TYPE, TACHO_COMPILER);
  for (const Library& library : Libraries())
    out += fmt::format("  {} {}{}\n", PadRight(library.name, 14), library.built_with,
                       library.loaded.empty() ? "" : fmt::format(" ({})", library.loaded));
  return out;
}

std::string VersionJson() {
  JsonWriter json;
  json.BeginObject();
  json.Fields("schema", 1, "version", TachoVersion(), "build_type", std::string(TACHO_BUILD_TYPE),
              "compiler", std::string(TACHO_COMPILER));
  json.Rows("libraries", Libraries(), [&](const Library& library) {
    json.Fields("name", library.name, "built_with", library.built_with);
    if (!library.loaded.empty()) json.Field("loaded", library.loaded);
  });
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
