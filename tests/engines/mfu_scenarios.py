"""vLLM's own estimate of its work (--enable-mfu-metrics) beside the work that tacho's roofline counts: docs/metrics.md#roofline.

A trace of a CPU has no roofline. So the live engine is compared with tests/program/model_work.py, which check_roofline.py holds tacho
to, and tacho's own figures of simulated traces with vLLM's classes."""
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from frame import ROOT, Setup, ask, check, wait_for
from engines_lib import environments, model as tiny

sys.path.insert(0, str(ROOT / "tests/program"))
from model_work import DETAILED, Model, tokens_of, what_vllm_adds, work_of  # noqa: E402

MFU = Setup(("vllm", "--profiler-config", '{"detailed_trace_annotation":true}', "--", "--enable-mfu-metrics"), 4)
NONE = Setup((), 4)
COUNTERS = ("flops", "read_bytes", "write_bytes")


def names_of_steps(trace):
    events = [event for event in json.loads(trace.read_text())["traceEvents"]
              if event.get("cat") == "user_annotation" and DETAILED.match(event["name"])]
    return [event["name"] for event in sorted(events, key=lambda event: float(event["ts"]))]


def equal(what, ours, theirs):
    check(abs(ours - theirs) <= 1e-6 * theirs, f"{what}: {ours:.6g} where vLLM has {theirs:.6g}")


def counted(url):
    """(FLOPs, bytes) by the engine's counters."""
    text = ask(url + "/metrics")[1]
    of = [sum(float(value) for value in re.findall(rf"^vllm:estimated_{name}_per_gpu_total{{.*}} (\S+)$", text, re.M)) for name in COUNTERS]
    return of[0], of[1] + of[2]


def mfu_of_a_live_engine(engines, tacho):
    """The counters grow by the work of the steps in the trace."""
    url, traces = engines.url(), Path(engines.workers[0]["trace_dir"])
    last = [counted(url)]

    def settled():
        time.sleep(0.5)
        last.append(counted(url))
        return last[-1] == last[-2] and last[-1][0] > 0
    wait_for(settled, 60, "the end of the engine's first requests")
    before, had = last[-1], set(traces.glob("*.json"))
    check(ask(url + "/start_profile", "POST", {"profile_prefix": "mfu"}, timeout=300)[0] == 200, "the profiler does not start")
    requests = [threading.Thread(target=ask, args=(url + "/v1/completions", "POST", {
        "model": tiny.NAME, "prompt": [(7 * i + number) % 2000 + 3 for i in range(50 + 300 * number)], "max_tokens": 20 + 3 * number,
        "ignore_eos": True}, 300)) for number in range(4)]
    for request in requests:
        request.start()
    for request in requests:
        request.join()
    wait_for(settled, 60, "the end of the requests")
    check(ask(url + "/stop_profile", "POST", timeout=300)[0] == 200, "the profiler does not stop")
    wait_for(lambda: set(traces.glob("*.json")) - had, 60, "the trace")
    names = names_of_steps((set(traces.glob("*.json")) - had).pop())
    check(len(names) >= 20, f"{len(names)} steps")
    config = tiny.CONFIG
    model = Model(config["hidden_size"], config["intermediate_size"], config["num_attention_heads"], config["num_key_value_heads"],
                  config["vocab_size"], config["num_hidden_layers"], head=config["head_dim"], value=4, weight=4, cached=4)  # --dtype float32
    for i, what in enumerate(("FLOPs", "bytes")):
        ours = sum(work[i] for name in names for work in work_of(name, model).values())
        equal(what, ours + sum(what_vllm_adds(name, model)[i] for name in names), last[-1][i] - before[i])


def mfu_of_simulated_models(_, tacho):
    """vLLM's classes and tacho count the same steps: equal FLOPs of decode steps, everything else by the known differences."""
    models = {"8b": (Model(4096, 12288, 32, 8, 151936, 4), "Qwen3ForCausalLM", "qwen3", 1),
              "32b": (Model(5120, 25600, 64, 8, 151936, 6), "Qwen3ForCausalLM", "qwen3", 2),
              "30b-a3b": (Model(2048, 768, 32, 4, 151936, 5, experts=128, chosen=8), "Qwen3MoeForCausalLM", "qwen3_moe", 1)}
    traced, asked = {}, []
    for size, (model, architecture, kind, ranks) in models.items():
        folder = tacho.work / size
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({
            "architectures": [architecture], "model_type": kind, "hidden_size": model.hidden, "intermediate_size": model.width,
            "num_attention_heads": model.heads, "num_key_value_heads": model.kv_heads, "head_dim": model.head,
            "num_hidden_layers": model.layers, "vocab_size": model.vocabulary, "max_position_embeddings": 4096,
            **({"num_experts": model.experts, "num_experts_per_tok": model.chosen, "moe_intermediate_size": model.width}
               if model.experts else {})}))
        subprocess.run([tacho.program, "simulate", "trace", "-o", folder / "run", "--model-size", size, "--layers", str(model.layers),
                        "--ranks", str(ranks), "--detailed", "--steps", "40"], check=True, capture_output=True)
        trace = next(path for path in sorted((folder / "run").glob("*.json")) if "truth" not in path.name)
        done = subprocess.run([tacho.program, "analyze", trace, "--model-config", folder, "--tensor-parallel", str(ranks), "--json"],
                              check=True, capture_output=True, text=True)
        told, names = json.loads(done.stdout)["traces"][0], names_of_steps(trace)
        check(told["roofline"]["missing"] == [] and len(names) == len(told["steps"]["list"]), f"{size}: {told['roofline']['missing']}")
        traced[size] = told, names
        asked.append({"model": str(folder), "tp": ranks, "steps": [tokens_of(name) for name in names]})
    done = subprocess.run([environments.find("vllm"), ROOT / "tests/engines/vllm_mfu.py"], input=json.dumps(asked), text=True,
                          capture_output=True, timeout=600)
    check(done.returncode == 0, done.stderr[-1000:])
    for (size, (told, names)), figures in zip(traced.items(), json.loads(done.stdout.splitlines()[-1])):
        model, ranks = models[size][0], models[size][3]
        for phase in told["roofline"]["phases"]:
            steps = [(name, figure) for step, name, figure in zip(told["steps"]["list"], names, figures)
                     if step["phase"] == phase["phase"] and step.get("device_busy_ns") is not None and not step.get("lost_work")]
            check(len(steps) == phase["steps"], f"{size}: {len(steps)} steps of {phase['phase']}")
            for i, what in enumerate(("flops", "bytes")):
                theirs = sum(figure[i] for _, figure in steps)
                equal(f"{size}, {phase['phase']}, {what}", phase[what] + sum(what_vllm_adds(name, model, ranks)[i] for name, _ in steps), theirs)
                if phase["phase"] == "decode" and (what == "flops" or not model.experts):
                    check(abs(phase[what] - theirs) <= 0.05 * theirs, f"{size}: {what} of decode steps differ by more than 5 %")
                print(f"   {size}, {phase['phase']}, {what}: {phase[what]:.4g}, vLLM {theirs:.4g} ({theirs / phase[what] - 1:+.1%})")


SCENARIOS = [(MFU, mfu_of_a_live_engine), (NONE, mfu_of_simulated_models)]
