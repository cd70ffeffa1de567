#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// One file of the page.
struct Asset {
  std::string_view name;  // "index.html"
  std::string_view content_type;
  std::string_view gzipped;  // the embedded file
  std::string etag;          // strong, of `gzipped`
};

// The embedded file that a path of a request asks for ("/", "/app.js"); null for any other path.
// The names are fixed: the path of a request is never used as a path on disk.
const Asset* FindAsset(std::string_view path);

}  // namespace tacho
