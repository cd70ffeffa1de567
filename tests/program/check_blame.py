#!/usr/bin/env python3
"""What `tacho analyze` says of simulated runs in which a rank is late by a known time: on which rank, by how much, and
that nobody is accused without a delay; the sums, the CSV files, and that the ranks of a large run fit on a screen. What
`findings` and `tacho explain` say of it, and `tacho compare` with a run without the delay.

usage: check_blame.py TACHO [--only NAME ...]
"""
import csv
import json
import math
import pathlib
import re

from scenario import check, main, run


def output_of(*words):
    done = run(*map(str, words))
    check(f"{words[0]} ends well", done.returncode == 0, done.stderr)
    return done.stdout


def simulated(folder, *words):
    output_of("simulate", "trace", "-o", folder, *words)
    return json.loads(output_of("analyze", "--json", folder))


def check_sums(name, blame):
    table = blame["table"]
    suffered, caused = (sum(row[key] for row in table) for key in ("suffered_ns", "caused_ns"))
    check(f"{name}: caused = suffered", suffered == caused == blame["waiting_ns"] > 0, (suffered, caused))
    check(f"{name}: groups add up", sum(group["waiting_ns"] for group in blame["groups"]) == suffered)
    check(f"{name}: causes add up",
          all(sum(cause["ns"] for cause in row["caused_by"]) == row["caused_ns"] for row in table))


def check_findings(name, results):
    """Costs of one whole do not overlap, and add up to what the devices show."""
    findings = [finding for finding in results["findings"] if "cost_ns" in finding]
    devices = [device for trace in results["traces"] for device in trace["devices"]]
    lost = sum(finding["cost_ns"] for finding in findings if finding["of"] == "window")
    check(f"{name}: costs and compute are the window",
          lost + sum(device["compute_ns"] for device in devices) == sum(device["window_ns"] for device in devices), lost)
    check(f"{name}: dearest first", findings == sorted(findings, key=lambda f: (-f["share"], -f["cost_ns"], f["id"])))
    check(f"{name}: shares", all(abs(f["cost_ns"] / f["of_ns"] - f["share"]) < 1e-9 for f in findings))


def without_delay(folder):
    """`compare` of a run without the delay with one that has it."""
    folder = pathlib.Path(folder)
    output_of("simulate", "trace", "-o", folder / "plain", "--ranks", 8, "--seed", 2)
    output_of("simulate", "trace", "-o", folder / "late", "--ranks", 8, "--change", "late-rank@3:300us")
    result = json.loads(output_of("compare", folder / "plain", folder / "late", "--json"))
    change = result["collectives"]
    rank = change["ranks"][0]
    check("compare: on its rank", rank["name"] == "TP3" and rank["cause"] == "idle.between-steps", rank)
    check("compare: by as much", abs(rank["late"]["difference"] - 300_000) < 9_000, rank)
    check("compare: seven of eight ranks wait as long", abs(rank["caused"]["difference"] - 300_000 * 7 / 8) < 9_000, rank)
    check("compare: transfer is the same", abs(change["transfer"]["difference"]) < 3_000, change)
    said = re.search(r"collectives \+\d+ us a step and rank: waiting for TP3 \+\d+ us \(its own idle.between-steps \+30\d us\)", result["verdict"])
    check("compare: the verdict says so", said, result["verdict"])
    output_of("simulate", "trace", "-o", folder / "again", "--ranks", 8, "--seed", 5)
    same = json.loads(output_of("compare", folder / "plain", folder / "again", "--json"))
    check("compare: nobody without a delay", "waiting for" not in same["verdict"] and not same["collectives"]["ranks"], same["verdict"])


