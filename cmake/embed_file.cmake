file(READ "${IN}" text HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
# Literals of 64 kB and more are not portable: cut into pieces that the compiler joins.
string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f]){64})" "\\1\"\n    \"" text "${text}")
file(SIZE "${IN}" size)
file(WRITE "${OUT}" "#include <string_view>\n\nnamespace tacho::embedded {\nextern const std::string_view ${SYMBOL};\nconst std::string_view ${SYMBOL}(\n    \"${text}\",\n    ${size});\n}  // namespace tacho::embedded\n")
