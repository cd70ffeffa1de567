#!/usr/bin/env python3
"""What `tacho analyze --json` says of the CUDA graphs of simulated models: against the simulator's truth, and node by node against a
second, plain computation from the trace, with and without the ids of the graphs, with rows in any order and with lost rows.

usage: check_graphs.py TACHO [--only NAME ...]
"""
import collections
import csv
import decimal
import json
import pathlib
import random
import statistics

from scenario import check, main, run

GPU = ("kernel", "gpu_memcpy", "gpu_memset")
TOKEN_BLOCKS = ("fused_add_rms_norm_kernel", "FusedAddRMSNormKernel", "vllm::rotary_embedding_kernel", "reshape_and_cache_flash_kernel")


def simulated(folder, name, *words):
    """The trace files of a run, each with its truth."""
    out = pathlib.Path(folder) / name
    done = run("simulate", "trace", "-o", str(out), *map(str, words))
    check(f"{name}: is simulated", done.returncode == 0, done.stderr)
    return [(path, json.loads(path.with_name(path.name + ".truth.json").read_text()))
            for path in sorted(out.glob("*trace.json"))]


def analyzed(path, *words):
    done = run("analyze", str(path), "--json", *words)
    check(f"analyze {path.name}: ends well", done.returncode in (0, 4), done.stderr)
    return json.loads(done.stdout)["traces"][0]


def ns(us):
    return int(decimal.Decimal(us) * 1000)


def events_of(path):
    return json.loads(path.read_text(), parse_float=decimal.Decimal)["traceEvents"]


def union(spans):
    total, reached = 0, None
    for start, end in sorted(spans):
        total += max(0, end - (start if reached is None else max(start, reached)))
        reached = end if reached is None else max(reached, end)
    return total


def replays_of(events):
    """For each graph launch, in order: its rows as (start, duration, name, stream, grid, node id, graph id), in order of time."""
    rows = collections.defaultdict(list)
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in GPU:
            args = event["args"]
            rows[args["correlation"]].append((ns(event["ts"]), ns(event["dur"]), event["name"], args["stream"], str(args.get("grid")),
                                              args.get("graph node id", 0), args.get("graph id", 0)))
    calls = sorted((ns(event["ts"]), event["args"]["correlation"]) for event in events
                   if event.get("ph") == "X" and "GraphLaunch" in event["name"])
    return [sorted(rows[correlation]) for _, correlation in calls]


def graphs_of(events, by_id):
    """The plain computation: graph -> its nodes, in order: (name, count, total, deviation, gap), and sums over its replays."""
    groups = collections.defaultdict(list)
    for rows in replays_of(events):
        if rows:
            groups[rows[0][6] if by_id else tuple((row[2], row[3], row[4]) for row in rows)].append(rows)
    graphs = []
    for group in groups.values():
        size = max(map(len, group))
        durations, gaps = [[] for _ in range(size)], [0] * size
        for rows in group:
            until = rows[0][0]
            for i, (start, duration, *_) in enumerate(rows):
                durations[i].append(duration)
                gaps[i] += max(0, start - until)
                until = max(until, start + duration)
        grids = {row[4] for rows in group for row in rows if any(word in row[2] for word in TOKEN_BLOCKS)}
        graphs.append({
            "nodes": [(group[0][i][2], len(durations[i]), sum(durations[i]), statistics.pstdev(durations[i]), gaps[i])
                      for i in range(size)],
            "batch": json.loads(grids.pop())[0] if len(grids) == 1 else None,
            "replays": len(group), "work_ns": sum(map(sum, durations)),
            "device_ns": sum(union((row[0], row[0] + row[1]) for row in rows) for rows in group),
            "span_ns": sum(max(row[0] + row[1] for row in rows) - rows[0][0] for rows in group)})
    return graphs


