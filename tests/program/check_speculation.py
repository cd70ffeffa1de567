#!/usr/bin/env python3
"""What `tacho analyze` says of speculative decoding, against the truth of simulated runs.

usage: check_speculation.py TACHO [--only NAME ...]
"""
import json
import pathlib
import random

from scenario import check, main, run


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
            check(f"{words}: how drafts were found", of["drafts"] == ("annotated" if sglang else "order"), of)
            if truth["plain_ns"]:
                check(f"{words}: break-even", abs(of["break_even_tokens"] - truth["compared_ns"] / truth["plain_ns"]) < 1e-5, of)
                check(f"{words}: it costs more than a plain step", of["break_even_tokens"] > 1, of)
            layers = told["layers"]
            check(f"{words}: the layers are the model's alone", layers["state"] == "found" and layers["left_out"] == 0
                  and layers["count"] == words[words.index("--layers") + 1], {key: layers.get(key) for key in ("state", "left_out", "count")})


def outputs(folder):
    """The screen, results that are read back, and runs without speculation."""
    folder = pathlib.Path(folder)
    trace = simulated(folder / "run", "--steps", 40, "--speculative", 3)[0]
    told = analyzed(trace)["speculation"]
    text = " ".join(run("analyze", str(trace)).stdout.split())
    check("the first screen", "speculative decoding, " in text and f"more than {told['break_even_tokens']:.2f} tokens" in text, text)
    results = folder / "results.json"
    results.write_text(run("analyze", str(trace), "--json").stdout)
    check("read back", analyzed(results)["speculation"] == told)
    plain = simulated(folder / "plain", "--steps", 20)[0]
    check("none without", "speculation" not in analyzed(plain) and "speculative" not in run("analyze", str(plain)).stdout)


main([times, outputs], __doc__)
