#include "serve/assets.h"

#include <fmt/format.h>

#include <array>

#include "base/random.h"

namespace tacho {

namespace embedded {
extern const std::string_view page_index_html, page_app_js, page_app_css, page_favicon_svg;
}  // namespace embedded

namespace {

Asset EmbeddedAsset(std::string_view name, std::string_view content_type,
                    std::string_view gzipped) {
  return {name, content_type, gzipped, fmt::format("\"{:016x}\"", HashText(gzipped))};
}

}  // namespace

const Asset* FindAsset(std::string_view path) {
  static const std::array<Asset, 4> assets{
      EmbeddedAsset("index.html", "text/html; charset=utf-8", embedded::page_index_html),
      EmbeddedAsset("app.js", "text/javascript; charset=utf-8", embedded::page_app_js),
      EmbeddedAsset("app.css", "text/css; charset=utf-8", embedded::page_app_css),
      EmbeddedAsset("favicon.svg", "image/svg+xml", embedded::page_favicon_svg)};
  if (path == "/") return &assets[0];
  for (const Asset& asset : assets) {
    if (path.substr(1) == asset.name && path.starts_with('/')) return &asset;
  }
  return nullptr;
}

}  // namespace tacho