def late(folder):
    """One of eight ranks is late by 300 us a step."""
    folder = pathlib.Path(folder) / "late"
    results = simulated(folder, "--ranks", 8, "--change", "late-rank@3:300us")
    straggler, blame = results["verdict"]["straggler"], results["ranks"]["blame"]
    check("late: on its rank", straggler["sign"] == "causes-waiting" and straggler["name"] == "TP3", straggler)
    check("late: by as much", abs(straggler["late_a_step_ns"] - 300_000) < 9_000, straggler)
    check("late: alone", [row["rank"] for row in blame["table"] if row["stands_out"]] == [3])
    check_sums("late", blame)
    text = " ".join(output_of("analyze", folder).split())
    said = re.search(r"([0-9.]+) % of seven ranks' time is waiting for TP3, whose host was late by ([0-9]+) us a step", text)
    check("late: the verdict says so", said and abs(float(said[1]) / 100 - straggler["waiting_share"]) < 1e-3, text[:600])
    check_findings("late", results)
    place, first = next((i, f) for i, f in enumerate(results["findings"]) if f["id"] == "wait.TP3")
    row = blame["table"][3]
    caused = row["caused_ns"] - sum(cause["ns"] for cause in row["caused_by"] if cause["id"] == "launch-pace")
    check("late: its finding", place < 2 and first["cost_ns"] == caused and first["confidence"] == "measured", first)
    check("late: its sentence is in the verdict", first["text"] in results["verdict"]["text"] and said[0] == first["text"], first["text"])
    check("late: its command", first["command"] == "tacho explain RUN finding:wait.TP3", first)
    shown = " ".join(output_of("explain", folder, "finding:wait.TP3").split())
    check("late: explained", "came last in" in shown and "idle time (between-steps)" in shown and first["text"][:40] in shown, shown[:600])
    check("late: explained by its id alone, and by its place",
          output_of("explain", folder, "wait.TP3") == output_of("explain", folder, f"finding:{place + 1}"))
    out = folder / "csv"
    output_of("analyze", folder, "--csv", out)
    rows = list(csv.DictReader((out / "rank_blame.csv").open()))
    check("late: rank_blame.csv", [int(row["caused_ns"]) for row in rows] == [row["caused_ns"] for row in blame["table"]])
    listed = list(csv.DictReader((out / "findings.csv").open()))
    check("late: findings.csv", [row["id"] for row in listed] == [finding["id"] for finding in results["findings"]], listed)
    check("late: its cause", rows[3]["cause"] == "idle.between-steps" and rows[3]["stands_out"] == "yes", rows[3])


def without(folder):
    """No rank is late: nobody is accused."""
    for seed in (1, 2, 3):
        results = simulated(folder, "--ranks", 8, "--seed", seed, "--steps", 100)
        check(f"seed {seed}: nobody", "straggler" not in results["verdict"], results["verdict"].get("straggler"))
        check_sums(f"seed {seed}", results["ranks"]["blame"])
        check_findings(f"seed {seed}", results)
        check(f"seed {seed}: no finding accuses a rank",
              not [f["id"] for f in results["findings"] if f["id"].startswith(("wait.TP", "compute."))], results["findings"])
        pair = simulated(pathlib.Path(folder) / "pair", "--ranks", 2, "--seed", seed)["findings"]
        waits = next(f["text"] for f in pair if f["id"] == "wait.others")
        check(f"seed {seed}: of two that are late by turns no one is named", "no rank stands out" in waits, waits)


def eager(folder):
    """Hosts that launch kernel by kernel: a rank that is behind stays last, which is no lateness."""
    for words in (["--engine", "sglang"], ["--model-size", "small"], ["--model-size", "small", "--requests", 4]):
        for seed in range(1, 7):
            results = simulated(folder, "--ranks", 8, "--steps", 30, "--change", "eager", "--seed", seed, "--load-seed", seed, *words)
            check(f"eager {words} {seed}: nobody", not [row for row in results["ranks"]["blame"]["table"] if row["stands_out"]])
            check_sums(f"eager {words} {seed}", results["ranks"]["blame"])
    for ranks, words in ((4, ["--layers", 32, "--model-size", "small"]), (8, ["--layers", 16]), (8, []), (2, ["--layers", 16])):
        results = simulated(folder, "--ranks", ranks, "--steps", 100, "--seed", 3, "--change", "eager", "--change", "late-rank@1:300us", *words)
        rows = [row for row in results["ranks"]["blame"]["table"] if row["stands_out"]]
        check(f"eager, late {ranks} {words}: its rank alone", [row["rank"] for row in rows] == [1], rows)
        late = rows[0]["late_ns"] / 99
        check(f"eager, late {ranks} {words}: by as much", abs(late - 300_000) < 18_000, late)


def many(folder):
    """The ranks of a large run: the late one, and one line for the others."""
    results = simulated(folder, "--ranks", 64, "--steps", 30, "--layers", 2, "--change", "late-rank@40:400us")
    check("64 ranks: the late one", results["verdict"]["straggler"]["name"] == "TP40", results["verdict"])
    lines = output_of("analyze", folder).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(" RANKS"))
    others = next((i for i, line in enumerate(lines) if "63 others: busy" in line), None)
    check("64 ranks: one line for the others", others is not None and others - first <= 5, lines[first:first + 8])
    check("64 ranks: the late one first", lines[first + 1].startswith(" TP40") and "waited for" in lines[first + 1],
          lines[first:first + 3])
    whole = output_of("analyze", "--ranks", folder)
    check("64 ranks: all in the whole table", all(f"TP{i} " in whole for i in range(64)))


