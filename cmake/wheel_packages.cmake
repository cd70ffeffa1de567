# `pip install .`: installs what Debian and Ubuntu lack to build the package, as tools/demo and tools/test do. Before project(), which
# needs a compiler. By root, or by sudo if that asks for no password: pip shows no questions.
find_program(TACHO_DPKG dpkg-query)
if(TACHO_DPKG)
  execute_process(
    COMMAND sh -c [[
      . tools/packages.sh
      [ "$(id -u)" -eq 0 ] || ! command -v sudo >/dev/null || sudo() { command sudo -n "$@"; }
      headers=$("$0" -c 'import sysconfig; print(sysconfig.get_path("include"))')
      case "$headers" in /usr/include/*) python=lib${headers##*/}-dev ;; *) python= ;; esac
      need_packages $TACHO_BUILD_PACKAGES $python]] ${Python_EXECUTABLE}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "Packages that the build needs are missing, and cannot be installed here. Install them, then try again.\n${said}")
  endif()
endif()
