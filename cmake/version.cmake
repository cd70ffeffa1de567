# What `tacho --version` says of the build: a library's name, the file that is loaded, its version.
set(libraries
  "zlib libz ${ZLIB_VERSION_STRING}"
  "zstd libzstd ${ZSTD_VERSION}"
  "libarchive libarchive ${LibArchive_VERSION}"
  "libcurl libcurl ${CURL_VERSION_STRING}"
  "SQLite libsqlite3 ${SQLite3_VERSION}"
  "fmt libfmt ${fmt_VERSION}"
  "simdjson libsimdjson ${simdjson_VERSION}"
  "libedit libedit ${EDIT_VERSION}"
  "libyaml libyaml-0 ${YAML_VERSION}"
  "Boost - ${Boost_VERSION_STRING}"
  "nlohmann-json - ${nlohmann_json_VERSION}")
if(ISAL_FOUND)
  list(PREPEND libraries "ISA-L libisal ${ISAL_VERSION}")
endif()
set(build_type ${CMAKE_BUILD_TYPE})
if(TACHO_STATIC)
  string(APPEND build_type ", static")
endif()
set_source_files_properties(tacho_version.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_DEFINITIONS
  "TACHO_LIBRARIES=\"$<JOIN:${libraries},\;>\";TACHO_BUILD_TYPE=\"${build_type}\";TACHO_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"")
