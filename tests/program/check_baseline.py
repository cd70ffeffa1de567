#!/usr/bin/env python3
"""`tacho baseline`: save, list, compare, remove, and what they refuse; the scripts and the workflow of docs/ci.md, run as they are shown.

usage: check_baseline.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess

import scenario
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT = ["--warm-up", "0s", "--baseline", "500ms", "--duration", "300ms"]


def tacho(folder, *arguments):
    return subprocess.run([scenario.TACHO, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)


def simulated(folder, name, *options):
    done = tacho(folder, "simulate", "trace", "-o", name, "--steps", "120", *options)
    check(f"simulate {name}", done.returncode == 0, done.stderr)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file())


def figures(folder, *words):
    """What a comparison prints with --json, without what the two sides were called."""
    result = json.loads(tacho(folder, *words, "--json").stdout)
    del result["base"]["names"], result["new"]["names"]
    return result


def baselines(folder):
    folder = pathlib.Path(folder)
    for seed in (1, 2):
        simulated(folder, f"base{seed}", "--seed", seed)
    simulated(folder, "same", "--seed", "3")
    simulated(folder, "late", "--seed", "4", "--change", "host-late:300us")
    simulated(folder, "deeper", "--seed", "5", "--change", "layers:5")
    done = tacho(folder, "baseline", "list")
    check("no baselines", done.returncode == 0 and not done.stdout and "no baselines in" in done.stderr, done.stderr)
    done = tacho(folder, "baseline", "save", "main", "base1", "base2")
    check("save", done.returncode == 0 and re.search(r"(?m)^ main .* 2 +1 +240 ", done.stdout), done.stdout + done.stderr)
    kept = files(folder / ".tacho")
    check("its files", kept == [f"baselines/main/run{i}/results.json.gz" for i in (1, 2)], kept)
    again = tacho(folder, "baseline", "save", "main", "late")
    check("it is not overwritten", again.returncode == 2 and "--replace" in again.stderr and files(folder / ".tacho") == kept, again.stderr)

    # Exit statuses, and the same as tacho compare of the traces.
    for run, gate, status in [("same", "decode.step>+50%", 0), ("late", "decode.step>+3%", 1), ("same", "load.throughput<-2%", 1),
                              ("deeper", "decode.step>+3%", 5), ("same", "decode.stp>+3%", 2), ("none", "decode.step>+3%", 3)]:
        done = tacho(folder, "baseline", "compare", "main", run, "--fail-on", gate)
        check(f"compare {run}, {gate}: status {status}", done.returncode == status, (done.returncode, done.stderr))
    of_traces = figures(folder, "compare", "base1", "late", "--base", "base2", "--new", "same")
    check("figures as of the traces", figures(folder, "baseline", "compare", "main", "late", "same") == of_traces, "")
    for base in (".tacho/baselines/main", "main"):
        check(f"{base} stands for its runs", figures(folder, "compare", base, "late", "--new", "same") == of_traces, "")
    other = tacho(folder, "baseline", "save", "other", "base1", "deeper")
    check("another set-up is not kept", other.returncode == 5 and "deeper is of another set-up than base1: " in other.stderr
          and not (folder / ".tacho/baselines/other").exists(), (other.returncode, other.stderr))
    simulated(folder, "short", "--steps", "3", "--ranks", "2")
    other = tacho(folder, "baseline", "save", "other", "base1", "short")
    check("nor if no step is alike", other.returncode == 5
          and "short is of another set-up than base1: base has 1 rank, new has 2 ranks" in other.stderr, (other.returncode, other.stderr))
    simulated(folder, "few", "--steps", "3")
    few = tacho(folder, "baseline", "save", "few", "base1", "few", "--dir", "other")
    check("few steps of the same set-up are kept", few.returncode == 0 and len(files(folder / "other/few")) == 2, (few.returncode, few.stderr))
    for name, window in (("first", "0:30ms"), ("second", "30ms:60ms")):
        (folder / f"{name}.json").write_text(tacho(folder, "analyze", "base1", "--window", window, "--json").stdout)
    windows = tacho(folder, "baseline", "save", "windows", "first.json", "second.json", "--dir", "other")
    check("two windows of a recording are two", windows.returncode == 0 and len(files(folder / "other/windows")) == 2, windows.stderr)
    shutil.rmtree(folder / "other")
    unknown = tacho(folder, "baseline", "compare", "mian", "late")
    check("the nearest name", unknown.returncode == 3 and "did you mean main?" in unknown.stderr, unknown.stderr)

    # A copy, a list, other folders.
    check("a copy", tacho(folder, "baseline", "save", "copy", ".tacho/baselines/main", "--dir", "other").returncode == 0, "")
    check("the same content", files(folder / "other/copy") == files(folder / ".tacho/baselines/main"), files(folder / "other"))
    listed = json.loads(tacho(folder, "baseline", "list", "--json").stdout)["baselines"]
    check("list", [(b["name"], b["runs"], b["ranks"], b["steps"], b["engine"]) for b in listed] == [("main", 2, 1, 240, "vllm")], listed)
    check("and its size", listed[0]["bytes"] == sum((folder / ".tacho" / name).stat().st_size for name in kept), listed)
    check("replaced", tacho(folder, "baseline", "save", "main", "late", "--replace").returncode == 0, "")
    check("by one run", files(folder / ".tacho") == kept[:1], files(folder / ".tacho"))
    twice = tacho(folder, "baseline", "save", "twice", "base1", "base2", "base1", "--dir", "other")
    check("a run that is named twice is kept once", twice.returncode == 0 and len(files(folder / "other/twice")) == 2
          and "base1 is the same run as base1, and counts once" in twice.stderr, twice.stderr)
    simulated(folder, "torn", "--seed", "6", "--ranks", "3")
    for path in (folder / "torn").glob("rank1.*"):
        path.unlink()
    before = (folder / ".tacho" / kept[0]).read_bytes()
    torn = tacho(folder, "baseline", "save", "main", "torn", "--replace")
    check("one that is not whole replaces nothing", torn.returncode == 4 and "the earlier baseline 'main' stays" in torn.stderr
          and (folder / ".tacho" / kept[0]).read_bytes() == before, (torn.returncode, torn.stderr))

    # What is refused, and leaves everything alone.
    for words, status in [(["save", "../up", "late"], 2), (["save", "a/b", "late"], 2), (["save", ".x", "late"], 2), (["save", "x"], 2),
                          (["save", "x", "none"], 3), (["remove", "none"], 3), (["remove", ".."], 2), ([], 2), (["sav", "x", "late"], 2)]:
        done = tacho(folder, "baseline", *words)
        check(f"baseline {' '.join(words)}: status {status}", done.returncode == status and not done.stdout, (done.returncode, done.stderr))
    (folder / ".tacho/baselines/main/mine.txt").write_text("x")
    done = tacho(folder, "baseline", "remove", "main")
    check("files of others stay", done.returncode == 3 and "mine.txt" in done.stderr and len(files(folder / ".tacho")) == 2, done.stderr)
    (folder / ".tacho/baselines/main/mine.txt").unlink()
    (folder / ".tacho/baselines/main/run1/results.json.gz").write_bytes(b"\x1f\x8bbroken")
    done = tacho(folder, "baseline", "list")
    check("a damaged one is listed and named", done.returncode in (3, 4) and " main " in done.stdout and "main/run1" in done.stderr, done)
    check("removed", tacho(folder, "baseline", "remove", "main").returncode == 0 and not files(folder / ".tacho"), files(folder))


def unproven(folder):
    """A recording whose second worker left no trace: only its run.json knows of it."""
    folder = pathlib.Path(folder)
    for run in ("whole", "lost"):
        simulated(folder, f"{run}/traces/w0", "--seed", len(run))
    sentence = "w1 (http://127.0.0.1:1): no file at all"
    (folder / "lost/run.json").write_text(json.dumps({"workers": [], "proof": {"proven": 1, "ranks": 2}, "missing": [sentence]}))
    (folder / "kept.json").write_text(tacho(folder, "analyze", "lost", "--json").stdout)
    check("kept in results", json.loads((folder / "kept.json").read_text())["unproven"] == [sentence], "")
    check("saved once", tacho(folder, "baseline", "save", "main", "whole").returncode == 0, "")
    for words in (["analyze", "lost"], ["analyze", "lost/traces"], ["analyze", "kept.json"], ["analyze", "kept.json", "--json"],
                  ["report", "lost", "-o", "r.html"], ["query", "lost", "select 1"], ["compare", "whole", "lost"],
                  ["compare", "kept.json", "whole"], ["baseline", "compare", "main", "lost"], ["baseline", "save", "main", "lost", "--replace"],
                  ["baseline", "save", "other", "lost"], ["baseline", "compare", "other", "whole"]):
        done = tacho(folder, *words)
        check(f"{' '.join(words)}: names it once", done.returncode == 4 and done.stderr.count(f"incomplete: {sentence}") == 1,
              (done.returncode, done.stderr))
        check(f"{' '.join(words)}: what is kept", "--replace" not in words or "the earlier baseline 'main' stays" in done.stderr, done.stderr)
    for form in ("--markdown", "--json"):
        done = tacho(folder, "compare", "whole", "lost", form)
        check(f"compare {form}: names it too", "no file at all" in done.stdout, done.stdout)
    # A file that came later, in a folder whose other ranks are there.
    simulated(folder, "late/traces/w0", "--seed", "9", "--ranks", "2")
    ranks = [{"name": f"w0 TP{n}", "engine": 0, "rank": n, "proven": n == 0, "files": ["t.json"][n:]} for n in range(2)]
    (folder / "late/run.json").write_text(json.dumps({"workers": [{"name": "w0", "ranks": ranks}],
                                                      "missing": ["w0 TP1 (http://127.0.0.1:1): no file of this rank: it died"]}))
    gone = tacho(folder, "analyze", "late")
    check("its file is there now", gone.returncode == 0 and "incomplete" not in gone.stderr, (gone.returncode, gone.stderr))
    for path in (folder / "late/traces/w0").glob("rank1.*"):
        path.unlink()
    gone = tacho(folder, "analyze", "late")
    check("its file is gone", gone.returncode == 4 and gone.stderr.count("incomplete") == 1, (gone.returncode, gone.stderr))
    for words in (["analyze", "lost", "--rank", "0"], ["analyze", "kept.json", "--rank", "0"], ["baseline", "compare", "main", "whole"],
                  ["analyze", "lost/traces/w0"]):
        done = tacho(folder, *words)
        check(f"{' '.join(words)}: nothing is missing", done.returncode == 0 and "incomplete" not in done.stderr, (done.returncode, done.stderr))


def shown(language):
    """The blocks of docs/ci.md in a language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", (ROOT / "docs/ci.md").read_text())


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def workflow(folder):
    """docs/ci.md: main is recorded and kept, then a pull request that is slower fails, with its comment."""
    folder = pathlib.Path(folder)
    tools = folder / "bin"
    for path in (tools, folder / "ci"):
        path.mkdir()
    (tools / "tacho").symlink_to(scenario.TACHO)
    (tools / "gh").write_text('#!/bin/sh\necho "$@" >gh.log\ncat comparison.md >>gh.log\n')
    # A server of the simulator in place of the real one, with vLLM's own options.
    (tools / "vllm").write_text('#!/bin/sh\nexec tacho simulate --port "$4" --profiler-config "$6" --dev-mode --model-size tiny --seed $$\n')
    for name in ("gh", "vllm"):
        (tools / name).chmod(0o755)
    for name, text in zip(("record.sh", "gate.sh"), shown("sh")):
        (folder / "ci" / name).write_text(text)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PORT": str(free_port()), "XDG_STATE_HOME": str(folder / "state")}
    steps = dict(re.findall(r"(?m)^      - name: (.+)\n(?:        .*\n)*?        run: (.+)$", shown("yaml")[0]))
    check("steps of the workflow", list(steps) == ["Record", "Compare", "Comment", "Keep the baseline"], list(steps))

    def step(name, more=""):
        command = steps[name].replace("${{ github.event.number }}", "17") + more
        return subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=180)

    done = step("Compare")
    check("the first pull request has no baseline", done.returncode == 0 and "no baseline" in (folder / "comparison.md").read_text(), done.stderr)
    done = step("Record", " " + " ".join(SHORT))
    check("record: three runs", done.returncode == 0 and len(list(folder.glob("new/*/run.json"))) == 3,
          (done.returncode, done.stdout[-800:], done.stderr[-800:]))
    done = step("Keep the baseline")
    check("keep", done.returncode == 0 and re.search(r"(?m)^ main .* 3 ", done.stdout), done.stdout + done.stderr)
    kept = json.loads((folder / ".tacho/baselines/main/run1/run.json").read_text())
    check("with its recording", "baseline" in kept and (folder / ".tacho/baselines/main/run1/plan.json").exists(), list(kept))
    done = tacho(folder, "baseline", "compare", "main", ".tacho/baselines/main", "--json")
    result = json.loads(done.stdout)
    names = {figure["name"] for figure in result["load"]}
    # On busy cores a recording may have no TTFT: it was the client that was late. Then the comparison has none, and says so.
    late = any(remark.startswith("no ttft.p50") for remark in result["remarks"])
    check("the load is compared", {"throughput", "requests", "failed"} <= names and ("ttft.p50" in names) != late
          and all(figure["difference"] == 0 and "low" in figure for figure in result["load"]), (result["load"], result["remarks"]))
    check("of the unprofiled windows", any("unprofiled windows" in remark for remark in result["remarks"]), result["remarks"])

    # Runs whose truth is known in place of recordings, which take a while.
    shutil.rmtree(folder / "new")
    for seed in (1, 2, 3):
        simulated(folder, f"new/{seed}", "--seed", seed, "--run-shift", "0.2")
    check("keep others", step("Keep the baseline").returncode == 0, "")
    for change, status, says in [(["--run-shift", "0.2"], 0, "passed: decode.step>+5%"), (["--change", "layers:5"], 5, "number of layers"),
                                 (["--change", "host-late:300us"], 1, "failed: decode.step>+5%")]:
        shutil.rmtree(folder / "new")
        for seed in (4, 5, 6):
            simulated(folder, f"new/{seed}", "--seed", seed, *change)
        done = step("Compare")
        check(f"{change[-1]}: status {status}", done.returncode == status, (done.returncode, done.stderr))
        step("Comment")
        comment = (folder / "gh.log").read_text()
        page = (folder / "report.html").read_text()
        check(f"{change[-1]}: the page", "What changed against .tacho/baselines/main" in page, page[:300])
        check(f"{change[-1]}: the comment", comment.startswith("pr comment 17 ") and says in comment, comment[:600])


if __name__ == "__main__":
    main([baselines, unproven, workflow], __doc__)
