# What every target of ours is compiled with. Third-party headers are SYSTEM and keep their warnings.
add_library(tacho_options INTERFACE)
target_compile_options(tacho_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor)
option(TACHO_WERROR "Warnings are errors: for CI, not for a compiler that is newer than this code" OFF)
if(TACHO_WERROR)
  target_compile_options(tacho_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string's operator+ at -O3: GCC bug 105651, fixed in 13.
  target_compile_options(tacho_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms on moved std::optional and std::variant, below -O3 and between a sanitizer's calls.
  set(TACHO_FALSE_ALARMS -Wno-maybe-uninitialized)
  # Files compiled together (cmake/layer.cmake) look like headers to this warning.
  target_compile_options(tacho_options INTERFACE -Wno-subobject-linkage)
endif()
target_include_directories(tacho_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(TACHO_SANITIZE)
  # UBSan findings end the program: a test that only prints one would pass.
  target_compile_options(tacho_options INTERFACE
    -fsanitize=${TACHO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(tacho_options INTERFACE -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizers.txt)
  endif()
  target_link_options(tacho_options INTERFACE -fsanitize=${TACHO_SANITIZE})
  # A quarter of the default linker's time, for some thirty programs.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld TACHO_HAS_LLD)
  if(TACHO_HAS_LLD)
    target_link_options(tacho_options INTERFACE -fuse-ld=lld)
  endif()
  target_compile_definitions(tacho_options INTERFACE _GLIBCXX_ASSERTIONS TACHO_SANITIZED)
endif()
find_package(Threads REQUIRED)
target_link_libraries(tacho_options INTERFACE Threads::Threads)

# How far a layer's code is optimised. Cold ones gain nothing from -O3 and compile a third faster at -O1.
set(TACHO_HOT $<$<CONFIG:Release>:-O3>)
set(TACHO_COLD $<IF:$<CONFIG:Release>,-O1,-O0> ${TACHO_FALSE_ALARMS})
set(TACHO_TEST -O0 ${TACHO_FALSE_ALARMS})
if(TACHO_SANITIZE)
  # A finding names functions, not lines: lines are a fifth of the time to compile. Tests of threads are few: to optimise
  # takes longer than it saves.
  if(TACHO_SANITIZE STREQUAL thread)
    set(TACHO_HOT -O0 -g0 ${TACHO_FALSE_ALARMS})
    # A third of the time of these tests, and no thread in them.
    set(TACHO_TEST_FILTER "--gtest_filter=-BlankSecrets*:CppBrackets.*:HostileTrace.*:Archive.WithTooManyMembers*")
  else()
    set(TACHO_HOT -O1 -g0 ${TACHO_FALSE_ALARMS})
  endif()
  list(APPEND TACHO_COLD -g0)
  list(APPEND TACHO_TEST -g0)
endif()
