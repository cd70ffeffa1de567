#!/usr/bin/env python3
"""tacho on a system: completion in real shells, man pages, the install and the package, help by width, the first Ctrl-C.

usage: check_system.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import scenario
from scenario import Skipped, check, main, simulation

LIMIT = 60  # seconds, for what takes a moment


def tacho(*words, **options):
    return subprocess.run([scenario.TACHO, *words], capture_output=True, text=True, timeout=LIMIT, **options)


def commands():
    return [line.split("\t")[0] for line in tacho("__complete", "").stdout.splitlines()[1:]]


def need(program):
    path = shutil.which(program)
    if path is None:
        raise Skipped(f"it needs {program}")
    return path


# A command line up to the cursor, and what must and must not be offered.
LINES = [
    ("rec", ["record"], ["analyze"]),
    ("record --v", ["--via"], ["--rate"]),
    ("record --via ", ["auto", "http", "daemon"], ["table.json"]),
    ("record --via d", ["daemon"], ["auto"]),
    ("launch ", ["vllm", "sglang", "list", "stop"], ["table.json"]),
    ("launch vllm --preset ", ["light", "detailed", "deep", "sources", "nsys"], []),
    ("engine st", ["start", "stop", "status"], ["sleep"]),
    ("baseline save x --re", ["--replace"], ["--json"]),
    ("baseline l", ["list"], ["save"]),
    ("simulate ", ["trace"], ["table.json"]),
    ("simulate trace --format ", ["kineto", "nsys"], []),
    ("stats x --report cuda_gpu_k", ["cuda_gpu_kern_sum"], ["cuda_api_sum"]),
    ("doctor --explain D0", ["D01", "D06", "D09"], ["D10", "table.json"]),
    ("doctor --explain stacks-", ["stacks-unbounded"], ["D01"]),
    ("analyze ta", ["table.json"], []),
    ("analyze --csv ta", ["tables"], ["table.json"]),
    ("completion ", ["bash", "zsh", "fish"], ["table.json"]),
    ("help sim", ["simulate"], ["record"]),
]


def compare(shell, offered):
    for line, wanted, unwanted in LINES:
        words = {word.rstrip("/") for word in offered(line)}
        check(f"{shell}: {line!r}", words >= set(wanted) and not words & set(unwanted), sorted(words))


def prepare(at):
    (at / "table.json").write_text("{}")
    (at / "tables").mkdir()
    (at / "bin").mkdir()
    (at / "bin" / "tacho").symlink_to(scenario.TACHO)
    return {**os.environ, "PATH": f"{at}/bin:{os.environ['PATH']}", "HOME": str(at)}


def completion_bash(folder):
    folder = pathlib.Path(folder)
    environment = prepare(folder)
    drive = """source <(tacho completion bash)