def same_graphs(name, got, expected):
    """Whether tacho's graphs are those of the plain computation."""
    check(f"{name}: graphs", len(got["list"]) == len(expected), (len(got["list"]), len(expected)))
    rest = list(expected)
    for graph in got["list"]:
        nodes = [(got["names"][node["name"]], node["count"], node["total_ns"], node["gap_ns"]) for node in graph["by_node"]]
        same = [other for other in rest if [(n[0], n[1], n[2], n[4]) for n in other["nodes"]] == nodes]
        check(f"{name}: nodes of a graph of {graph['nodes']}", same, nodes[:3])
        if not same:
            continue
        other = same[0]
        rest.remove(other)
        for key in ("replays", "work_ns", "device_ns", "span_ns"):
            check(f"{name}: {key}", graph[key] == other[key], (graph[key], other[key]))
        check(f"{name}: batch", graph.get("batch") == other["batch"], (graph.get("batch"), other["batch"]))
        off = [(n["deviation_ns"], o[3]) for n, o in zip(graph["by_node"], other["nodes"]) if abs(n["deviation_ns"] - o[3]) > 1]
        check(f"{name}: deviations", not off, off[:3])
        check(f"{name}: times of the nodes add up", sum(n["total_ns"] for n in graph["by_node"]) == graph["work_ns"])
        check(f"{name}: gaps and device time add up", sum(n["gap_ns"] for n in graph["by_node"]) + graph["device_ns"] == graph["span_ns"])


