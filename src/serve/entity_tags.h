#pragma once

#include <string_view>

namespace tacho {

// Whether `list`, the value of an If-Match or If-None-Match header (RFC 9110, 13.1), matches the
// entity tag `tag`, given with its quotes: `list` is "*", or has the tag before any malformed one.
// A weak tag (W/"...") counts as its strong form, because a proxy that compresses an answer weakens
// the tag, and our tags are hashes of the content.
bool NamesTag(std::string_view list, std::string_view tag);

}  // namespace tacho
