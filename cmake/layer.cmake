# tacho_layer(<name> [COLD | WARM] SOURCES ... [DEPS ...] [LIBS ...] [TESTS ...] [TEST_LIBS ...])
#
# One folder of src/ is one static library tacho_<name> and one test binary <name>_test.
# DEPS are layers of ours, LIBS are third-party targets that stay private to the layer.
# Which layer may use which is checked by tools/check_layers.py.
# COLD: it waits for people and sockets (cmake/options.cmake). WARM: its tests do, so sanitized builds
# do without -O1 and compile it in 40 % of the time. A test runs for a moment: -O0. All compile
# several files at once, in two thirds of the time: names in unnamed namespaces are distinct within a
# layer. -DCMAKE_UNITY_BUILD=OFF compiles each alone.
function(tacho_layer name)
  cmake_parse_arguments(ARG "COLD;WARM" "" "SOURCES;DEPS;LIBS;TESTS;TEST_LIBS" ${ARGN})
  set(several_at_once ON)
  if(DEFINED CMAKE_UNITY_BUILD)  # tools/tidy looks at each file alone
    set(several_at_once ${CMAKE_UNITY_BUILD})
  endif()
  add_library(tacho_${name} STATIC ${ARG_SOURCES})
  if(ARG_COLD OR (ARG_WARM AND TACHO_SANITIZE))
    target_compile_options(tacho_${name} PRIVATE ${TACHO_COLD})
  else()
    target_compile_options(tacho_${name} PRIVATE ${TACHO_HOT})
  endif()
  set_target_properties(tacho_${name} PROPERTIES UNITY_BUILD ${several_at_once})
  list(TRANSFORM ARG_DEPS PREPEND tacho_)
  target_link_libraries(tacho_${name} PUBLIC tacho_options ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  if(TACHO_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE tacho_${name} ${ARG_TEST_LIBS} GTest::gmock_main)
    target_compile_options(${name}_test PRIVATE ${TACHO_TEST})
    set_target_properties(${name}_test PROPERTIES UNITY_BUILD ${several_at_once})
    target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${name}_test PRIVATE TACHO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(TACHO_SANITIZE)
      # A sanitizer takes longer to start than most tests to run: one process for all.
      add_test(NAME ${name}.all COMMAND ${name}_test --gtest_brief=1 ${TACHO_TEST_FILTER})
      # Before the programs: one takes minutes, and those mostly wait.
      set_tests_properties(${name}.all PROPERTIES TIMEOUT 900 COST 150)
    else()
      gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
    endif()
  endif()
endfunction()
include(GoogleTest)
