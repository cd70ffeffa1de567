# Sourced by the other tools: installs what tacho is built and tested with, once.
# Names of Debian 12.

TACHO_BUILD_PACKAGES="g++ cmake ninja-build pkg-config ca-certificates libisal-dev zlib1g-dev libzstd-dev
  libarchive-dev libfmt-dev libexpected-dev libcli11-dev libcurl4-openssl-dev libboost-dev libssl-dev nlohmann-json3-dev libsimdjson-dev
  libyaml-dev libsqlite3-dev libedit-dev"
TACHO_TEST_PACKAGES="python3 python3-jsonschema python3-html5lib zsh fish mandoc libgtest-dev libgmock-dev libbenchmark-dev"
TACHO_LINT_PACKAGES="clang-14 lld-14 libclang-rt-14-dev clang-format-14 clang-tidy-14"
TACHO_ENGINE_PACKAGES="python3-venv"
TACHO_WEB_PACKAGES="chromium"

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
  need_packages openssh-client libwrap0 || return 1
  if [ ! -x "$1/usr/sbin/sshd" ]; then
    mkdir -p "$1"
    (cd "$1" && apt-get -o Acquire::Retries=3 -o APT::Sandbox::User=root -qq download openssh-server >&2 &&
      dpkg-deb -x openssh-server_*.deb . && rm openssh-server_*.deb) || return 1
  fi
  if [ "$(id -u)" -eq 0 ] && ! getent passwd sshd >/dev/null; then
    useradd --system --home-dir /run/sshd --no-create-home --shell /usr/sbin/nologin sshd
  fi
}
