"""What a profiler says about itself: lines that it logged, its helper processes, its overhead."""
import json


def nsys_diagnostics(case):
    file = "events_missing.sqlite"
    case.says("analyze", file, status=4, never=["no event lost"],
              words=["trust events may be missing", "nsys: Not all CUDA events might have been collected.",
                     "nsys: Installed CUDA driver version (13.3) is not supported by this build of Nsight Systems.",
                     "record with a newer nsys", "GPU busy"])
    notes = {note["id"]: note for note in case.trace(file, status=4)["notes"]}
    case.check("notes", sorted(notes), ["producer-lost-events", "unsupported-driver"])
    case.check("what is missing is the driver's", notes["producer-lost-events"]["remedy"], notes["unsupported-driver"]["remedy"])
    case.check("summary: status", case.run("analyze", "--summary", file).returncode, 4)
    case.check("stats: status", case.run("stats", file).returncode, 4)


def nsys_helper_processes(case):
    screens = [case.run("analyze", file) for file in ("alone.sqlite", "helpers.sqlite")]
    case.check("status", [done.returncode for done in screens], [0, 0])
    case.check("the report of the only process", screens[1].stdout.replace("helpers.sqlite", "alone.sqlite"), screens[0].stdout)
    whole = case.trace("helpers.sqlite")
    chosen = case.trace("helpers.sqlite#pid=1000")
    case.check("chosen: path", chosen.pop("path"), "helpers.sqlite#pid=1000")
    whole.pop("path")
    case.check("chosen", chosen, whole)
    kernels = ["select count(*) from kernels"]
    for command, more in (("stats", []), ("query", kernels), ("report", ["-o", "/dev/null"]), ("compare", ["alone.sqlite"]),
                          ("export", ["--format", "kineto", "-o", "/dev/null"])):
        case.check(f"{command}: status", case.run(command, "helpers.sqlite#pid=1000", *more).returncode, 0)
    kernels = ["--report", "cuda_gpu_kern_sum", "--format", "csv"]
    case.check("stats of the process", case.run("stats", *kernels, "helpers.sqlite#pid=1000").stdout,
               case.run("stats", *kernels, "alone.sqlite").stdout)
    for command in ("analyze", "stats"):
        wrong = case.run(command, "helpers.sqlite#pid=1001")
        case.check(f"{command} of a helper: status", wrong.returncode, 2)
        case.check(f"{command} of a helper: those there are", "it has: pid=1000" in wrong.stderr, True)


def profiler_overhead(case):
    for file, named in (("overhead.json", []), ("buffer_request.json", ["Activity Buffer Request (it allocated a buffer"])):
        case.says("analyze", file, status=0, never=["the host was inside cudaLaunchKernel"],
                  words=["profiler", "3.60 ms of the 3.80 ms inside of 40 launch calls are overhead",
                         "Command Buffer Full (the launch queue was full)", *named])
        trace = case.trace(file)
        launches, idle = trace["launches"], trace["idle"]
        case.check(f"{file}: of the calls", (launches["profiler_ns"], launches["launch_calls_ns"], launches["profiler_calls"]),
                   (3_600_000, 3_800_000, 30))
        causes = {row["id"]: row["ns"] for row in idle["causes"]}
        case.check(f"{file}: of the idle time", causes["profiler"], 3_600_000)
        case.check(f"{file}: adds up", idle["busy_ns"] + sum(causes.values()), idle["window_ns"])
        events = json.loads((case.folder / file).read_text())["traceEvents"]
        want = sorted({event["name"] for event in events if event.get("cat") == "overhead"})
        case.check(f"{file}: overheads", sorted(row["name"] for row in launches["overheads"]), want)
