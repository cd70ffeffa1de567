# tacho_layer(<name> SOURCES ... [DEPS ...] [LIBS ...] [TESTS ...] [TEST_LIBS ...])
#
# One folder of src/ is one static library tacho_<name> and one test binary <name>_test.
# DEPS are layers of ours, LIBS are third-party targets that stay private to the layer.
# Which layer may use which is checked by tools/check_layers.py.
function(tacho_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS;TESTS;TEST_LIBS" ${ARGN})
  add_library(tacho_${name} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND tacho_)
  target_link_libraries(tacho_${name} PUBLIC tacho_options ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  if(TACHO_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE tacho_${name} ${ARG_TEST_LIBS} GTest::gmock_main)
    target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${name}_test PRIVATE TACHO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(TACHO_SANITIZE)
      # g++ 12 takes an empty std::optional for uninitialised between sanitizers' calls.
      target_compile_options(${name}_test PRIVATE -Wno-maybe-uninitialized)
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
include(GoogleTest)
