#pragma once

#include <string_view>

namespace tacho {

// Whether `list`, the value of an If-Match or If-None-Match header (RFC 9110, 13.1), matches the
// entity tag `tag`, which includes its quotes. It matches if it is "*", or if it contains the tag
// before any malformed tag. A weak tag (W/"...") counts as its strong form: a proxy that compresses
// an answer weakens the tag, and our tags are hashes of the content.
bool NamesTag(std::string_view list, std::string_view tag);

}  // namespace tacho
