if(HOW STREQUAL "GZIP")
  file(ARCHIVE_CREATE OUTPUT "${OUT}.gz" PATHS "${IN}" FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  set(IN "${OUT}.gz")
endif()
file(READ "${IN}" text HEX)
if(HOW STREQUAL "GZIP")
  # Bytes 4 to 7 are the time of packing: 0 is none, so that the same file gives the same bytes.
  string(REGEX REPLACE "^(........)........" "\\100000000" text "${text}")
endif()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
# Literals of 64 kB and more are not portable: cut into pieces that the compiler joins.
string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f]){64})" "\\1\"\n    \"" text "${text}")
file(SIZE "${IN}" size)
file(WRITE "${OUT}" "#include <string_view>\n\nnamespace tacho::embedded {\nextern const std::string_view ${SYMBOL};\nconst std::string_view ${SYMBOL}(\n    \"${text}\",\n    ${size});\n}  // namespace tacho::embedded\n")
