#!/usr/bin/env python3
"""`tacho analyze --ray`, and compare, report, explain and view, on real Ray clusters of three nodes in namespaces of this machine (ray_rig.py): results as from one machine, nodes
that die, hang or fill up, slow links, tokens, an old Ray and one without a dashboard, Ctrl-C; nothing is left. Needs root, `tools/engines install ray` and the static program
(`tools/static_build`).

usage: check_ray_cluster.py TACHO [--only NAME ...]
"""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / p) for p in ("tests/program", "tests/support", "tools")]
import scenario  # noqa: E402
from check_ray import without_paths  # noqa: E402
from corpus import corpus  # noqa: E402
from engines_lib import environments  # noqa: E402
from ray_rig import GROUPS, Cluster, missing  # noqa: E402
from scenario import Skipped, check, run, wait_for  # noqa: E402

STATIC = Path(os.environ.get("TACHO_STATIC") or ROOT / "build/static/tacho")
RECORDED = ROOT / "tests/data/vllm-cpu/tp2"


def cluster(folder, ray="ray", **more):
    """A cluster with the named Ray of tools/engines; its nodes 1 and 2 have traces of one engine each."""
    if why := missing():
        raise Skipped(why)
    if not STATIC.exists():
        raise Skipped("there is no static program: tools/static_build makes it")
    try:
        python = environments.find(ray)
    except environments.EnginesError as none:
        raise Skipped(str(none)) from None
    rig = Cluster(folder, python.parent / "ray", **more)
    for node in (1, 2):
        done = run("simulate", "trace", "-o", rig.traces(node) / "profile", "--steps", "40", "--ranks", "2", "--seed", str(node))
        assert done.returncode == 0, done.stderr
        for truth in rig.traces(node).rglob("*truth.json"):
            truth.unlink()
    # The same path: a trace on one node, and one that never ends on the other.
    shutil.copy(next((rig.traces(1) / "profile").glob("rank0*")), rig.traces(1) / "one.json")
    os.mkfifo(rig.traces(2) / "one.json")
    return rig


def words(rig, *arguments, command="analyze", program=STATIC):
    return [scenario.TACHO, command, "--ray", rig.address, "--ray-program", program, *arguments]


def analyze(rig, *arguments, environment=None, **more):
    began = time.monotonic()
    done = rig.outside(words(rig, *arguments, **more), capture_output=True, text=True, timeout=300, env={**os.environ, "HOME": str(rig.folder), **(environment or {})})
    print(f"  {more.get('command', 'analyze')} {' '.join(str(a) for a in arguments)}: status {done.returncode} after {time.monotonic() - began:.1f} s", flush=True)
    return done


def jobs_of(rig):
    token = rig.environment.get("RAY_AUTH_TOKEN")
    done = rig.outside(["curl", "-s", "-m", "10", f"{rig.address}/api/jobs/"] + (["-H", f"Authorization: Bearer {token}"] if token else []),
                       capture_output=True, text=True)
    return [job["submission_id"] for job in json.loads(done.stdout) if (job["submission_id"] or "").startswith("tacho-")]


def nothing_left(what, rig, nodes=(0, 1, 2)):
    check(f"{what}: no job is left", jobs_of(rig) == [], jobs_of(rig))
    folders = [str(p) for node in nodes for logs in rig.logs(node) for p in logs.glob("tacho-*")]
    check(f"{what}: no folder is left", folders == [], folders)
    running = subprocess.run(["pgrep", "-fa", "^./tacho (analyze|__node)"], capture_output=True, text=True).stdout
    check(f"{what}: no program runs", running == "", running)


def same(what, rig, there, here, places):
    """The output is that of one machine, but for paths, which tables cut to what differs, and proposed commands."""
    of_one, of_nodes = here.stdout, there.stdout
    for node, _ in places:
        of_nodes = of_nodes.replace(f"node-{node}:/traces", str(rig.traces(node)))
    if of_one.startswith("{"):
        check(f"{what}: byte for byte", of_one == of_nodes, [pair for pair in zip(of_one.splitlines(), of_nodes.splitlines()) if pair[0] != pair[1]][:3])
    else:
        of_one, of_nodes = without_paths(of_one), without_paths(of_nodes)
        check(f"{what}: the same screen", of_one and of_one == of_nodes, [pair for pair in zip(of_one, of_nodes) if pair[0] != pair[1]][:3])
    check(f"{what}: the same status", here.returncode == there.returncode, (here.returncode, there.returncode, there.stderr))


