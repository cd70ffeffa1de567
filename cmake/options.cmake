# What every target of ours is compiled with. Third-party headers are SYSTEM and keep their warnings.
add_library(tacho_options INTERFACE)
target_compile_options(tacho_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string's operator+ at -O3: GCC bug 105651, fixed in 13.
  target_compile_options(tacho_options INTERFACE -Wno-restrict)
  # And on moved std::optional and std::variant, below -O3 and between a sanitizer's calls.
  set(TACHO_FALSE_ALARMS -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Files compiled together (cmake/layer.cmake) look like headers to this warning.
  target_compile_options(tacho_options INTERFACE -Wno-subobject-linkage)
endif()
target_include_directories(tacho_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(TACHO_SANITIZE)
  # UBSan findings end the program: a test that only prints one would pass.
  target_compile_options(tacho_options INTERFACE
    -fsanitize=${TACHO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(tacho_options INTERFACE -fsanitize=${TACHO_SANITIZE})
  target_compile_definitions(tacho_options INTERFACE _GLIBCXX_ASSERTIONS TACHO_SANITIZED)
endif()
if(TACHO_FUZZ)
  target_compile_options(tacho_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_package(Threads REQUIRED)
target_link_libraries(tacho_options INTERFACE Threads::Threads)

# How far a layer's code is optimised. Cold ones gain nothing from -O3 and compile a third faster at -O1.
set(TACHO_HOT $<$<CONFIG:Release>:-O3>)
set(TACHO_COLD $<IF:$<CONFIG:Release>,-O1,-O0> ${TACHO_FALSE_ALARMS})
if(TACHO_FUZZ)
  set(TACHO_HOT -O2)
elseif(TACHO_SANITIZE)
  set(TACHO_HOT -O1 ${TACHO_FALSE_ALARMS})
endif()
