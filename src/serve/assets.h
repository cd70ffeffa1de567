#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// One file of the page.
struct Asset {
  std::string_view name;  // "index.html"
  std::string_view content_type;
  std::string_view gzipped;  // of the embedded one
  std::string etag;          // strong, of `gzipped`
};

// The embedded file that a path of a request asks for ("/", "/app.js"); null for any other path.
// The names are fixed: a path never becomes one of the disk.
const Asset* FindAsset(std::string_view path);

}  // namespace tacho