def three_nodes(folder):
    with cluster(folder) as rig:
        shutil.copytree(RECORDED, rig.traces(1) / "recorded")
        places = [(1, rig.traces(1) / "profile"), (2, rig.traces(2) / "profile")]
        for screen in (["--json"], [], ["--markdown"]):
            same(" ".join(screen), rig, analyze(rig, *screen, "--session", "all", "/traces/profile"), run("analyze", *screen, *[p for _, p in places]), places)
        same("one node", rig, analyze(rig, "--json", "/traces/recorded"), run("analyze", "--json", rig.traces(1) / "recorded"), [(1, "")])
        if real := corpus("results of real engines on a cluster"):
            for node, name in ((1, "live-vllm-cpu"), (2, "live-sglang-cpu")):
                shutil.copytree(real / name, rig.traces(node) / "real")
            places = [(node, rig.traces(node) / "real") for node in (1, 2)]
            same("real engines", rig, analyze(rig, "--json", "--session", "all", "/traces/real"), run("analyze", "--json", "--session", "all", *[p for _, p in places]), places)
        nothing_left("three nodes", rig)
        other_commands(rig)
        viewed(rig)
        hostile_traces(rig)
        no_permission(rig)
        other_versions(rig)
        slow_link(rig)

        odd = rig.traces(1) / "odd"
        odd.mkdir()
        shutil.copy(rig.traces(1) / "one.json", os.fsencode(odd) + b"/it's \xff $(x)\n.json")
        done = analyze(rig, "--json", "/traces/odd")
        check("a name with odd bytes", done.returncode == 4 and "rank 1 of world size 2 is missing" in done.stderr and len(json.loads(done.stdout)["traces"]) == 1, (done.returncode, done.stderr))
        done = analyze(rig, "/traces/none")
        check("no file there", done.returncode == 3 and "on every node: /traces/none" in done.stderr, (done.returncode, done.stderr))
        began = time.monotonic()
        done = rig.outside([scenario.TACHO, "analyze", "--ray", "http://10.77.0.99:8265", "--ray-program", STATIC, "/traces"], capture_output=True, text=True)
        check("no Ray there, within 5 s", done.returncode == 6 and "no dashboard of Ray answers" in done.stderr and time.monotonic() - began < 5.5,
              (done.returncode, done.stderr, time.monotonic() - began))
        nothing_left("bad input", rig)
        interrupted(rig)
        all_cpus_taken(rig)
        lost(rig)


def viewed(rig):
    """view: fetches, shows and removes; --fetch-to keeps."""
    kept, place = rig.folder / "kept", rig.folder / "view-tmp"
    place.mkdir()
    for more in ([], ["--fetch-to", kept]):
        done = analyze(rig, "/traces/profile", "--session", "all", "--rank", "1", "--no-open", "--idle-exit", "1s", *more, command="view", environment={"TMPDIR": str(place)})
        check(f"view {more}", done.returncode == 0 and "fetching 2 traces of" in done.stderr and "?token=" in done.stdout, (done.returncode, done.stderr))
        check(f"view {more}: nothing stays in $TMPDIR", list(place.iterdir()) == [], list(place.iterdir()))
        nothing_left(f"view {more}", rig)
    came = sorted(p.relative_to(kept) for p in kept.rglob("rank*") if p.is_file())
    there = sorted(Path(f"node-{node}") / "traces" / p.relative_to(rig.traces(node)) for node in (1, 2) for p in (rig.traces(node) / "profile").glob("rank1*"))
    check("view: rank 1 of each engine", came == there, (came, there))