def published(folder):
    """Cases that others found by hand: vllm #53472 (19.07 ms a step "in all-reduce" were waits for a slow host), the classes of
    vllm #52777, Megatron-LM #6468 (233 us a step of slow experts, hidden in a barrier)."""
    for name, change, class_of in (("slow host", "late-rank@3:19070us", "arrival-skew"), ("a little of both", "late-rank@3:300us", "mixed"),
                                   ("slow links", "comm-slower:600", "transfer")):
        results = simulated(pathlib.Path(folder) / name.replace(" ", "-"), "--ranks", 8, "--steps", 100, "--change", change)
        check(f"{name}: {class_of}", results["ranks"]["blame"]["class"] == class_of, results["ranks"]["blame"]["class"])
        straggler = results["verdict"].get("straggler")
        if class_of == "transfer":
            check(f"{name}: nobody", straggler is None, straggler)
        else:
            late = float(re.search(r":(\d+)us", change)[1]) * 1000
            check(f"{name}: TP3 by as much", straggler["name"] == "TP3" and abs(straggler["late_a_step_ns"] - late) < max(5_000, 0.03 * late), straggler)
            if class_of == "arrival-skew":  # as in #53472: the time "in all-reduce" of the seven others, a step after the first
                waits = [row["suffered_ns"] / 99 for row in results["ranks"]["blame"]["table"]]
                check(f"{name}: what the others waited", all(abs(wait / late - 1) < 0.03 for rank, wait in enumerate(waits) if rank != 3), waits)
                check(f"{name}: TP3 waited for nobody", waits[3] < 0.01 * late, waits)
    for change in (["--change", "slow-experts@3:233us"], []):
        run_folder = pathlib.Path(folder) / f"experts{len(change)}"
        experts = simulated(run_folder, "--model-size", "30b-a3b", "--ranks", 8, "--steps", 150, *change)["ranks"]["blame"]["experts"]
        slow = [row for row in experts["table"] if row["stands_out"]]
        if not change:
            check("equal experts: nobody", not slow, slow)
            continue
        check("slow experts: their rank", [row["rank"] for row in slow] == [3], slow)
        check("slow experts: by as much", abs(slow[0]["cost_a_step_ns"] - 233_000) < 7_000, slow)
        check("slow experts: hidden in all-reduces", experts["exchanged"] == 0 and "waits are in all-reduces or barriers" in
              " ".join(output_of("analyze", run_folder).split()), experts["exchanged"])
        out = run_folder / "csv"
        output_of("analyze", run_folder, "--csv", out)
        check("slow experts: a CSV file", any("expert" in path.name for path in out.iterdir()), sorted(path.name for path in out.iterdir()))


def first_step(folder):
    """A step whose beginning is not known takes no part in how late a rank is in a step, whatever made it late."""
    results = simulated(folder, "--model-size", "30b-a3b", "--ranks", 4, "--steps", 12, "--change", "slow-experts@2:400us")
    experts = results["ranks"]["blame"]["experts"]
    longer = experts["table"][2]["longer_ns"] / experts["steps"]
    late = results["verdict"]["straggler"]["late_a_step_ns"]
    check("12 steps: as late a step as its experts are slow", abs(late / longer - 1) < 0.06, (late, longer))


def rewrite_ranks(folder, change):
    """Calls `change` with the rank and the events of each Kineto trace of a folder, and writes what it made of them."""
    for path in sorted(folder.glob("rank*.trace.json")):
        trace = json.loads(path.read_text())
        change(int(re.match(r"rank([0-9]+)", path.name)[1]), trace["traceEvents"])
        path.write_text(json.dumps(trace))


def unsteady_clock(folder):
    """The fourth class of vllm #52777: a clock that wanders leaves it open whether the time was transfer or skew; the charge stays."""
    folder = pathlib.Path(folder) / "run"
    steady = simulated(folder, "--ranks", 2, "--steps", 60, "--change", "late-rank@1:80us")

    def wander(rank, events):
        for event in events if rank == 1 else ():
            event["ts"] = round(event["ts"] + 5 * math.sin(event["ts"] / 20_000), 3)

    rewrite_ranks(folder, wander)
    results = json.loads(output_of("analyze", "--json", folder))
    before, blame = steady["ranks"]["blame"], results["ranks"]["blame"]
    check("steady clock: known", before["class"] == "transfer" and before["collectives_of_class"]["inconclusive"] == 0, before["class"])
    check("unsteady clock: inconclusive", blame["class"] == "inconclusive" and blame["collectives_of_class"]["inconclusive"] > 100 and
          2_000 < blame["residual_ns"] < 5_000, {key: blame[key] for key in ("class", "collectives_of_class", "residual_ns")})
    straggler = results["verdict"]["straggler"]
    check("unsteady clock: TP1 by as much", straggler["name"] == "TP1" and abs(straggler["late_a_step_ns"] - 80_000) < 5_000, straggler)
    check_sums("unsteady clock", blame)


