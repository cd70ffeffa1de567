"""`tacho record` against the real SGLang, alone and behind sglang-router."""
from frame import Setup, check, check_complete, steps

ONE = Setup(("sglang",), 3)
TWO = Setup(("sglang", "--count", "2", "--router"), 5)


def sglang_by_steps(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), steps=5), 1)[0]
    check(steps(trace) == 5, f"{steps(trace)} steps instead of 5")


def sglang_stop_by_hand(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), duration="3"), 1)[0]
    check(steps(trace) > 5, f"only {steps(trace)} steps with something to do in 3 s of load")


def sglang_by_stage(engines, tacho):
    """Two files: the prefill steps and the decode steps."""
    found = check_complete(tacho, tacho.record(engines.url(), "--profile-options", "profile_by_stage=true", steps=3), 2)
    phases = sorted("prefill" if t["steps"]["by_phase"].get("prefill") else "decode" for t in found)
    check(phases == ["decode", "prefill"], f"stages {phases}")


def two_behind_sglang_router(engines, tacho):
    check_complete(tacho, tacho.record(engines.router["url"], requests=16), 2)


SCENARIOS = [(ONE, s) for s in (sglang_by_steps, sglang_stop_by_hand, sglang_by_stage)]
SCENARIOS += [(TWO, two_behind_sglang_router)]
