"""`tacho record` against the real SGLang, alone and behind sglang-router."""
import gzip

from frame import DONE, REMOTE, USAGE, Setup, ask, check, check_complete, last_line, steps
from vllm_scenarios import interfering_loads

ONE = Setup(("sglang",), 3)
TWO = Setup(("sglang", "--count", "2", "--router"), 5)


def sglang_by_steps(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), steps=5, duration="120s"), 1)[0]
    check(steps(trace) == 5, f"{steps(trace)} steps instead of 5")


def sglang_stop_by_hand(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), duration="10s"), 1)[0]
    check(steps(trace) > 5, f"only {steps(trace)} steps with something to do in the window")


def sglang_by_stage(engines, tacho):
    """Two files: the prefill steps and the decode steps."""
    found = check_complete(tacho, tacho.record(engines.url(), steps=3, duration="120s", options=["--by-stage"]), 2)
    phases = sorted("decode" if t["steps"]["by_phase"].get("decode") else "prefill" for t in found)
    check(phases == ["decode", "prefill"], f"stages {phases}")


def sglang_options(engines, tacho):
    run = tacho.record(engines.url(), steps=4, duration="120s", options=[
        "--profile-options", "record_shapes,detailed_annotations,activities=CPU,profile_prefix=mine"])
    trace = check_complete(tacho, run, 1)[0]
    check(steps(trace) == 4, f"{steps(trace)} steps instead of 4")
    check("/mine-tacho-" in trace["path"], f"the prefix is not in {trace['path']}")
    with gzip.open(trace["path"], "rt") as file:
        text = file.read()
    check('"record_shapes": 1' in text, "shapes were not recorded")
    check("forward_id=" in text, "the steps' names are not the detailed ones")


def sglang_stacks_refused(engines, tacho):
    run = tacho.record(engines.url(), options=["--with-stack"])
    check(run.status in (USAGE, REMOTE), f"exit status {run.status}: {last_line(run.said())}")
    check("--steps" in run.err, f"the refusal names no way out: {last_line(run.err)}")


def sglang_interfering_loads(engines, tacho):
    interfering_loads(engines, tacho)


def sglang_started_twice(engines, tacho):
    """A second start would throw the window of the first away: it is refused, and so is a recording, until the stop."""
    folder = tacho.work / "twice"
    status, _, err = tacho.engine("start", engines.url(), "--key", "first", "--output-dir", str(folder))
    check(status == DONE, f"the start exits {status}: {last_line(err)}")
    ask(engines.url() + "/generate", "POST", {"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 8, "ignore_eos": True}})
    status, _, err = tacho.engine("start", engines.url(), "--output-dir", str(folder))
    check(status == REMOTE and "first" in err and "tacho engine stop" in err, f"a second start exits {status}: {last_line(err)}")
    run = tacho.record(engines.url())
    check(run.status == REMOTE and "session first" in run.err, f"a recording exits {run.status}: {last_line(run.err)}")
    status, _, err = tacho.engine("stop", engines.url())
    check(status == DONE, f"the stop exits {status}: {last_line(err)}")
    files = [f for f in folder.iterdir() if f.name.startswith("first")]
    check(len(files) == 1, f"files of the first session: {files}")
    check(steps(tacho.analyze(files[0])["traces"][0]) >= 8, "the window of the first session was lost")
    check_complete(tacho, tacho.record(engines.url(), steps=3, duration="120s"), 1)


def two_behind_sglang_router(engines, tacho):
    check_complete(tacho, tacho.record(engines.router["url"]), 2)


SCENARIOS = [(ONE, s) for s in (sglang_by_steps, sglang_stop_by_hand, sglang_by_stage, sglang_options,
                                sglang_stacks_refused, sglang_interfering_loads, sglang_started_twice)]
SCENARIOS += [(TWO, two_behind_sglang_router)]
