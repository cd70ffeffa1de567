# Sourced by the other tools: installs what tacho is built and tested with, once.
# Names that Debian 12, Debian 13 and Ubuntu 24.04 share; where they differ a function chooses by what is there.

TACHO_BUILD_PACKAGES="g++ cmake ninja-build pkg-config ca-certificates libisal-dev zlib1g-dev libzstd-dev
  libarchive-dev libfmt-dev libexpected-dev libcurl4-openssl-dev libboost-dev libssl-dev nlohmann-json3-dev libsimdjson-dev
  libyaml-dev libsqlite3-dev libedit-dev"
TACHO_TEST_PACKAGES="python3 python3-jsonschema python3-html5lib zsh fish mandoc libgtest-dev libgmock-dev libbenchmark-dev valgrind dpkg-dev file"
TACHO_STATIC_PACKAGES="dpkg-dev make nasm libc-ares-dev nettle-dev liblzma-dev libbz2-dev"
TACHO_ENGINE_PACKAGES="python3-venv"

# clangs: prints the versions of clang that sanitized programs and fuzzers may be built with. 14 cannot read the library of g++ 13.
# Sources are laid out and linted by 14 alone.
clangs() {
  case "$(c++ -dumpversion)" in 12 | 12.*) echo "14 18 19" ;; *) echo "18 19" ;; esac
}

# can_install NAME: whether the system's archive has that package, by the lists that need_packages has fetched.
can_install() {
  case "$(apt-cache policy "$1" 2>/dev/null)" in *Candidate:\ [0-9]*) ;; *) return 1 ;; esac
}

# lint_packages: prints the names of a clang with sanitizers, and of the tools for layout and lint where they are of version 14.
lint_packages() {
  for version in $(clangs); do
    can_install "clang-$version" || continue
    echo "clang-$version lld-$version libclang-rt-$version-dev"
    [ "$version" != 14 ] || echo "clang-format-14 clang-tidy-14"
    return
  done
}

# clang_program: prints the path of the C++ compiler among them that is installed.
clang_program() {
  for version in $(clangs); do
    command -v "clang++-$version" && return
  done
}

# web_packages: prints what builds and tests the page. Node may be there without a package of the system. Ubuntu's chromium
# is a snap, which a package only points to.
web_packages() {
  command -v node >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
  ! can_install chromium || echo chromium
}

# need_packages NAME...: installs those of them that are missing.
need_packages() {
  missing=""
  for name in "$@"; do
    case "$(dpkg-query -W -f '${Status}' "$name" 2>/dev/null)" in
      *"ok installed"*) ;;
      *) missing="$missing $name" ;;
    esac
  done
  [ -z "$missing" ] && return 0
  echo "installing:$missing" >&2
  as_root=""
  if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo"
    command -v sudo >/dev/null || { echo "these packages are missing; install them as root:$missing" >&2; return 1; }
  fi
  DEBIAN_FRONTEND=noninteractive $as_root apt-get -o Acquire::Retries=3 -qq update >&2 &&
    DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq install -y --no-install-recommends $missing >&2
}

# need_sshd FOLDER: where no sshd is installed its program lies in FOLDER afterwards, unpacked from its package: to install it
# would start a service for the sake of a test. Run by root it wants a user of its own, as the package would make it.
need_sshd() {
  [ ! -x /usr/sbin/sshd ] || return 0
  need_packages openssh-client libwrap0 $(can_install libwtmpdb0 && echo libwtmpdb0) || return 1
  if [ ! -x "$1/usr/sbin/sshd" ]; then
    mkdir -p "$1"
    (cd "$1" && apt-get -o Acquire::Retries=3 -o APT::Sandbox::User=root -qq download openssh-server >&2 &&
      dpkg-deb -x openssh-server_*.deb . && rm openssh-server_*.deb) || return 1
  fi
  if [ "$(id -u)" -eq 0 ] && ! getent passwd sshd >/dev/null; then
    useradd --system --home-dir /run/sshd --no-create-home --shell /usr/sbin/nologin sshd
  fi
}
