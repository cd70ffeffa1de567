"""What torch 2.15 writes beside Kineto's own traces: lanes, annotations, the "cuspy" backend. Truth of the made traces: three streams
of graph kernels and one of copies, 126 pieces of GPU work, three replays of 40 kernels; `graph-base.json` is as Kineto writes it."""
import json

STREAMS = "SELECT stream, count(*) AS n, sum(dur_ns) AS ns FROM slices WHERE kind IN ('kernel', 'copy') GROUP BY stream ORDER BY stream"


def _plain(trace):
    """A trace's document without what tells its file."""
    return {key: value for key, value in trace.items() if key not in ("path", "bytes", "json_bytes", "events")}


def check(case):
    base, truth = case.trace("graph-base.json"), case.rows("graph-base.json", STREAMS)
    case.check("streams", [(row["stream"], row["n"]) for row in truth], [("20", 3), ("25", 30), ("26", 30), ("7", 63)])
    for name in ("graph-annotated.json", "graph-lanes.json", "graph-cuspy.json"):
        case.check(f"{name}: figures by stream", case.rows(name, STREAMS), truth)
    for name in ("graph-annotated.json", "graph-lanes.json"):
        case.check(f"{name}: every figure", _plain(case.trace(name)), _plain(base))
        annotations = case.rows(name, "SELECT annotation, stream, count(*) AS n FROM kernels GROUP BY 1, 2 ORDER BY 1, 2")
        case.check(f"{name}: annotations", annotations[1:3], [{"annotation": "layers.0.ar", "stream": "25", "n": 3},
                                                              {"annotation": "layers.0.attn", "stream": "7", "n": 3}])
        case.check(f"{name}: kernels without one", annotations[0], {"stream": "7", "n": 3})
        csv = case.run("export", name, "--format", "csv", "-o", "-").stdout
        case.check(f"{name}: CSV", [line.endswith(",layers.0.qkv") for line in csv.splitlines()].count(True), 3)
    cuspy = case.trace("graph-cuspy.json")
    case.check("copies", cuspy["copies"], base["copies"])
    case.check("idle time and what is before and after it", cuspy["idle"], base["idle"])
    case.check("nothing is lost", [cuspy["integrity"]["lost"]["calls"], cuspy["notes"]], [0, base["notes"]])
    for name in ("graph-lanes.json", "graph-cuspy.json"):
        exported = case.run("export", name, "-o", "-", "--format", "kineto").stdout
        case.check(f"{name}: the export is JSON", isinstance(json.loads(exported)["traceEvents"], list), True)
