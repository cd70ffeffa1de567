"""Engine steps: what belongs to them, and how long they last."""
import json
import pathlib
import tempfile


def _exported_kernels(case, file, step):
    """The kernels of tacho export FILE --step STEP."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "step.json"
        case.check(f"export {file}: status", case.run("export", file, "--step", step, "-o", out).returncode, 0)
        return [event["name"] for event in json.loads(out.read_text())["traceEvents"] if event.get("cat") == "kernel"]


def steps_lmhead(case):
    # ns of each step on the device: 5 attn_fwd of 200 us, and lm_head_gemm, launched after the annotation's end: 0.3 ms (500 us; slow: 1,500 us)
    # or, which is too late, 1.5 ms.
    for file, ns, kernels in (("pause300us.json", 1_500_000, 6), ("slow_lmhead.json", 2_500_000, 6), ("pause1500us.json", 1_000_000, 5)):
        case.check(f"{file}: device_busy_ns", [row["device_busy_ns"] for row in case.rows(file, "select device_busy_ns from steps")], [ns] * 10)
        case.check(f"{file}: steps.list", [step["device_busy_ns"] for step in case.trace(file)["steps"]["list"]], [ns] * 10)
        case.check(f"{file}: kernels of steps", case.rows(file, "select sum(dur_ns) as ns from kernels where step = 3"), [{"ns": ns}])
        case.check(f"{file}: exported kernels", len(_exported_kernels(case, file, 3)), kernels)
    case.says("analyze", "pause300us.json", status=0, words=["decode 10 20.0 15.0"])
