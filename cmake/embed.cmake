# tacho_embed(<target> <symbol> <file> [GZIP]): the bytes of <file>, or of the file as gzip, as
# `extern const std::string_view tacho::embedded::<symbol>`, declared by the one who uses it.
function(tacho_embed target symbol file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUT=${out} -DSYMBOL=${symbol} -DHOW=${ARGN}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
