#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// One file of the web page.
struct Asset {
  std::string_view name;  // such as "index.html"
  std::string_view content_type;
  std::string_view gzipped;  // the embedded file, compressed
  std::string etag;          // strong, made from `gzipped`
};

// The embedded file for a request's path ("/", "/app.js"); null if there is none. File names are
// fixed: a request's path is never used as a path on disk.
const Asset* FindAsset(std::string_view path);

}  // namespace tacho
