#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not: which folder of src/ may include which, which
folder may name which third-party header, and how large a file or a function may grow. Prints each breach; exits 1 on any."""
import pathlib
import re
import sys

# ARCHITECTURE.md shows the same table.
LAYERS = {
    "base": set(),
    "text": {"base"},
    "io": {"base"},
    "model": {"base"},
    "ingest": {"base", "io", "model"},
    "analysis": {"base", "model"},
    "run": {"base", "io", "model", "ingest", "analysis"},
    "view": {"base", "model", "analysis"},
    "query": {"base", "text", "io", "model", "ingest", "analysis", "run"},
    "export": {"base", "text", "io", "model", "ingest", "analysis", "run", "view", "query"},
    "stats": {"base", "text", "model", "analysis"},
    "report": {"base", "text", "model", "analysis"},
    "net": {"base"},
    "serve": {"base", "text", "net", "model", "analysis", "run", "view", "export", "report"},
    "control": {"base", "text", "net"},
    "launch": {"base", "text", "net", "control"},
    "load": {"base", "text", "net"},
    "session": {"base", "text", "io", "model", "ingest", "analysis", "run", "net", "control", "load"},
    "ray": {"base", "text", "io", "net", "control"},
    "doctor": {"base", "text", "io", "model", "ingest", "analysis", "run", "report", "net", "control", "launch", "load", "session"},
    "simulate": {"base", "text", "io", "net"},
    "cli": {"base", "text", "io", "model", "ingest", "analysis", "run", "view", "query", "stats", "export", "report", "net", "serve", "control", "launch", "load", "session", "ray", "doctor", "simulate"},
}
# Third-party headers and the only places that may name them.
FENCES = {
    r"tl/expected": r"src/base/result\.h",
    r"(igzip_lib|isa-l|zlib|zstd|archive|archive_entry)\.?h?": r"(src/io/.*|bench/simdjson_read\.cc)",
    r"nlohmann/": r"(src/base/parse_json\.(h|cc)|src/(control|doctor|export|launch|load|ray|run|serve|session|simulate)/.*\.cc|src/control/live/(answer_json|start_request)\.h|src/.*_(for_)?test\.(cc|h)|tests/.*)",
    r"curl/": r"src/net/curl_\w+\.(h|cc)",
    r"boost/math/": r"src/analysis/compare/(quantiles|run_noise)\.cc",
    r"boost/(?!math/)": r"src/net/request_parser\.cc",
    r"simdjson": r"(src/(io|load)/.*\.cc|src/.*_(for_)?test\.(cc|h)|tests/.*|bench/.*)",
    r"(gtest|gmock)/": r"(src/.*_test\.(cc|h)|tests/.*)",
    r"benchmark/": r"bench/.*",
    r"sqlite3\.h": r"src/io/sqlite\.h",
    r"histedit\.h": r"src/cli/query/query_shell\.cc",
    r"yaml\.h": r"src/control/launch/yaml_json\.cc",
    r"spawn\.h": r"src/base/subprocess\.cc",
    r"cxxabi": r"src/analysis/names/demangle\.cc",
    r"fmt/": r"(src|bench|tests/mutations)/.*",
}
# What prints or ends the program: cli/ alone may.
PRINTS = re.compile(r"\b(std::(cout|cerr|clog|wcout|print|println|exit|_Exit|quick_exit|terminate|abort)\b"
                    r"|fmt::print(ln)?\b|STD(OUT|ERR)_FILENO\b|std(out|err)\b|(v?printf|puts|putc|putchar|perror)\s*\("
                    r"|(_exit|_Exit|exit|quick_exit)\s*\()")
# What changes the whole process, and so every library in it: cli/ alone may, and the places named here. net/ raises the bound on
# descriptors, and its loop holds signals off its own thread while this starts.
OF_PROCESS = re.compile(r"\b(sqlite3_(soft|hard)_heap_limit(64)?|setrlimit|(std::)?signal|sigaction|sigprocmask|pthread_sigmask|prctl|setenv"
                        r"|putenv|unsetenv|chdir|fchdir|umask|setlocale|std::set_terminate|std::atexit|mallopt)\s*\(")
OF_PROCESS_TOO = ("src/net/event_loop.cc",)
# A program of its own: `tacho` started anew.
KEEPER = "src/launch/keeper.cc"
# Text of others, which may nest without end.
PARSES = re.compile(r"\bparse\([^;]*nullptr,\s*false\)")
LONGEST = 500
# Lines of a function's body. One that says "Long: WHY" in the comment above it may have more.
LONGEST_FUNCTION = 60
FUNCTION = re.compile(r"(  )?(?!(?:namespace|struct|class|enum|extern|union|public|private|protected)\b)[A-Za-z~].*[^;}]")


def long_functions(lines):
    """(number of its first line, lines of its body) of each that is too long. Layout as clang-format has it."""
    begins = {}
    for number, line in enumerate(lines):
        if line.endswith("{"):
            first = number
            while first > 0 and lines[first].startswith("    "):  # the rest of a declaration
                first -= 1
            if m := FUNCTION.fullmatch(lines[first]):
                begins[m[1] or ""] = first, number
        elif line in ("}", "  }") and (begin := begins.pop(line[:-1], None)) is not None and number - begin[1] - 1 > LONGEST_FUNCTION:
            above = begin[0] - 1
            while lines[above].lstrip().startswith(("//", "Result<", "std::")) or lines[above].startswith("    "):
                above -= 1
            if not any("Long: " in lines[i] for i in range(above, begin[0])):
                yield begin[0] + 1, number - begin[1] - 1

root = pathlib.Path(__file__).resolve().parents[1]
breaches = []
for path in sorted(p for folder in ("src", "tests", "bench") for p in (root / folder).rglob("*") if p.suffix in (".h", ".cc")):
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    lines = text.count("\n")
    if lines > LONGEST:
        breaches.append(f"{name}: {lines} lines, at most {LONGEST}: split it by concept")
    layer = name.split("/")[1] if name.startswith("src/") else None
    if layer and "_test." not in name:
        for number, length in long_functions(text.split("\n")):
            breaches.append(f"{name}:{number}: a function of {length} lines, at most {LONGEST_FUNCTION}, unless 'Long: WHY' stands above it")
    if layer is not None and layer not in LAYERS:
        breaches.append(f"{name}: src/{layer} is no layer; add it to the table")
        continue
    for number, line in enumerate(text.splitlines(), 1):
        m = re.match(r'\s*#include\s+[<"]([^>"]+)[>"]', line)
        if not m:
            continue
        header = m[1]
        first = header.split("/")[0]
        if layer and first in LAYERS and first != layer and first not in LAYERS[layer]:
            breaches.append(f"{name}:{number}: {layer} may not include {header}")
        for fence, where in FENCES.items():
            if re.match(fence, header) and '"' not in line and not re.fullmatch(where, name):
                breaches.append(f"{name}:{number}: <{header}> belongs into {where}")
    if layer and "_test." not in name and name != "src/base/parse_json.cc":
        for m in PARSES.finditer(text):
            breaches.append(f"{name}:{text.count(chr(10), 0, m.start()) + 1}: JSON of others is read by base/parse_json.h")
    if layer and layer != "cli" and name != KEEPER and "_test." not in name and "_for_test." not in name:
        for number, line in enumerate(text.splitlines(), 1):
            if PRINTS.search(re.sub(r"//.*", "", line)):
                breaches.append(f"{name}:{number}: only cli/ prints or exits")
    if layer and layer != "cli" and name != KEEPER and name not in OF_PROCESS_TOO and "_test." not in name and "_for_test." not in name:
        for number, line in enumerate(text.splitlines(), 1):
            if OF_PROCESS.search(re.sub(r"//.*", "", line)):
                breaches.append(f"{name}:{number}: only cli/ changes the whole process")
# Every note has its row in docs/notes.md.
notes = (root / "src/model/notes.cc").read_text()
documented = (root / "docs/notes.md").read_text()
for note in re.findall(r'\{"([a-z0-9-]+)", Severity::', notes):
    if f"| `{note}` |" not in documented:
        breaches.append(f"docs/notes.md: no row for {note}")
# Every finding has its row in docs/findings.md, with its severity and remedy, and no row is without a finding.
kinds = re.sub(r'"\s*\n\s*"', "", (root / "src/control/finding_kinds.cc").read_text())
kinds = re.findall(r'\{"([a-z0-9-]+)", k(\w+),\s*"([^"]*)"', kinds)
rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (root / "docs/findings.md").read_text().splitlines() if line.startswith("| `")]
if [(row[0], row[1], row[3]) for row in rows] != [(f"`{name}`", severity.lower(), remedy) for name, severity, remedy in kinds]:
    breaches.append("docs/findings.md: its rows are not the ids, severities and remedies of control/finding_kinds.cc, in their order")
print("\n".join(breaches) or "layers ok")
sys.exit(bool(breaches))
