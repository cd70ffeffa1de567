# `pip install .`: installs what Debian and Ubuntu lack to build the package, as tools/demo and tools/test do. Before project(), which
# needs a compiler. By root, or by sudo if that asks for no password: pip shows no questions.
find_program(TACHO_DPKG dpkg-query)
if(TACHO_DPKG)
  execute_process(
    COMMAND sh -c [[
      . tools/packages.sh
      [ "$(id -u)" -eq 0 ] || sudo() { command sudo -n "$@"; }
      headers=$("$0" -c 'import sysconfig; print(sysconfig.get_path("include"))')
      case "$headers" in /usr/include/*) python=lib${headers##*/}-dev ;; *) python= ;; esac
      need_packages $TACHO_BUILD_PACKAGES $python]] ${Python_EXECUTABLE}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "What the build needs cannot be installed:\n${said}")
  endif()
endif()
