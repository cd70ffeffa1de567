#!/usr/bin/env python3
"""`tacho report`: its figures against `tacho analyze --json`, that the page is valid HTML and reaches no other place, hostile names,
size, damaged input, redaction, and what it overwrites.

usage: check_report.py TACHO [--only NAME ...]
"""
import base64
import gzip
import hashlib
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys

import html5lib

import scenario
from analyze_run import RECORDING, kernel, write, write_trace
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

VOID = {"meta", "input", "br", "hr", "img", "link"}
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\"'><svg onload=alert(1)>", "x" * 600,
           "a\u202eb\x1b[31m"]
SECRETS = ["gpu-host-17.example", "/home/alice/secret", "cmpl-8f3a2b9c", "please tell me about Alice"]
# Of annotations alone: written as operators and frames are.
LIKE_CODE = ["tenant::divorce", "vllm::acme_merger", "x.py(3): ask_for_alimony", "y.py(4): about my diagnosis"]


class Page(html.parser.HTMLParser):
    """A page's tables and texts. `faults`: where it is no valid HTML, a tag that is not balanced, an attribute that acts or loads."""

    def __init__(self, text):
        super().__init__()
        self.text, self.open, self.faults, self.tables, self.links, self.scripts = text, [], [], {}, [], 0
        self.cell, self.said, self.heading = None, [], {}
        self.feed(text)
        self.close()
        strict = html5lib.HTMLParser()
        strict.parse(text)
        self.faults += [f"<{tag}> stays open" for tag in self.open] + [f"{what} at {at}: {of}" for at, what, of in strict.errors]

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        self.scripts += tag == "script"
        self.faults += [f"{name} of <{tag}>" for name in at if name.startswith("on") or name in ("src", "srcdoc", "style")]
        if "href" in at:
            self.links.append(at["href"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = self.tables.setdefault(at["data-table"], [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_startendtag(self, tag, attributes):
        if "svg" not in self.open and tag not in VOID:
            self.faults.append(f"<{tag}/>")

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> in {self.open[-3:]} at {self.getpos()}")
            return
        self.open.pop()
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            self.heading[self.open[-1]] = data
            return
        if self.cell is not None:
            self.cell += data
        self.said.append(data)

    def says(self, words):
        return words in re.sub(r"\s+", " ", "".join(self.said))


def run(*arguments, timeout=120, **more):
    return subprocess.run([scenario.TACHO, *map(str, arguments)], capture_output=True, timeout=timeout, **more)


def page_of(what, folder, *arguments, status=0):
    """The page, after what holds of every one."""
    path = folder / "report.html"
    path.unlink(missing_ok=True)
    done = run("report", *arguments, "-o", path)
    check(f"{what}: status {status}", done.returncode == status, f"{done.returncode}: {done.stderr.decode(errors='replace')}")
    text = path.read_text() if path.exists() else ""
    page = Page(text)
    check(f"{what}: valid HTML", text.startswith("<!doctype html>\n") and not page.faults, page.faults[:5])
    raw = re.findall(r"<[^a-z/!].{0,20}", re.sub(r"<script>.*?</script>", "", text, flags=re.S))
    check(f"{what}: no raw <", not raw, raw[:3])
    check(f"{what}: one script, no link but to data", page.scripts == 1 and all(link.startswith("data:text/csv;base64,") for link in page.links),
          (page.scripts, page.links[:3]))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    allowed = policy[1] if policy else ""
    for part in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.heading.get(part, "").encode()).digest()).decode()
        check(f"{what}: the policy allows its {part} alone", f"{part}-src 'sha256-{digest}'" in allowed, allowed)
    check(f"{what}: the policy allows nothing else", allowed.startswith("default-src 'none'; ") and "unsafe" not in allowed, allowed)
    check(f"{what}: at most 1 MB", 0 < len(text.encode()) <= 1_000_000, len(text))
    return page


def percent(share):
    return ">99.9 %" if 0.9995 <= share < 1 else "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def agrees(what, page, *arguments):
    """The page's figures are those of --json."""
    told = json.loads(run("analyze", *arguments, "--json").stdout)
    check(f"{what}: the verdict", page.says(told["verdict"]["text"]), told["verdict"])
    if "caveat" in told["verdict"]:
        check(f"{what}: the caveat", page.says(told["verdict"]["caveat"]), told["verdict"])
    if "busy_share" in told["verdict"]:
        check(f"{what}: idle", page.says(percent(1 - told["verdict"]["busy_share"]) + " of "), told["verdict"])
    if len(told["traces"]) != 1:
        return
    trace = told["traces"][0]
    rows = page.tables.get("kernels", [[]])[1:]
    counts = sum(int(row[page.tables["kernels"][0].index("count")].replace(",", "")) for row in rows if row)
    check(f"{what}: every kernel counts", counts == sum(k["count"] for k in trace["kernels"]), (counts, rows[:2]))
    parts = page.tables.get("window", [[]])
    if len(parts) > 1:
        shares = [row[-1] for row in parts[1:] if row[0] == "idle"]
        check(f"{what}: idle in the table", shares == [percent(1 - told["verdict"]["busy_share"]).removesuffix(" %")], parts)
    steps = trace["steps"]["count"] if "steps" in trace else 0
    shown = sum(int(row[1].replace(",", "")) for row in page.tables.get("step_phases", [[]])[1:])
    check(f"{what}: every step counts", shown == steps, (shown, steps))
    gaps = page.tables.get("gaps", [[]])[1:]
    check(f"{what}: gaps are numbered", [row[0] for row in gaps] == [str(i + 1) for i in range(len(gaps))], gaps)
    check(f"{what}: fifteen answers", page.text.count('<div id="answer-') == 15)


def of_recordings(folder):
    folder = pathlib.Path(folder)
    for trace in sorted((ROOT / "tests/data/vllm-cpu").glob("*.pt.trace.json.gz")) + sorted((ROOT / "tests/data/torch-cpu").glob("*.json*")):
        status = run("analyze", trace, "--json").returncode
        if status in (0, 4):
            agrees(trace.name, page_of(trace.name, folder, trace, status=status), trace)
    tp2 = ROOT / "tests/data/vllm-cpu/tp2"
    page = page_of("two ranks", folder, tp2)
    agrees("two ranks", page, tp2)
    check("two ranks: whose steps", "<h3>Steps, TP1</h3>" in page.text)
    check("two ranks: side by side", len(page.tables.get("ranks", [])) == 3, page.tables.get("ranks"))


def of_real_traces(folder):
    folder = pathlib.Path(folder)
    traces = corpus("reports of real traces")
    if traces is None:
        return
    for trace in sorted([*traces.glob("AMD-AGI+TraceLens/**/*.json.gz"), *traces.glob("live-*/*.gz")]):
        status = run("analyze", trace, "--json").returncode
        if status in (0, 4):
            agrees(trace.name, page_of(trace.name, folder, trace, status=status), trace)


def of_a_run_folder(folder):
    folder = pathlib.Path(folder)
    recorded = folder / "run"
    shutil.copytree(ROOT / "tests/data/vllm-cpu/tp2", recorded / "traces/w0")
    window = {"begin_unix_ns": 1, "duration_ns": 2_000_000_000, "requests_done": 12, "requests_failed": 1, "output_tokens": 4000,
              "output_tokens_per_s": 2000.0, "ttft": {"requests": 12, "p50_ns": 24_100_000, "p99_ns": 76_700_000}}
    (recorded / "run.json").write_text(json.dumps({
        "schema": 1, "tacho": {"version": "9"}, "command": "tacho record http://gpu-host-17.example", "proof": {"proven": 2, "ranks": 2},
        "cost_of_profiling": {"share": 0.05, "error": 0.01}, "baseline": window, "profiled": {**window, "output_tokens_per_s": 1900.0},
        "workers": [], "missing": [], "troubles": ["<b>odd</b>"], "remarks": []}))
    for path in (recorded, recorded / "traces"):
        page = page_of(f"of {path.name}", folder, path)
        for words in ("2 of 2 ranks proven", "2000 tok/s unprofiled, 1900 profiled: -5.0 %, give or take 1.0 %", "<b>odd</b>",
                      "tacho record http://gpu-host-17.example"):
            check(f"of {path.name}: {words}", page.says(words))
        check(f"of {path.name}: the load", page.tables.get("load_windows", [[]])[-1][:5] == ["profiled", "2,000", "12", "1", "4,000"],
              page.tables.get("load_windows"))
    done = run("report", recorded, "--redact", "-o", "-")
    check("of a run: redacted", b"gpu-host" not in done.stdout and b"ranks proven" in done.stdout
          and b"1 sentence taken out" in done.stdout, done.stderr)


def hostile_names(folder):
    folder = pathlib.Path(folder)
    events = [kernel(1000 + 100 * i, 50, name, stream=7 + i) for i, name in enumerate(HOSTILE)]
    events += [{"ph": "X", "cat": "cpu_op", "name": name, "pid": name, "tid": 1, "ts": 1000 + 100 * i, "dur": 90} for i, name in enumerate(HOSTILE)]
    trace = write_trace(folder / (HOSTILE[0].replace("/", "") + ".json"), events, vllm_version=HOSTILE[1])
    page = page_of("hostile", folder, trace)
    check("hostile: shown as text", page.says("<img src=x onerror=alert(1)>"))
    check("hostile: no markup", not re.search(r"<img|<svg onload|\u202e|\x1b", page.text))
    check("hostile: long names are cut", "x" * 401 not in page.text)


def eight_ranks(folder):
    folder = pathlib.Path(folder)
    names = [f"void kernel_{i}_" + "long" * 60 + f"<{i}, float>(float*, int)" for i in range(400)]
    for rank in range(8):
        events = [kernel(1000 + 10 * i, 5 + i % 3, names[i % 400]) for i in range(4000)]
        events += [{"ph": "X", "cat": "user_annotation", "name": f"execute_context_0(0)_generation_{i % 7}(64)", "pid": 1, "tid": 1,
                    "ts": 1000 + 100 * i, "dur": 90} for i in range(400)]
        events += [{"ph": "X", "cat": "cpu_op", "name": f"aten::{'op' * 40}{i % 300}", "pid": 1, "tid": 1, "ts": 1000 + 10 * i, "dur": 9,
                    "args": {"Input Dims": [[i, 7]]}} for i in range(4000)]
        write(folder / f"rank{rank}.json", json.dumps({"distributedInfo": {"rank": rank, "world_size": 8}, "traceEvents": events}))
    page = page_of("eight ranks", folder, *[folder / f"rank{rank}.json" for rank in range(8)])
    check("eight ranks: all are there", page.text.count("<details>") == 8)


def damaged(folder):
    folder = pathlib.Path(folder)
    whole = gzip.decompress(RECORDING.read_bytes())
    page = page_of("cut in half", folder, write(folder / "cut.json", whole[:len(whole) // 2]), status=4)
    check("cut in half: says so", page.says("truncated-json"))
    page = page_of("no event", folder, write_trace(folder / "none.json", []), status=4)
    check("no event: says so", page.says("holds no event"))
    done = run("report", folder / "missing.json", "-o", folder / "x.html")
    check("missing", done.returncode == 3 and not (folder / "x.html").exists(), done)


def other_forms(folder):
    folder = pathlib.Path(folder)
    for arguments, status in (([], 2), ([RECORDING, "--markdown", "--json"], 2), ([RECORDING, "-o", ""], 2), ([RECORDING, "-o", folder], 2)):
        done = run("report", *arguments)
        check(f"report {arguments[1:]}: status {status}", done.returncode == status, done)
    markdown = run("report", RECORDING, "--markdown").stdout
    check("markdown", markdown.startswith(b"## ") and b"Fifteen answers" in markdown and len(markdown) < 60_000, markdown[:300])
    check("json", run("report", RECORDING, "--json").stdout == run("analyze", RECORDING, "--json").stdout)
    done = run("report", RECORDING, "-o", "-")
    check("standard output", done.returncode == 0 and done.stdout.startswith(b"<!doctype html>"), done.stderr)
    mine = write(folder / "mine.html", "<html>mine</html>")
    done = run("report", RECORDING, "-o", mine)
    check("another file stays", done.returncode == 3 and mine.read_text() == "<html>mine</html>", done.stderr)
    page_of("an earlier report", folder, RECORDING)
    done = run("report", RECORDING, "-o", folder / "report.html")
    check("an earlier report is replaced", done.returncode == 0, done.stderr)
    done = run("report", RECORDING, cwd=folder)
    check("report.html by default", done.returncode == 0 and b"report.html" in done.stderr, done.stderr)


def all_text(page):
    """With what its CSV links hold."""
    return page + "".join(base64.b64decode(link).decode() for link in re.findall(r"data:text/csv;base64,([A-Za-z0-9+/=]*)", page))


def redacted(folder):
    folder = pathlib.Path(folder)
    events = [kernel(1000, 50, "gemm"), kernel(5000, 50, "norm"),
              {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": SECRETS[0]}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": SECRETS[0]}}]
    for i, secret in enumerate(SECRETS):
        events += [{"ph": "X", "cat": cat, "name": secret, "pid": 1, "tid": 1, "ts": 900 + i + 10 * k, "dur": 4100 - 20 * (i + k)}
                   for k, cat in enumerate(("user_annotation", "cpu_op", "python_function"))]
    events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 6000, "dur": 5})
    # The thread is in the annotation, then launches: it is what the host did in the gap.
    for i, secret in enumerate(LIKE_CODE):
        at = 10_000 + 6000 * i
        events += [{"ph": "X", "cat": "user_annotation", "name": secret, "pid": 1, "tid": 2, "ts": at, "dur": 5000},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": at + 5010, "dur": 5,
                    "args": {"correlation": 100 + i}}]
        launched = kernel(at + 5020, 50, "gemm")
        launched["args"]["correlation"] = 100 + i
        events.append(launched)
    home = folder / "alice"
    home.mkdir()
    trace = write_trace(home / "cmpl-8f3a2b9c.json", events, WARNING=SECRETS[1], hostname=SECRETS[0])
    secrets = [*SECRETS, *LIKE_CODE, str(folder)]
    plain = html.unescape(all_text(run("report", trace, "-o", "-").stdout.decode()))
    check("each secret is there without --redact", all(s in plain for s in secrets), [s for s in secrets if s not in plain])
    for form in ([], ["--markdown"], ["--json"]):
        done = run("report", trace, "--redact", *form, "-o", "-")
        text = html.unescape(all_text(done.stdout.decode()))
        words = ["alice", "divorce", "acme", "alimony", "diagnosis"]
        leaked = [s for s in [*secrets, *words] if s.lower() in text.lower()]
        check(f"redacted {form}", done.returncode == 0 and not leaked and "aten::mm" in text, (leaked, done.stderr))


def against(folder):
    folder = pathlib.Path(folder)
    for name, options in (("alice", ["--ranks", "2"]), ("new", ["--ranks", "2", "--seed", "2", "--change", "host-late:200us", "--change", "fused@rope"]),
                          ("deeper", ["--ranks", "2", "--seed", "3", "--change", "layers:5"])):
        done = run("simulate", "trace", "-o", folder / name, "--steps", "600", *options)
        check(f"simulate {name}", done.returncode == 0, done.stderr)
    base, new = folder / "alice", folder / "new"
    changes = json.loads(run("compare", base, new, "--json").stdout)
    page = page_of("against", folder, new, "--against", base)
    # The page of the traces alone, and the verdict and figures of tacho compare.
    agrees("against", page, new)
    check("against: the verdict", page.says(f"What changed against {base}") and page.says(changes["verdict"]), changes["verdict"])
    kinds = sorted(row[1] for row in page.tables.get("decode_kernels", [])[1:])
    decode = next(phase for phase in changes["phases"] if phase["phase"] == "decode")
    told = sorted(kernel["kind"] for kernel in decode["kernels"] if kernel["kind"] != "same")
    check("against: kernels", kinds == told and {"gone", "new"} <= set(told), (kinds, told))
    # The drawing goes from base to new, to the nanosecond.
    figures = re.findall(r'<figure class="fall"><figcaption>The mean (\w+) step.*?</figure>', page.text, re.S)
    drawn = [[int(ns) for ns in re.findall(r'<b title="(-?\d+) ns">', figure)]
             for figure in re.findall(r'<figure class="fall">.*?</figure>', page.text, re.S)]
    falls = {phase["phase"]: phase["waterfall"] for phase in changes["phases"] if "waterfall" in phase}
    check("against: a drawing", "decode" in figures, figures)
    for name, row in zip(figures, drawn):
        check(f"against: the drawing of {name}", row[0] == falls[name]["base_ns"] and row[-1] == falls[name]["new_ns"] == sum(row[:-1]), row)
    page = page_of("against itself", folder, base, "--against", base)
    check("against itself: no drawing", page.says("no difference beyond noise") and "<figure class=\"fall\">" not in page.text, "")
    page = page_of("another model", folder, folder / "deeper", "--against", base, status=5)
    check("another model: why", page.says("not comparable: ") and page.says("number of layers") and "<figure class=\"fall\">" not in page.text, "")
    for form in ([], ["--markdown"]):
        done = run("report", new, "--against", base, "--redact", *form, "-o", "-")
        text = html.unescape(all_text(done.stdout.decode()))
        check(f"against, redacted {form}", done.returncode == 0 and "What changed against the base" in text and "alice" not in text,
              done.stderr)
    markdown = run("report", new, "--against", base, "--markdown").stdout.decode()
    check("against: Markdown", f"What changed against {base}" in markdown.replace("\\_", "_") and "| idle.host-late |" in markdown and len(markdown) < 60_000, markdown[:500])
    for words, status in ((["--json"], 2), (["--against", folder / "none"], 3)):
        done = run("report", new, "--against", base, *words, "-o", "-")
        check(f"against, {words[0]}: status {status}", done.returncode == status, done.stderr)


def same_colours(_folder):
    page = [re.findall(r'"(#[0-9a-f]{6})"', part) for part in
            re.findall(r"constexpr std::string_view k(?:Work|Phases|Idle|Exposure|Host)(?:Light|Dark)\[\] = \{([^}]*)\}",
                       (ROOT / "src/report/html/html_colors.cc").read_text())]
    ours = {tuple(colors) for colors in page}
    script = (ROOT / "web/src/colors.ts").read_text()
    theirs = {tuple(re.findall(r'"(#[0-9a-f]{6})"', part)) for part in
              re.findall(r"(?:work|phases|exposure|host|kIdleLight =|kIdleDark =):? \[([^\]]*)\]", script)}
    check("the colours are those of the page of tacho view", ours == theirs and len(ours) == 10, ours ^ theirs)


if __name__ == "__main__":
    main([of_recordings, of_real_traces, of_a_run_folder, hostile_names, eight_ranks, damaged, other_forms, redacted, against, same_colours], __doc__)
