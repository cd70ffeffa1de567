"""Whose rows a file holds: of which producer, device and rank."""
import json


def _device(trace):
    """events, busy and window in microseconds of the only device of a trace."""
    (device,) = trace["devices"]
    return device["gpu_events"], device["busy_ns"] / 1000, device["window_ns"] / 1000


def _notes(trace):
    return {note["id"]: note["count"] for note in trace["notes"]}


def ascend_npu(case):
    trace = case.trace("trace_view.json")
    case.check("device rows, busy, window", _device(trace), (10, 1500, 1950))
    case.check("kernels", sum(kernel["total_ns"] for kernel in trace["kernels"]), 1_500_000)
    case.check("linked to a launch", trace["launches"]["with_launch"], 10)
    case.says("analyze", "trace_view.json", status=0, words=["GPU busy 76.9 %"], never=["CPU engine", "no GPU event"])
    case.says("analyze", "--summary", "trace_view.json", status=0, words=["MatMul"])


def chrome_trace_frontend(case):
    trace = case.trace("viztracer.json")
    case.check("role, producer", (trace["facts"]["role"], trace["facts"].get("producer")), ("foreign", "VizTracer"))
    case.says("analyze", "viztracer.json", status=0, words=["a Chrome trace of another producer (VizTracer)", "no torch operator"],
              never=["front-end", "front end", "frontend"])


def cupti_range(case):
    trace = case.trace("cupti_range.json", status=4)
    case.check("notes", _notes(trace).get("range-profiler"), 10)
    case.says("analyze", "cupti_range.json", status=4, words=["range profiler ran", "profiler_metrics"], never=["CUPTI is usable"])


def graph_capture_traces(case):
    document = case.analyze("torch_trace/")
    case.check("roles", [trace["facts"]["role"] for trace in document["traces"]], ["worker"])
    captures = document["captures"]
    case.check("captures", [len(captures), captures == sorted(captures), document["skipped"]], [2, True, []])
    case.check("--summary has them too", json.loads(case.run("analyze", "--summary", "--json", "torch_trace/").stdout)["captures"], captures)
    named = case.analyze(*captures)["traces"]
    case.check("named themselves they are read", [(trace["facts"]["role"], _notes(trace)) for trace in named], [("capture", {})] * 2)
    case.says("query", "torch_trace/", "SELECT count(*) FROM ranks", status=0, words=["2 traces of a graph capture are left out"])
    case.says("analyze", "torch_trace/", status=0, words=["2 traces of a graph capture are left out", "bs_8_rank0.json.gz"],
              never=["CUPTI", "2 of 2 ranks", "over 3 traces", "missing"])
    case.says("analyze", "torch_trace/capture_traces/bs_8_rank0.json.gz", status=0, words=["a recording of graph capture"],
              never=["CUPTI", "missing"])
    case.says("analyze", "torch_trace/capture_traces", status=0, words=["graph capture"], never=["CUPTI", "missing"])
    case.says("analyze", "--summary", "torch_trace/capture_traces/bs_8_rank0.json.gz", status=0, never=["CUPTI"])


def naive_merge(case):
    trace = case.trace("concat.json", status=4)
    case.check("devices", trace["devices"], [])
    case.check("notes", _notes(trace).get("mixed-ranks"), 1)
    case.check("rank", trace.get("rank"), None)
    case.says("analyze", "concat.json", status=4, words=["several ranks as one"], never=["rank 0 of 2", "GPU busy"])
    case.says("analyze", "--summary", "concat.json", status=0, never=["rank 0 of 2"])
    for rank in ("rank0.json", "rank1.json"):
        case.says("analyze", rank, status=0, words=["GPU busy 61.2 %", "rank"], never=["mixed"])
    for side, pair in (("new", ("rank0.json", "concat.json")), ("base", ("concat.json", "rank0.json"))):
        case.says("compare", *pair, status=5, words=[f"{side} holds several ranks in one file"], never=["has no work of a device"])


def nano_vllm_frames(case):
    case.check("engine", case.trace("with_kernels.json").get("engine"), None)
    case.check("engine", case.trace("frames_only.json", status=4).get("engine"), None)
    case.says("analyze", "frames_only.json", status=4, words=["no-gpu-events"], never=["took no step", "vLLM"])


def unitrace_gpu_op(case):
    trace = case.trace("python.501.json")
    case.check("device rows, busy, window", _device(trace), (30, 1050, 1485))
    case.says("analyze", "python.501.json", status=0, never=["CPU engine", "no GPU event"])


def vendor_runtime(case):
    mlu, cuda = case.trace("mlu.json"), case.trace("cuda.json")
    case.check("device rows, busy, window", _device(mlu), (20, 650, 968))
    case.check("copies", [(copy["kind"], copy["count"], copy["total_ns"]) for copy in mlu["copies"]], [("HtoD", 10, 250_000)])
    for figure in ("with_launch", "without_launch", "gpu_events"):
        case.check(figure, mlu["launches"][figure], cuda["launches"][figure])
    case.check("linked", mlu["launches"]["with_launch"], 10)
    causes = [[(cause["id"], cause["ns"], cause["count"]) for cause in trace["idle"]["causes"]] for trace in (mlu, cuda)]
    case.check("idle causes", causes[0], causes[1])
    case.says("analyze", "mlu.json", status=0, never=["all launched before", "no runtime call"])