COMP_WORDS=(tacho $1); [[ $1 != *" " ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="tacho $1"; COMP_POINT=${#COMP_LINE}
compopt() { :; }  # outside of readline it only complains
_tacho tacho "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def offered(line):
        return subprocess.run([need("bash"), "-c", drive, "drive", line], cwd=folder, env=environment, capture_output=True,
                              text=True, timeout=LIMIT).stdout.split()

    compare("bash", offered)
    # readline makes three words of --via=d.
    check("bash: = is a word", offered("record --via = d") == ["daemon"], offered("record --via = d"))


def completion_fish(folder):
    folder = pathlib.Path(folder)
    environment = prepare(folder)

    def offered(line):
        out = subprocess.run([need("fish"), "--no-config", "-c", f"tacho completion fish | source; complete -C 'tacho {line}'"],
                             cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT).stdout
        return [each.split("\t")[0] for each in out.splitlines()]

    compare("fish", offered)
    check("fish: --via=d", offered("record --via=d") == ["--via=daemon"], offered("record --via=d"))


def completion_zsh(folder):
    folder = pathlib.Path(folder)
    environment = prepare(folder)
    # The real shell on a terminal of its own: what a user sees after Tab.
    (folder / ".zshrc").write_text("PS1='> '\nautoload -U compinit; compinit -u\nsource <(tacho completion zsh)\n"
                                   "zstyle ':completion:*' list-colors ''\nsetopt no_auto_menu\n"
                                   "bindkey '^T' list-choices\nlisted() { print -n LISTED }\nzle -N listed\nbindkey '^Y' listed\nprint READY\n")
    drive = """zmodload zsh/zpty
zpty shell "cd $1; TERM=dumb COLUMNS=200 LINES=200 zsh -i"
zpty -r -m shell seen '*READY*'
zpty -w -n shell "tacho $2"$'\\C-t\\C-y'
zpty -r -m shell seen '*LISTED*'
print -rn -- ${seen%LISTED*}
zpty -d shell
"""

    def offered(line):
        out = subprocess.run([need("zsh"), "-f", "-c", drive, "drive", str(folder), line], cwd=folder, env=environment,
                             capture_output=True, text=True, timeout=LIMIT).stdout
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out).replace("\r", "")
        return set(shown.replace(f"tacho {line}", " ").split())

    need("zsh")
    compare("zsh", offered)


def man_pages(folder):
    pages = pathlib.Path(folder) / "man"
    made = tacho("help", "--man", "-o", str(pages))
    check("man: made", made.returncode == 0, made.stderr)
    names = {page.name for page in pages.iterdir()}
    wanted = {"tacho.1"} | {f"tacho-{name}.1" for name in commands() if name != "help"}
    check("man: one for each command", names == wanted, names ^ wanted)
    page = tacho("help", "--man", "record").stdout
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "FILES", "SEE ALSO"):
        check(f"man: {section}", f"\n.SH {section}\n" in page)
    linted = False
    for program, words in (("mandoc", ["-Tlint", "-Wwarning"]), ("groff", ["-man", "-ww", "-Tutf8", "-z"])):
        if shutil.which(program) is None:
            print(f"*** NOT TESTED: man pages by {program}: it is not installed")
            continue
        linted = True
        for path in sorted(pages.iterdir()):
            done = subprocess.run([program, *words, str(path)], capture_output=True, text=True, timeout=LIMIT)
            check(f"man: {program} {path.name}", done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr)
    if not linted:
        raise Skipped("man pages need mandoc or groff")
    if shutil.which("man"):
        shown = subprocess.run(["man", "-l", str(pages / "tacho-record.1")], capture_output=True, text=True, timeout=LIMIT,
                               env={**os.environ, "MANWIDTH": "80"}).stdout
        check("man: shown", "--budget-bytes SIZE" in shown and "tacho-load(1)" in shown, shown[:500])


def install(folder):
    build = pathlib.Path(scenario.TACHO).parent
    done = subprocess.run(["cmake", "--install", str(build), "--prefix", "/usr"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "DESTDIR": folder})
    check("install: done", done.returncode == 0, done.stderr)
    check_installed("install", pathlib.Path(folder))


def package(folder):
    need("dpkg-deb")
    need("dpkg-shlibdeps")
    build = pathlib.Path(scenario.TACHO).parent
    done = subprocess.run(["cpack", "-G", "DEB", "--config", str(build / "CPackConfig.cmake"), "-B", folder], cwd=build,
                          capture_output=True, text=True, timeout=600)
    check("package: made", done.returncode == 0, done.stdout + done.stderr)
    [deb] = pathlib.Path(folder).glob("tacho_*.deb")
    fields = subprocess.run(["dpkg-deb", "-f", str(deb)], capture_output=True, text=True, timeout=LIMIT).stdout
    for wanted in ("Package: tacho\n", "Maintainer: The tacho authors\n", "Section: ", "libc6", "libcurl4", "libsqlite3-0"):
        check(f"package: {wanted.strip()}", wanted in fields, fields)
    root = pathlib.Path(folder) / "root"
    subprocess.run(["dpkg-deb", "-x", str(deb), str(root)], check=True, timeout=LIMIT)
    check_installed("package", root)


def check_installed(what, root):
    for path in ("bin/tacho", "share/man/man1/tacho.1.gz", "share/man/man1/tacho-record.1.gz", "share/doc/tacho/copyright",
                 "share/bash-completion/completions/tacho", "share/zsh/vendor-completions/_tacho",
                 "share/fish/vendor_completions.d/tacho.fish", "share/doc/tacho/docs/findings.md",
                 "share/doc/tacho/docs/run.schema.json", "share/doc/tacho/docs/doctor.schema.json"):
        check(f"{what}: {path}", (root / "usr" / path).is_file())
    ran = subprocess.run([root / "usr/bin/tacho", "analyze", "tests/data/torch-cpu"], capture_output=True, text=True, timeout=LIMIT)
    check(f"{what}: it runs", ran.returncode in (0, 4) and "VERDICT" in ran.stdout, ran.stdout + ran.stderr)


def version(folder):
    text = tacho("--version").stdout
    told = json.loads(tacho("--version", "--json").stdout)
    check("version: first line", text.splitlines()[0] == f"tacho {told['version']}", text)
    libraries = {library["name"]: library for library in told["libraries"]}
    check("version: libraries", {"zlib", "zstd", "libcurl", "SQLite", "fmt"} <= set(libraries), libraries)
    check("version: all known", all(re.match(r"\d", library["built_with"]) for library in libraries.values()), libraries)
    check("version: loaded", libraries["SQLite"]["loaded"].startswith("libsqlite3.so."), libraries)
    check("version: libcurl is not loaded", "loaded" not in libraries["libcurl"], libraries)


def wider(text, width):
    """Lines beyond the width, but for the names of an option and the command of an example, which stay on their line."""
    body, _, examples = text.partition("\nexamples:\n")
    over = [line for line in body.splitlines() if len(line) > width and not line.lstrip().startswith("-")]
    return over + [line for line in examples.splitlines()
                   if len(line) > width and (line.startswith("   ") or re.search(r"\S  +\S", line))]


def help_widths(folder):
    for command in [name for name in commands() if name != "help"]:
        wide = tacho(command, "--help", env={**os.environ, "COLUMNS": "200"}).stdout
        check(f"{command}: examples", "\nexamples:\n  " in wide, wide)
        for width in (40, 60, 80, 140):
            text = tacho(command, "--help", env={**os.environ, "COLUMNS": str(width)}).stdout
            check(f"{command}: within {width}", not wider(text, width), wider(text, width))
    for width in (40, 60, 80):
        text = tacho("--help", env={**os.environ, "COLUMNS": str(width)}).stdout
        check(f"overview: within {width}", not wider(text, width), wider(text, width))
        check(f"overview: examples within {width}", "a timeline in the browser" in text, text)
    unknown = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    check("no terminal: 80", tacho("record", "--help", env=unknown).stdout ==
          tacho("record", "--help", env={**unknown, "COLUMNS": "80"}).stdout)
    check("at least 40", tacho("record", "--help", env={**unknown, "COLUMNS": "1"}).stdout ==
          tacho("record", "--help", env={**unknown, "COLUMNS": "40"}).stdout)


def interrupted(name, child, after, said, status):
    """Signals `child` once it is `after`, and expects `said` on its standard error within a moment."""
    after()
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    line = ""
    while time.monotonic() - began < LIMIT and said not in line:
        part = child.stderr.readline()
        if not part:
            break
        line += part
    took = time.monotonic() - began
    check(f"{name}: acknowledged", said in line, line)
    check(f"{name}: at once", took < 5, took)
    child.stdout.read()
    child.wait(LIMIT)
    check(f"{name}: status", child.returncode == status, child.returncode)


def begin(folder, *words):
    return subprocess.Popen([scenario.TACHO, *words], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def ctrl_c(folder):
    moment = lambda: time.sleep(1)  # noqa: E731
    for command in (["analyze", "-"], ["report", "-"], ["export", "-", "-o", "x.json"], ["query", "-", "SELECT 1"]):
        interrupted(command[0], begin(folder, *command), moment, "tacho: interrupted", 130)
    interrupted("compare", begin(folder, "compare", "-", "x"), moment, "tacho: interrupted", 130)
    child = begin(folder, "view", "-", "--no-open")
    interrupted("view", child, moment, "tacho: interrupted: ending", 130)
    child = begin(folder, "simulate")
    interrupted("simulate", child, lambda: child.stdout.readline(), "tacho: ending the servers", 0)
    with simulation(folder) as served:
        url = served["workers"][0]["url"]
        interrupted("load", begin(folder, "load", url, "--duration", "60s"), lambda: time.sleep(3),
                    "tacho: interrupted: ending the load", 130)
        interrupted("record", begin(folder, "record", url, "--duration", "60s"), lambda: time.sleep(2),
                    "tacho: interrupted: stopping what was started", 130)


main([completion_bash, completion_fish, completion_zsh, man_pages, install, package, version, help_widths, ctrl_c], __doc__)
