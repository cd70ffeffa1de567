"""Rows that are not there, and times that cannot be."""
import torch_exporter

RUN_OF = {"base": "the base", "new": "the new run"}


def graph_underrecorded(case):
    whole = case.trace("whole.json")
    case.check("whole.json: busy of the window", whole["devices"][0]["busy_ns"] / whole["devices"][0]["window_ns"] > 0.94, True)
    case.says("analyze", "whole.json", status=0, words=["no event lost", "GPU busy 94.3 % of 400 ms"])
    for name, lost, calls, call in (("one_in_8.json", 35, 40, "hipGraphLaunch"), ("eager.json", 300, 400, "cudaLaunchKernel")):
        trace = case.trace(name, status=4)
        evidence = trace["integrity"]["lost"]
        case.check(f"{name}: lost calls", [evidence["calls"], evidence["apis"]], [lost, [{"name": call, "calls": calls, "lost": lost}]])
        case.check(f"{name}: idle time is absent", [key for key in ("idle", "step_parts") if key in trace], [])
        device = trace["devices"][0]
        case.check(f"{name}: busy is a bound", [device["whole"], "idle_ns" in device, "exposed_comm_ns" in device], [False, False, False])
        case.check(f"{name}: a note", [n["id"] for n in trace["notes"] if n["severity"] == "data-loss"], ["lost-gpu-work"])
        case.says("analyze", name, status=4, words=[f"GPU work of {lost} of {calls} {call} calls is missing", "GPU busy at least"],
                  never=["no event lost", "% of the idle time"])
    untimed, again = "the device time of 35 of its 40 decode steps", "record it again"
    for pair, side in ((("whole.json", "one_in_8.json"), "new"), (("one_in_8.json", "whole.json"), "base")):
        case.says("compare", *pair, status=5, words=[f"decode: {RUN_OF[side]} lacks {untimed}: {again}"], never=["of known length", "launches and operators: not"])
    case.says("compare", "one_in_8.json", "one_in_8.json", status=5, words=[f"base and new each lack {untimed}: record them again"])
    case.says("compare", "eager.json", "eager.json", "--anyway", status=4, words=["no difference in the window", "not compute"],
              never=["idle.unknown", "in idle time"])


def clock_skew(case):
    right = case.trace("true.json")
    case.check("true.json: late host", right["idle"]["causes"][0]["id"], "host-late")
    trace = case.trace("skew.json")
    clock = trace["integrity"]["clocks"][0]
    case.check("the clock", [clock["state"], clock["launched"], clock["before_launch"], clock["least_ns"]], ["off", 100, 100, 200_000])
    case.check("busy and idle time hold", [trace["devices"][0][key] for key in ("window_ns", "busy_ns", "idle_ns")],
               [right["devices"][0][key] for key in ("window_ns", "busy_ns", "idle_ns")])
    case.check("no cause", [row["id"] for row in trace["idle"]["causes"]], ["unknown"])
    case.check("no delay", "delay" in trace["launches"], False)
    case.says("analyze", "skew.json", status=0, words=["all 100 launched pieces of work start before their launch call"],
              never=["the host launched late", "delay from launch to start"])
    for pair, whose in ((("true.json", "skew.json"), "new's device clock is"), (("skew.json", "true.json"), "base's device clock is"),
                        (("skew.json", "skew.json"), "base's and new's device clocks are")):
        case.says("compare", *pair, status=0, never=["idle.host-late", "idle.unknown"],
                  words=["no difference in the window", f"causes of idle time: not compared, {whose} off against the host's"])
    case.says("compare", "true.json", "skew.json", "--fail-on", "idle.host-late>+1%,idle>+1%", "--without-bounds", status=1, never=["passed: idle.host-late"],
              words=["inconclusive: idle.host-late>+1%: whole.idle.host-late cannot be judged: new's device clock is off", "passed: idle>+1%"])
    case.says("compare", "true.json", "true.json", status=0, words=["idle.host-late"], never=["causes of idle time"])


def nsys_tail_loss(case):
    case.says("analyze", "whole.sqlite", status=0, words=["no event lost", "GPU busy 89.4 % of 2.99 s"])
    case.check("tail_lost.sqlite: where it stopped", case.trace("tail_lost.sqlite", status=4)["integrity"]["recorder"]["ranges_after"], 20)
    case.says("analyze", "tail_lost.sqlite", status=4, words=["GPU busy 90.0 % of 990 ms", "the recording of calls and GPU work stops"],
              never=["no event lost", "30.7 %"])
    for window, least in (("1.5:2.5s", "0.0"), ("0.5:1.5s", "44.5")):
        case.says("analyze", "tail_lost.sqlite", "--window", window, status=4, never=["idle 100", "is unknown", "of the idle time"],
                  words=[f"GPU busy at least {least} % of 1.00 s; the recording of calls and GPU work stops 1.91 s before", "idle time and its causes cannot be told"])
    case.says("analyze", "tail_lost.sqlite", "--window", "0.2:0.9s", status=4, words=["of 700 ms"], never=["cannot be told: ", "at least"])


def currency(case):
    """GPU work that is lost at the start of a session; other files of this folder are of other kinds."""
    whole = case.trace("b200-lost-0.json.gz")
    case.check("nothing is lost", whole["integrity"]["lost"]["calls"], 0)
    for name, lost in (("b200-lost-3.json.gz", 3), ("b200-lost-400.json.gz", 400), ("hta-nccl-lost-12.json.gz", 12)):
        trace = case.trace(name, status=4)
        evidence = trace["integrity"]["lost"]
        case.check(f"{name}: the first calls", [evidence["calls"], evidence["pattern"]], [lost, "start"])
        case.check(f"{name}: figures of the rest stay", ["idle" in trace, trace["devices"][0].get("whole", True)], [True, True])
        case.says("analyze", name, status=4, words=["the first calls of the recording"], never=["no event lost", "before the first work"])
    for name in ("graph-base.json", "graph-annotated.json", "graph-cuspy.json"):
        case.check(f"{name}: nothing is lost", case.trace(name)["integrity"]["lost"]["gpu_events"], 0)
    whole = "b200-lost-0.json.gz"
    for name, calls in (("b200-lost-3.json.gz", "3 of 161 cudaMemcpyAsync calls"), ("b200-lost-400.json.gz", "400 of 929 calls")):
        for side, pair in (("new", (whole, name)), ("base", (name, whole))):
            lost = f"{RUN_OF[side]} lost GPU work of {calls}, the first of the recording"
            case.says("compare", *pair, status=5, never=["layers", "lower bounds"],
                      words=[f"{lost}: its figures are of the rest of the recording, so kernels cannot be counted against each other"])
            case.says("compare", *pair, "--anyway", status=4, words=[f"idle time; {lost} not comparable"], never=["often"])
    case.says("compare", whole, whole, status=0, words=["no difference in the window"], never=["lost GPU work"])
    torch_exporter.check(case)