def other_commands(rig):
    """compare and report: what they say about all traces in one folder."""
    one = rig.folder / "one"
    for node in (1, 2):
        done = run("simulate", "trace", "-o", rig.traces(node) / "before", "--steps", "30", "--ranks", "2", "--seed", str(node + 7))
        assert done.returncode == 0, done.stderr
        for truth in (rig.traces(node) / "before").glob("*truth.json"):
            truth.unlink()
        for side in ("before", "profile"):
            shutil.copytree(rig.traces(node) / side, one / side / f"node-{node}")
    sides = [one / "before", one / "profile"]
    for command, places, more in (("compare", sides, ["--json"]), ("compare", sides, ["--markdown"]), ("report", sides[1:], ["--json"]),
                                  ("report", sides[1:], ["--markdown"]), ("explain", [*sides[1:], "finding:1"], ["--json"])):
        here = run(command, *places, "--session", "all", *more)
        there = analyze(rig, *[str(p).replace(str(one), "/traces") for p in places], "--session", "all", *more, command=command)
        wanted, got = (done.stdout.replace("\\_", "_") for done in (here, there))  # as Markdown writes it
        wanted = re.sub(rf"{one}/(before|profile)/(node-\d)", r"\2:/traces/\1", wanted).replace(str(one), "/traces").splitlines()
        got = got.replace(f" --ray {rig.address} --ray-program {STATIC}", "").splitlines()
        if (command, *more) == ("report", "--markdown"):
            wanted, got = (without_paths("\n".join(text)) for text in (wanted, got))
        check(f"{command} {more[0]}: the same", len(wanted) > 3 and wanted == got, [pair for pair in zip(wanted, got) if pair[0] != pair[1]][:3])
        check(f"{command} {more[0]}: the same status", here.returncode == there.returncode, (here.returncode, there.returncode, there.stderr))
    nothing_left("other commands", rig)


def hostile_traces(rig):
    """Names of kernels with bytes that no text has, and with those that terminals and JSON take for their own."""
    rank = next((rig.traces(1) / "profile").glob("rank0*")).read_bytes()
    kernel = re.search(rb'"cat":\s*"kernel",\s*"name":\s*("[^"]+")', rank)[1]
    (rig.traces(1) / "hostile").mkdir()
    (rig.traces(1) / "hostile/rank0.json").write_bytes(rank.replace(kernel, b'"\xff\xfe\\u0000\\u001b[2J\\ud800</script>\\"\\\\ "'))
    for screen in (["--json"], []):
        same(f"hostile names {' '.join(screen)}", rig, analyze(rig, *screen, "/traces/hostile"), run("analyze", *screen, rig.traces(1) / "hostile"), [(1, "")])


def no_permission(rig):
    for closed in ("closed/file", "closed/folder"):
        shutil.copytree(rig.traces(1) / "profile", rig.traces(1) / closed)
        shutil.copytree(rig.traces(2) / "profile", rig.traces(2) / closed)
    file = next((rig.traces(1) / "closed/file").glob("rank1*"))
    file.chmod(0)
    (rig.traces(1) / "closed/folder").chmod(0)
    done = analyze(rig, "--json", "--session", "all", "/traces/closed/file")
    check("a file without permission", done.returncode == 4 and re.search(rf"node-1:/traces/closed/file/{file.name}: no permission to read it", done.stderr)
          and len(json.loads(done.stdout)["traces"]) == 3, (done.returncode, done.stderr))
    done = analyze(rig, "--json", "--session", "all", "/traces/closed/folder")
    check("a folder without permission", done.returncode == 4 and re.search(r"node-1 .*/traces/closed/folder.*[Pp]ermission denied", done.stderr)
          and len(json.loads(done.stdout)["traces"]) == 2, (done.returncode, done.stderr))
    (rig.traces(1) / "closed/folder").chmod(0o755)


def other_versions(rig):
    """Two programs that differ, as of two versions: each has a package of its own, whichever came first."""
    other = rig.folder / "another-version"
    other.write_bytes(STATIC.read_bytes() + b"\0")
    other.chmod(0o755)
    for program in (other, STATIC, other):
        began = time.monotonic()
        done = analyze(rig, "--json", "/traces/recorded", program=program)
        check("another version", done.returncode == 0, (done.returncode, done.stderr))
    packages = [p.name for node in (1,) for p in (rig.logs(node)[0].parent / "runtime_resources/working_dir_files").glob("_ray_pkg_*") if p.is_dir()]
    check("each version has its package", len(packages) == 2, (packages, began))