def exchanged(folder):
    """Experts with dispatch and combine: collectives of an expert-parallel group, with the same charge as where an all-reduce follows."""
    words = ("--model-size", "30b-a3b", "--engine", "sglang", "--ranks", 4, "--steps", 60)
    for change in (["--change", "slow-experts@2:233us"], []):
        blame = simulated(pathlib.Path(folder) / f"run{len(change)}", *words, *change)["ranks"]["blame"]
        experts = blame["experts"]
        name = "exchange, slow experts" if change else "exchange, equal experts"
        check(f"{name}: each layer ends in a combine", experts["layers"] == experts["exchanged"] > 0, experts["exchanged"])
        check(f"{name}: a group EP and a group TP", sorted(group["kind"] for group in blame["groups"]) == ["EP", "TP"], blame["groups"])
        check(f"{name}: within the waiting", sum(row["caused_ns"] for row in experts["table"]) == experts["waiting_ns"] <= blame["waiting_ns"])
        slow = [row for row in experts["table"] if row["stands_out"]]
        check(f"{name}: who", [row["rank"] for row in slow] == ([2] if change else []), slow)
        check(f"{name}: by as much", not change or abs(slow[0]["longer_ns"] / experts["steps"] - 233_000) < 7_000, slow)


def bandwidths(folder):
    """NCCL's all-gathers of a run, with the arguments that PyTorch gives them: bandwidths of the transfer alone, by nccl-tests' factors."""
    folder, ranks, shortest, calls = pathlib.Path(folder) / "run", 4, {}, 0
    output_of("simulate", "trace", "-o", folder, "--ranks", ranks, "--steps", 40, "--change", "late-rank@1:300us")

    def name_sizes(_, events):
        nonlocal calls
        kernels = sorted((event for event in events if event.get("cat") == "kernel" and "AllGather" in event["name"]), key=lambda event: event["ts"])
        calls = len(kernels)
        for i, kernel in enumerate(kernels):
            elements = 1_000_000 if i % 4 else 3_000_000
            kernel["args"] |= {"Collective name": "_allgather_base", "In msg nelems": elements, "Out msg nelems": elements * ranks,
                               "Group size": ranks, "dtype": "BFloat16", "Process Group Name": "tp:planted-name",
                               "Process Group Ranks": str(list(range(ranks))), "Seq": i}
            shortest.setdefault((elements * ranks * 2, i), []).append(round(kernel["dur"] * 1000))

    rewrite_ranks(folder, name_sizes)
    sizes = json.loads(output_of("analyze", "--json", folder))["ranks"]["blame"]["sizes"]
    check("bandwidths: two sizes", sorted(row["bytes"] for row in sizes) == [8_000_000, 24_000_000], sizes)
    check("bandwidths: all calls", sum(row["count"] for row in sizes) == calls == 40, sizes)
    for row in sizes:
        parts = sorted(min(durations) for (size, _), durations in shortest.items() if size == row["bytes"])
        check(f"{row['bytes']} bytes: transfer without waiting", row["transfer_ns"] == parts[(len(parts) - 1) // 2] and
              row["transfer_sum_ns"] == sum(parts), (row, parts))
        check(f"{row['bytes']} bytes: algbw", math.isclose(row["algbw_gigabytes_per_second"], row["bytes"] / row["transfer_ns"], rel_tol=1e-3), row)
        check(f"{row['bytes']} bytes: busbw", math.isclose(row["busbw_gigabytes_per_second"], row["bytes"] / row["transfer_ns"] * 3 / 4, rel_tol=1e-3), row)
        check(f"{row['bytes']} bytes: what", (row["op"], row["group"], row["ranks"]) == ("all-gather", "TP", ranks), row)
    lines = [line for line in output_of("analyze", folder).splitlines() if line.startswith(" all-gather")]
    check("bandwidths: on the screen", len(lines) == 2, lines)
    out = folder / "csv"
    output_of("analyze", folder, "--csv", out)
    rows = list(csv.DictReader((out / "collective_sizes.csv").open()))
    check("bandwidths: collective_sizes.csv", [int(row["transfer_ns"]) for row in rows] == [row["transfer_ns"] for row in sizes], rows)
    for redact in ([], ["--redact"]):
        names = [group.get("name", "") for group in json.loads(output_of("report", "--json", *redact, folder))["ranks"]["blame"]["groups"]]
        check(f"bandwidths: names of groups {redact}", any(names) and ("tp:planted-name" in names) == (not redact), names)


if __name__ == "__main__":
    main([eager, late, without, first_step, many, without_delay, published, unsteady_clock, exchanged, bandwidths], __doc__)