def same_truth(name, got, truth, sizes):
    """Against what the simulator did."""
    by_id = {graph["id"]: graph for graph in got["list"]}
    check(f"{name}: ids", sorted(by_id) == sorted(row["id"] for row in truth["graphs"]), sorted(by_id))
    means = {row["batch"]: row["device_ns"] // row["replays"] for row in truth["graphs"] if "batch" in row}
    for row in truth["graphs"]:
        graph = by_id[row["id"]]
        for key in ("nodes", "replays", "work_ns", "device_ns"):
            check(f"{name}: {key} of graph {row['id']}", graph[key] == row[key], (graph[key], row[key]))
        if "batch" not in row:
            continue
        check(f"{name}: batch of graph {row['id']}", graph["batch"] == row["batch"], (graph.get("batch"), row["batch"]))
        check(f"{name}: padding of graph {row['id']}", graph["padding_tokens"] == row["batch"] * row["replays"] - row["tokens"],
              (graph["padding_tokens"], row))
    # What padding cost, from the truth's steps: the size of a step's graph and the largest one seen that is not above its tokens.
    cost, unknown = collections.Counter(), set()
    for step in truth["steps"]:
        tokens = step["generation_tokens"]
        size = next((size for size in sizes if size >= tokens), None)
        if step["phase"] != "decode" or size is None or size == tokens:
            continue
        smaller = max((other for other in means if other <= tokens), default=None)
        unknown |= {size} if smaller is None else set()
        cost[size] += max(0, means[size] - means.get(smaller, 0))
    for graph in got["list"]:
        expected = None if graph.get("batch") in unknown else cost[graph.get("batch")]
        if "batch" in graph:
            check(f"{name}: cost of padding", graph.get("padded_ns") == expected, (graph, expected))
    rows = [graph for graph in got["list"] if graph.get("phase") == "decode" and graph.get("padded_replays")]
    total = got.get("decode_padding")
    check(f"{name}: padding of decode steps", (total is not None) == bool(rows), total)
    if total:
        check(f"{name}: cost of all padding", total["padded_ns"] == sum(graph.get("padded_ns", 0) for graph in rows), (total, rows))
        check(f"{name}: launches without a smaller graph", total["uncompared"] == sum(graph["padded_replays"] for graph in rows if "padded_ns" not in graph), total)
        check(f"{name}: device time of decode steps", total["device_ns"] >= sum(graph["device_ns"] for graph in rows) > 0, total)
    decode = [step["generation_requests"] for step in truth["steps"] if step["phase"] == "decode"]
    eager = [tokens for tokens in decode if sizes and tokens > sizes[-1]]
    if len(eager) < len(decode):
        check(f"{name}: eager steps", (got["eager_steps"]["count"], got["eager_steps"]["of"]) == (len(eager), len(decode)),
              (got["eager_steps"], len(eager), len(decode)))
    if sizes:
        check(f"{name}: padding of all steps", got.get("padding_tokens", 0) == sum(graph["padding_tokens"] for graph in got["list"]))


def rewritten(path, name, change):
    """The trace at `path` with other events."""
    trace = json.loads(path.read_text(), parse_float=lambda text: text)
    for event in trace["traceEvents"]:  # decimals stay as they are
        for key in ("ts", "dur"):
            if isinstance(event.get(key), str):
                event[key] = decimal.Decimal(event[key])
    trace["traceEvents"] = change(trace["traceEvents"])

    class Exact(json.JSONEncoder):
        def default(self, o):
            return float(o)
    out = path.with_name(name)
    out.write_text(json.dumps(trace, cls=Exact))
    return out


def without_ids(events):
    for event in events:
        for key in ("graph id", "graph node id"):
            event.get("args", {}).pop(key, None)
    return events


def same_places(name, trace):
    """The nodes of decode graphs and the blocks of decode steps are the same work."""
    layers, graphs = trace["layers"], trace["graphs"]
    phase = next((of for of in layers["phases"] if of["phase"] == "decode"), None)
    if phase is None or layers["left_out"] + layers["unknown"] > 0 or graphs["eager_steps"]["count"] > 0:
        return False
    expected = collections.Counter({(layer["index"], block["id"]): block["count"] for layer in phase["list"] for block in layer["blocks"]})
    expected.update({(None, block["id"]): block["count"] for block in phase["outside"]})
    inside = collections.Counter()
    for graph in graphs["list"]:
        for node in graph["by_node"]:
            if graph.get("phase") == "decode":
                inside[node.get("layer"), node.get("block")] += node["count"]
    check(f"{name}: nodes have the layers and blocks of their steps", all(inside[key] == count for key, count in expected.items() if key[0] is not None),
          (inside - expected, expected - inside))
    check(f"{name}: work of a graph outside of layers is in a block outside", not inside - expected, inside - expected)
    return True


def models(folder):
    """Random models: with ids against the truth and the plain computation; without ids, and with rows in another order."""
    dice = random.Random(34)
    placed = 0
    for i in range(20):
        name = f"m{i}"
        sizes = dice.choice([[1, 2, 4, 8, 16, 32], [1, 4, 16], [2, 8, 32, 64], [3, 24], []])
        words = ["--layers", dice.randint(1, 8), "--model-size", dice.choice(["tiny", "8b", "30b-a3b"]), "--ranks", dice.choice([1, 1, 2]),
                 "--engine", dice.choice(["vllm", "vllm", "sglang"]), "--steps", dice.randint(30, 90), "--load-seed", i + 1,
                 "--requests", dice.choice([2, 12, 40]), "--output-tokens", dice.choice([8, 40])]
        words += ["--graph-sizes", ",".join(map(str, sizes))] if sizes else []
        for path, truth in simulated(folder, name, *words):
            if not truth["graphs"]:
                continue
            whole = analyzed(path)
            placed += same_places(name, whole)
            got = whole["graphs"]
            events = events_of(path)
            check(f"{name}: by ids", got["by_id"])
            same_truth(name, got, truth, sizes)
            same_graphs(name, got, graphs_of(events, True))
            plain = rewritten(path, "plain.trace.json", without_ids)
            got = analyzed(plain)["graphs"]
            check(f"{name}: by order", not got["by_id"] and got["unknown"] == 0, got["unknown"])
            same_graphs(name + " without ids", got, graphs_of(events_of(plain), False))

            def shuffled(events):
                dice.shuffle(events)
                return events
            mixed = rewritten(plain, "mixed.trace.json", shuffled)
            check(f"{name}: the order of the file does not matter", analyzed(mixed)["graphs"] == got)
    check("layers and blocks of graphs were compared", placed > 5, placed)


def lost(folder):
    """Rows lost at the start: the nodes of the rest are known, by ids and by order."""
    [(path, truth)] = simulated(folder, "lost", "--layers", 3, "--steps", 40, "--requests", 6, "--output-tokens", 60, "--graph-sizes", "8",
                                "--prompt-tokens", 32, "--model-size", "tiny")
    replays = replays_of(events_of(path))
    first_graph = replays[0][0][0]
    for inside in (1, 5, 17):
        cut = sorted(row[0] for row in replays[0])[inside]

        def change(events, cut=cut):
            return [event for event in events if event.get("cat") not in GPU or ns(event["ts"]) >= cut]
        for ids in (True, False):
            name = f"{inside} lost {'with' if ids else 'without'} ids"
            got = analyzed(rewritten(path, "cut.trace.json", lambda e: change(e if ids else without_ids(e))))["graphs"]
            check(f"{name}: one graph", len(got["list"]) == 1, got)
            graph = got["list"][0]
            check(f"{name}: replays", (graph["replays"], graph["partial"]) == (len(replays) - 1, 1), graph)
            counts = [node["count"] for node in graph["by_node"]]
            check(f"{name}: counts", counts == [len(replays) - (i < inside) for i in range(len(counts))], counts[:20])
            total = sum(row[1] for rows in replays for row in rows) - sum(row[1] for row in replays[0] if row[0] < cut)
            check(f"{name}: work", graph["work_ns"] == total == sum(node["total_ns"] for node in graph["by_node"]), (graph["work_ns"], total))
    check("the first graph lies after other work", first_graph > 0)


def outputs(folder):
    """The screen, the files and results that are read back say the same."""
    [(path, _)] = simulated(folder, "outputs", "--layers", 2, "--steps", 60, "--requests", 20, "--graph-sizes", "4,16", "--model-size", "tiny",
                            "--output-tokens", 30)
    folder = pathlib.Path(folder)
    done = run("analyze", str(path), "--json")
    results = folder / "results.json"
    results.write_text(done.stdout)
    got = json.loads(done.stdout)["traces"][0]["graphs"]
    again = json.loads(run("analyze", str(results), "--json").stdout)["traces"][0]["graphs"]
    check("results are read back", again == got)
    for source in (path, results):
        run("analyze", str(source), "--csv", str(folder / "csv"))
        rows = list(csv.DictReader((folder / "csv" / "graph_nodes.csv").open()))
        check("a row for each node", len(rows) == sum(graph["nodes"] for graph in got["list"]))
        check("the same times", [int(row["total_ns"]) for row in rows] == [n["total_ns"] for g in got["list"] for n in g["by_node"]])
    screen = " ".join(run("analyze", str(path), "--graphs").stdout.split())
    check("the screen shows the graphs", "GRAPH" in screen and "NODE" in screen and "padding" in screen, screen)
    total = got["decode_padding"]
    check("the screen has the cost of padding", f"{100 * total['padded_ns'] / total['device_ns']:.2g} % of their device time" in screen or not total["padded_ns"], screen)
    check("the screen has layers and blocks", " layer block count " in screen and " attention " in screen, screen)
    check("the first screen names the table", "--graphs" in run("analyze", str(path)).stdout)
    check("one device has no column", " device " not in screen.split("NODE")[0], screen)
    check("eager steps are named", f"{got['eager_steps']['count']} of {got['eager_steps']['of']} decode steps launched no graph" in screen, screen)

    def on_two_devices(events):
        copies = []
        for event in events:
            args = event.get("args", {})
            if event.get("ph") != "X" or "correlation" not in args:
                continue
            copies.append({**event, "args": {**args, "correlation": args["correlation"] + 10_000_000}})
            if event["cat"] in GPU:
                copies[-1]["pid"] = copies[-1]["args"]["device"] = 1
                if "graph id" in args:
                    copies[-1]["args"]["graph id"] = args["graph id"] + 1000
                    copies[-1]["args"]["graph node id"] = args["graph node id"] + (1000 << 32)
        return events + copies
    two = rewritten(path, "two.trace.json", on_two_devices)
    devices = {graph["device"] for graph in analyzed(two)["graphs"]["list"]}
    text = run("analyze", str(two), "--graphs").stdout
    check("graphs of two devices have a column", devices == {"0", "1"} and " device " in text.splitlines()[0], (devices, text[:400]))
    [(eager, _)] = simulated(folder, "eager", "--layers", 2, "--steps", 20, "--change", "eager", "--model-size", "tiny")
    check("no graph says so", "no graph was launched\n" in run("analyze", str(eager), "--graphs").stdout)
    check("nor does the first screen name it", "--graphs" not in run("analyze", str(eager)).stdout)
    for option in ("--graphs", "--layers"):
        text = " ".join(run("analyze", str(path), option, "--window", "0:50us").stdout.split())
        check(f"a short window is to blame: {option}", "in this part of the trace; the whole trace may have it" in text, text)


main([models, lost, outputs], __doc__)