def slow_link(rig):
    """The results need more than 30 s, after which Ray would cut a transfer that does not ask for more."""
    bytes_of = len(run("analyze", "--json", "--digests", rig.traces(1) / "profile").stdout)
    shutil.copytree(rig.traces(1) / "profile", rig.traces(1) / "slow")
    rig.slow(bytes_of // 40)
    began = time.monotonic()
    there = analyze(rig, "--json", "/traces/slow")
    rig.slow(None)
    check("the transfer took more than 30 s", time.monotonic() - began > 38, time.monotonic() - began)
    same("a slow link", rig, there, run("analyze", "--json", rig.traces(1) / "slow"), [(1, "")])


def when_analysing(rig, *arguments):
    """A run whose second node is at work."""
    process = rig.outside_popen(words(rig, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ready = wait_for(lambda: subprocess.run(["pgrep", "-f", "^./tacho analyze .*one.json"], capture_output=True).returncode == 0
                     and not any("-analyze-1" in job and "RUNNING" in job for job in jobs_of(rig)), 60, 0.3)
    check("it analyses", ready)
    return process


def interrupted(rig):
    process = when_analysing(rig, "/traces/one.json")
    # nsenter hands the signal to nobody: its child is the program itself.
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=90)
    check("Ctrl-C: status 130", process.returncode == 130 and out == "", (process.returncode, err))
    nothing_left("Ctrl-C", rig)


def driver_on(rig, program):
    """A driver of Ray on the head."""
    return subprocess.Popen(rig.words_in(0, [rig.ray.parent / "python", "-c", program]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "RAY_ADDRESS": f"{rig.ip(0)}:6379"})


def all_cpus_taken(rig):
    hold = ("import ray, time\n@ray.remote(num_cpus=1)\nclass Engine:\n    def up(self): return 1\nray.init(logging_level='ERROR')\n"
            "held = [Engine.remote() for _ in range(6)]\nray.get([e.up.remote() for e in held])\nprint('held', flush=True)\ntime.sleep(600)\n")
    driver = driver_on(rig, hold)
    try:
        check("engines hold all CPUs", driver.stdout.readline() == "held\n")
        done = analyze(rig, "--json", "--session", "all", "/traces/profile")
        check("all CPUs taken", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 4, (done.returncode, done.stderr))
    finally:
        driver.kill()
        driver.wait()


def lost(rig):
    for what, fault, most in (("node hangs", rig.hang, 100), ("cable cut", rig.unplug, 100), ("node killed", rig.kill, 60)):
        process = when_analysing(rig, "--json", "/traces/one.json")
        began = time.monotonic()
        fault(2)
        out, err = process.communicate(timeout=200)
        print(f"  {what}: said after {time.monotonic() - began:.1f} s: {err.strip()[:300]}", flush=True)
        check(f"{what}: status 4, named", process.returncode == 4 and re.search(r"node-2 \(10\.77\.0\.3\): Ray lost the job", err), (process.returncode, err))
        check(f"{what}: soon", time.monotonic() - began < most, time.monotonic() - began)
        check(f"{what}: the rest is there", [t["path"] for t in json.loads(out)["traces"]] == ["node-1:/traces/one.json"], out[:300])
        check(f"{what}: no folder is left", [p for node in (0, 1) for logs in rig.logs(node) for p in logs.glob("tacho-*")] == [])
        if fault != rig.kill:
            if fault == rig.unplug:
                rig.plug(2, "up")
                wait_for(lambda: rig.processes[2].poll() is not None, 60)
            else:
                rig.kill(2)
            rig.start(2)
            time.sleep(20)  # the dashboard's list is some seconds old: it may still have the former node
            rig.wait(3)


def token(folder):
    secret = "a-token-of-the-cluster-0123456789"
    with cluster(folder, environment={"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secret}) as rig:
        done = analyze(rig, "/traces/profile")
        check("no token", done.returncode == 6 and "wants a token" in done.stderr, (done.returncode, done.stderr))
        done = analyze(rig, "/traces/profile", environment={"RAY_AUTH_TOKEN": "wrong-" + secret})
        check("a wrong token", done.returncode == 6 and "refuses the token" in done.stderr and secret not in done.stderr, (done.returncode, done.stderr))
        done = analyze(rig, "--json", "--session", "all", "/traces/profile", environment={"RAY_AUTH_TOKEN": secret})
        check("the token", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 4 and secret not in done.stdout + done.stderr,
              (done.returncode, done.stderr))
        nothing_left("token", rig)


def short_nodes(folder):
    """Little memory beside an engine, which must survive; a full disk."""
    if not (GROUPS / "memory.limit_in_bytes").exists():
        raise Skipped("there is no memory controller of cgroup 1 here")
    engine = ("import ray, time\n@ray.remote(num_cpus=1, resources={'node:10.77.0.2': 0.001})\nclass Engine:\n"
              "    def __init__(self): self.held = bytearray(b'x') * (700 << 20)\n    def up(self): return 1\nray.init(logging_level='ERROR')\n"
              "e = Engine.remote()\nray.get(e.up.remote())\nprint('held', flush=True)\ninput()\nprint(ray.get(e.up.remote()), flush=True)\n")
    with cluster(folder, memory={1: 1600 << 20}, disk={2: 200 << 20}) as rig:
        shutil.copytree(rig.traces(1) / "profile", rig.traces(0) / "profile")
        driver = driver_on(rig, engine)
        try:
            check("an engine holds memory", driver.stdout.readline() == "held\n")
            subprocess.run(rig.words_in(2, ["dd", "if=/dev/zero", "of=/tmp/ray/filler", "bs=1M"]), stderr=subprocess.DEVNULL)
            done = analyze(rig, "--json", "/traces/profile")
            check("memory is short", re.search(r"node-1 \(10\.77\.0\.2\): of its memory \d+ MB of \d+ are free: too little", done.stderr), done.stderr)
            check("the disk is full", re.search(r"node-2 \(10\.77\.0\.3\): .*(No space left on device|; the disk with /tmp/ray\S+ has \d+ MB free)", done.stderr), done.stderr)
            check("the rest is there", done.returncode == 4 and {t["path"].split(":")[0] for t in json.loads(done.stdout)["traces"]} == {"node-0"},
                  (done.returncode, done.stdout[:300]))
            driver.stdin.write("\n")
            driver.stdin.flush()
            check("the engine lives", driver.stdout.readline() == "1\n")
        finally:
            driver.kill()
            driver.wait()


def memory_reached(folder):
    """A trace that needs more memory than an engine leaves on its node: the others are analysed, and the engine lives."""
    if not (GROUPS / "memory.limit_in_bytes").exists():
        raise Skipped("there is no memory controller of cgroup 1 here")
    engine = ("import ray, sys\n@ray.remote(num_cpus=1, resources={'node:10.77.0.2': 0.001})\nclass Engine:\n"
              "    def hold(self, size): self.held = bytearray(b'x') * size; return 1\nray.init(logging_level='ERROR')\n"
              "e = Engine.remote()\nray.get(e.hold.remote(1))\nprint('up', flush=True)\n"
              "for line in sys.stdin: print(ray.get(e.hold.remote(int(line))), flush=True)\n")
    limit, left = 2000 << 20, 640 << 20
    with cluster(folder, memory={1: limit}) as rig:
        # As many names, none of them twice.
        begin, events = next((rig.traces(1) / "profile").glob("rank1*")).read_bytes().split(b'"traceEvents": [', 1)
        with gzip.open(rig.traces(1) / "profile/rank1_big.json.gz", "wb", 1) as big:
            big.write(begin + b'"traceEvents": [')
            for number in range(450_000):
                big.write(b'{"ph":"X","cat":"cpu_op","name":"%s%d","pid":1,"tid":1,"ts":%d,"dur":1},' % (b"n" * 2000, number, 1_000_000 + number))
            big.write(events)
        driver = driver_on(rig, engine)
        try:
            check("an engine is there", driver.stdout.readline() == "up\n")
            used = int((rig._group(1) / "memory.usage_in_bytes").read_text())
            files = re.search(r"total_inactive_file (\d+)", (rig._group(1) / "memory.stat").read_text())
            driver.stdin.write(f"{limit // 10 * 9 - (used - int(files[1])) - left}\n")
            driver.stdin.flush()
            check("it holds memory", driver.stdout.readline() == "1\n")
            done = analyze(rig, "--json", "--session", "all", "/traces/profile")
            check("a trace that needs more memory is named", done.returncode == 4 and re.search(r"node-1:/traces/profile/rank1_big.json.gz: .*memory", done.stderr), (done.returncode, done.stderr))
            check("the rest is there", [t["path"].split(":")[0] for t in json.loads(done.stdout)["traces"]] == ["node-1"] * 2 + ["node-2"] * 2, done.stdout[:300])
            driver.stdin.write("1\n")
            driver.stdin.flush()
            check("the engine lives", driver.stdout.readline() == "1\n")
            nothing_left("memory reached", rig)
        finally:
            driver.kill()
            driver.wait()


def without_dashboard(folder):
    """Ray that was installed without its dashboard: a driver in Python does the jobs, on a node of the cluster."""
    with cluster(folder, ray="ray-minimal", dashboard=False) as rig:
        began = time.monotonic()
        done = analyze(rig, "/traces/profile")
        check("from outside", done.returncode == 6 and "no dashboard of Ray answers" in done.stderr and "ray[default]" in done.stderr, (done.returncode, done.stderr))
        check("within 5 s", time.monotonic() - began < 5.5, time.monotonic() - began)

        def on_head(*arguments, address=f"{rig.ip(0)}:6379"):
            return subprocess.Popen(rig.words_in(0, [scenario.TACHO, "analyze", "--ray", address, "--ray-program", STATIC, *arguments]),
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env={**os.environ, "HOME": str(rig.folder), "PATH": f"{rig.ray.parent}:{os.environ['PATH']}"})

        def ended(process, what, nodes=(0, 1, 2)):
            out, err = process.communicate(timeout=200)
            print(f"  {what}: status {process.returncode} after {time.monotonic() - began:.1f} s", flush=True)
            folders = [str(p) for node in nodes for logs in rig.logs(node) for p in [*logs.glob("tacho-*"), *logs.glob("job-driver-tacho-*")]]
            check(f"{what}: nothing is left", folders == [], folders)
            check(f"{what}: no program runs", subprocess.run(["pgrep", "-fa", "^./tacho (analyze|__node)|driver.py"], capture_output=True, text=True).stdout == "")
            return subprocess.CompletedProcess([], process.returncode, out, err)

        for address in (f"{rig.ip(0)}:6379", "auto"):
            began = time.monotonic()
            there = ended(on_head("--json", "--session", "all", "/traces/profile", address=address), f"--ray {address}")
            same("without a dashboard", rig, there, run("analyze", "--json", "--session", "all", *[rig.traces(node) / "profile" for node in (1, 2)]), [(1, ""), (2, "")])
        for what, fault, status in (("Ctrl-C", None, 130), ("node killed", rig.kill, 4)):
            began = time.monotonic()
            process = on_head("--json", "/traces/one.json")
            check("it analyses", wait_for(lambda: subprocess.run(["pgrep", "-f", "^./tacho analyze .*one.json"], capture_output=True).returncode == 0, 60, 0.3))
            time.sleep(5)
            if fault:
                fault(2)
            else:
                (program,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                os.kill(int(program), signal.SIGINT)
            done = ended(process, what, (0, 1) if fault else (0, 1, 2))
            check(f"{what}: status {status}", done.returncode == status, (done.returncode, done.stderr))
            if fault:
                check(f"{what}: named, the rest is there", re.search(r"node-2 \(10\.77\.0\.3\): Ray lost the job", done.stderr)
                      and [t["path"] for t in json.loads(done.stdout)["traces"]] == ["node-1:/traces/one.json"], (done.stderr, done.stdout[:300]))


def old_ray(folder):
    with cluster(folder, ray="ray-old") as rig:
        places = [(node, rig.traces(node) / "profile") for node in (1, 2)]
        same("Ray 2.44", rig, analyze(rig, "--json", "--session", "all", "/traces/profile"), run("analyze", "--json", *[p for _, p in places]), places)
        nothing_left("Ray 2.44", rig)


if __name__ == "__main__":
    scenario.main([three_nodes, token, short_nodes, memory_reached, without_dashboard, old_ray], __doc__)
