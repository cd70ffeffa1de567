#!/usr/bin/env python3
"""What `tacho analyze` says of speculative decoding, against the truth of simulated runs.

usage: check_speculation.py TACHO [--only NAME ...]
"""
import json
import pathlib
import random
import re
import shutil

from recordings import record
from scenario import check, main, run, simulation, target


def simulated(out, *words):
    done = run("simulate", "trace", "-o", str(out), *map(str, words))
    check(f"{out.name}: is simulated", done.returncode == 0, done.stderr)
    return [path for path in sorted(out.glob("*.json")) if "truth" not in path.name]


def analyzed(path, *words):
    done = run("analyze", str(path), *words, "--json")
    check(f"analyze {path.name}: ends well", done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["traces"][0]


def truth_of(trace):
    return json.loads(pathlib.Path(f"{trace}.truth.json").read_text())


def times(folder):
    """Times and counts to the nanosecond, in both engines' forms."""
    dice = random.Random(5)
    for i in range(10):
        sglang = i % 2 == 1
        words = ["--steps", dice.randint(20, 60), "--seed", i + 1, "--load-seed", dice.randint(1, 99), "--engine", "sglang" if sglang else "vllm",
                 "--model-size", dice.choice(["tiny", "8b", "30b-a3b", "14b-a3b"]), "--layers", dice.randint(4, 9), "--requests", dice.choice([1, 8, 32]),
                 "--ranks", dice.choice([1, 2]), "--speculative", dice.randint(1, 5), *(["--detailed"] if dice.random() < 0.3 else [])]
        for trace in simulated(pathlib.Path(folder) / f"t{i}", *words):
            told, truth = analyzed(trace), truth_of(trace)["speculation"]
            of = told["speculation"]
            if sglang:  # whose names do not say how many tokens are verified
                check(f"{words}: tokens are not told", "tokens" not in of)
                truth.pop("tokens")
            check(f"{words}: as in the truth", {key: of.get(key) for key in truth} == truth, (of, truth))
            check(f"{words}: accepted tokens are unknown", of["accepted_from"] == "no-recording" and "accepted_tokens" not in of and "token_ns" not in of, of)
            check(f"{words}: the share at break-even", ("break_even_share" in of) == (bool(truth["plain_ns"]) and not sglang), of)
            if "break_even_share" in of:
                proposed = of["tokens"] / of["requests"] - 1
                check(f"{words}: is of the proposed tokens", abs(of["break_even_share"] - (of["break_even_tokens"] - 1) / proposed) < 1e-5, of)
            check(f"{words}: how drafts were found", of["drafts"] == ("annotated" if sglang else "order"), of)
            if truth["plain_ns"]:
                check(f"{words}: break-even", abs(of["break_even_tokens"] - truth["compared_ns"] / truth["plain_ns"]) < 1e-5, of)
                check(f"{words}: it costs more than a plain step", of["break_even_tokens"] > 1, of)
            layers = told["layers"]
            check(f"{words}: the layers are the model's alone", layers["state"] == "found" and layers["left_out"] == 0
                  and layers["count"] == words[words.index("--layers") + 1], {key: layers.get(key) for key in ("state", "left_out", "count")})


LAYER = ["rms_norm_kernel", "nvjet_tst_qkv", "rotary_embedding_kernel", "reshape_and_cache_flash_kernel", "flash_fwd_kernel", "nvjet_tst_out",
         "rms_norm_kernel", "nvjet_tst_up", "act_and_mul_kernel", "nvjet_tst_down"]
HEAD = ["rms_norm_kernel", "nvjet_tst_head", "argmax_sampling_kernel"]


def by_hand(folder):
    """Traces that are written here, with kernels that overlap and others between them: drafts that are named, and drafts by order."""
    dice = random.Random(8)
    for i, form in enumerate(["vllm", "vllm-scopes", "sglang", "no-drafts"]):
        events, sums, now, call = [], {"steps": 0, "requests": 0, "verify_ns": 0, "draft_ns": 0}, 1000, 0
        plain, verifying = {}, []

        def slice_of(cat, name, start, dur, **args):
            on_device = cat == "kernel"
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if on_device else 9, "tid": 7 if on_device else 9, "ts": start / 1000,
                           "dur": dur / 1000, "args": {**({"device": 0, "stream": 7} if on_device else {}), **args}})

        for step in range(24):
            requests, speculates = dice.choice([2, 4]), step % 4 != 3
            start, device, work = now, now + 9_000, []

            def launch(names, draft):
                nonlocal now, device, call
                for name in names:
                    call += 1
                    slice_of("cuda_runtime", "cudaLaunchKernel", now, 1_000, correlation=call)
                    begin = max(device + dice.randint(-300, 900), now + 1_100)
                    dur = dice.randint(1_000, 9_000)
                    slice_of("kernel", name, begin, dur, correlation=call)
                    work.append((begin, begin + dur, draft))
                    device, now = begin + dur, now + 2_000
            launch(["embedding_kernel"] + LAYER * 4 + HEAD, False)
            name = f"execute_context_0(0)_generation_{requests}({requests * (3 if speculates else 1)})"
            if form == "sglang":
                name = f"step[{'TARGET_VERIFY' if speculates else 'DECODE'} bs={requests}]"
            slice_of("user_annotation", name, start, now - start)
            now += 3_000
            if speculates and form != "no-drafts":
                for half in range(2):
                    begin = now
                    launch(["embedding_kernel"] + LAYER + HEAD, True)
                    draft = {"vllm-scopes": "gpu_model_runner: draft",
                             "sglang": ["step[DRAFT_EXTEND_V2 bs=2]", "step[DRAFT_LOOP raw_bs=2 bs=2 topk=1]"][half]}.get(form)
                    if draft:
                        slice_of("user_annotation", draft, begin, now - begin)
            until, parts = min(work)[0], {False: 0, True: 0}
            for begin, end, draft in sorted(work):
                parts[draft] += max(0, end - until)
                until = max(until, end)
            if speculates:
                sums["steps"], sums["requests"] = sums["steps"] + 1, sums["requests"] + requests
                sums["verify_ns"], sums["draft_ns"] = sums["verify_ns"] + parts[False], sums["draft_ns"] + parts[True]
                verifying.append((requests, parts[False] + parts[True]))
            else:
                plain.setdefault(requests, []).append(parts[False])
            now = max(now, device) + 20_000
        means = {requests: sum(of) // len(of) for requests, of in plain.items()}
        compared = [(requests, ns) for requests, ns in verifying if requests in means]
        sums |= {"compared_steps": len(compared), "compared_ns": sum(ns for _, ns in compared), "plain_ns": sum(means[r] for r, _ in compared)}
        trace = pathlib.Path(folder) / f"{i}.pt.trace.json"
        dice.shuffle(events)
        trace.write_text(json.dumps({"traceEvents": events}))
        of = analyzed(trace)["speculation"]
        check(f"{form}: sums", {key: of.get(key) for key in sums} == sums, (of, sums))
        check(f"{form}: tokens", of.get("tokens") == (None if form == "sglang" else 3 * sums["requests"]), of)
        found = {"vllm": "order", "no-drafts": "none"}.get(form, "annotated")
        check(f"{form}: how drafts were found", of["drafts"] == found, of)


def metric(path, name):
    """The sum of a metric over the first tensor-parallel ranks."""
    lines = [line for line in path.read_text().splitlines() if re.match(name + r"[{ ]", line) and not re.search(r'tp_rank="[1-9]', line)]
    return sum(float(line.split()[-1]) for line in lines)


def live(folder):
    """Accepted tokens by the metrics of a recording: computed again from its run folder, beside the probability that was simulated and
    what the simulator did in the trace."""
    for engine in ("vllm", "sglang"):
        name, place = f"{engine} live", pathlib.Path(folder) / engine
        with simulation(place, "--engine", engine, "--speculative", "3", "--acceptance", "70%", "--truth") as addresses:
            done, report, out = record(place, target(addresses))
        check(f"{name}: is recorded", report is not None and done.returncode == 0, done.stderr)
        if report is None:
            continue
        [trace] = [path for path in (out / "traces" / "w0").iterdir() if path.name.endswith((".json", ".json.gz")) and "truth" not in path.name]
        of = analyzed(trace)["speculation"]
        before, after = out / "metrics" / "w0-before.txt", out / "metrics" / "w0-after.txt"
        if engine == "vllm":
            drafts, proposed, accepted = (metric(after, of_it) - metric(before, of_it) for of_it in (
                f"vllm:spec_decode_num_{what}_total" for what in ("drafts", "draft_tokens", "accepted_tokens")))
            expected = {"accepted_from": "counters", "accepted_tokens": 1 + accepted / drafts, "accepted_share": accepted / proposed}
            check(f"{name}: each draft proposes three", proposed == 3 * drafts, (proposed, drafts))
        else:
            expected = {"accepted_from": "gauge", "accepted_tokens": metric(after, "sglang:spec_accept_length")}
        check(f"{name}: as in the run folder", all(of[key] == value or abs(of[key] - value) < 1e-5 for key, value in expected.items()), (of, expected))
        check(f"{name}: a share only of counters", ("accepted_share" in of) == (engine == "vllm"), of)
        # 70 % of the first, of these 70 % of the second, and so on.
        check(f"{name}: as simulated", abs(of["accepted_tokens"] / (1 + 0.7 + 0.7 ** 2 + 0.7 ** 3) - 1) < 0.15, of)
        [truth] = [json.loads(path.read_text())["speculation"] for path in (out / "traces").rglob("*.truth.json")]
        in_trace = 1 + truth["accepted"] / truth["requests"]
        check(f"{name}: near what the trace's steps accepted", abs(of["accepted_tokens"] / in_trace - 1) < 0.15, (of, truth))
        time, steps = (of["compared_ns"], of["compared_steps"]) if of["compared_steps"] else (of["verify_ns"] + of["draft_ns"], of["steps"])
        check(f"{name}: time of a token", abs(of["token_ns"] * of["accepted_tokens"] * steps / time - 1) < 1e-5, of)
        for text in (done.stdout, run("analyze", str(trace)).stdout):
            words = "by the engine's counters over the recording (" if engine == "vllm" else "by the engine's own mean at the end of the recording: "
            check(f"{name}: on the screen", f"It brings {of['accepted_tokens']:.2f}, {words}" in " ".join(text.split()), text)
        results = place / "results.json"
        results.write_text(run("analyze", str(trace), "--json").stdout)
        check(f"{name}: read back", analyzed(results)["speculation"] == of)
        alone = place / trace.name
        shutil.copy(trace, alone)
        check(f"{name}: another folder has no metrics", analyzed(alone)["speculation"]["accepted_from"] == "no-recording")
        before.unlink()
        told = analyzed(trace)["speculation"]
        check(f"{name}: counters since the engine's start do not count", told["accepted_from"] == "no-metrics" and "accepted_tokens" not in told, told)


def outputs(folder):
    """The screen, results that are read back, and runs without speculation."""
    folder = pathlib.Path(folder)
    trace = simulated(folder / "run", "--steps", 40, "--speculative", 3)[0]
    told = analyzed(trace)["speculation"]
    text = " ".join(run("analyze", str(trace)).stdout.split())
    check("the first screen", "speculative decoding, " in text and f"more than {told['break_even_tokens']:.2f} tokens" in text, text)
    check("why accepted tokens are unknown", "only a run folder of tacho record has the engine's metrics" in text, text)
    results = folder / "results.json"
    results.write_text(run("analyze", str(trace), "--json").stdout)
    check("read back", analyzed(results)["speculation"] == told)
    older = json.loads(results.read_text())
    new = ("accepted_from", "break_even_share")
    for key in new:
        older["traces"][0]["speculation"].pop(key)
    results.write_text(json.dumps(older))
    check("results of an older version", analyzed(results)["speculation"] == told)
    plain = simulated(folder / "plain", "--steps", 20)[0]
    check("none without", "speculation" not in analyzed(plain) and "speculative" not in run("analyze", str(plain)).stdout)


main([times, by_hand, live, outputs], __doc__)
