#!/usr/bin/env python3
"""tacho doctor: simulated engines in every state, command lines, logs, recordings, traces, this host, and bad input; and
docs/doctor/, which it writes.

usage: check_doctor.py TACHO [--only NAME ...]
"""
import contextlib
import filecmp
import gzip
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys

import jsonschema

import fake_engine
import processes
import scenario
from scenario import check, main, run, simulation, target

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/engine-logs"
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/doctor.schema.json").read_text()))
SAFE = '{"profiler":"torch","torch_profiler_dir":"/tmp","torch_profiler_with_stack":false,"torch_profiler_use_gzip":false,' \
       '"torch_profiler_dump_cuda_time_total":false,"ignore_frontend":true}'


def parsed(what, text):
    result = json.loads(text)
    errors = [error.message for error in SCHEMA.iter_errors(result)]
    check(f"{what}: docs/doctor.schema.json", not errors, errors[:3])
    return result


def doctor(what, *arguments, status=None):
    """Its JSON: ids of findings, and the status of each check."""
    done = run("doctor", "--json", "--no-progress", *arguments)
    if status is not None:
        check(f"{what}: status {status}", done.returncode == status, f"{done.returncode} {done.stderr} {done.stdout}")
    result = parsed(what, done.stdout)
    result["ids"] = [f["id"] for f in result["findings"]]
    result["status"] = {c["id"]: c["status"] for c in result["checks"]}
    return result


def has(what, result, found=(), not_found=(), statuses=None):
    check(f"{what}: found", set(found) <= set(result["ids"]), f"{found} in {result['ids']}")
    check(f"{what}: not found", not set(not_found) & set(result["ids"]), f"{not_found} in {result['ids']}")
    for page, status in (statuses or {}).items():
        check(f"{what}: {page} is {status}", result["status"].get(page) == status, result["status"])


def pages(folder):
    done = run("doctor", "--pages", folder + "/pages")
    check("pages", done.returncode == 0, done.stderr)
    written, kept = {p.name for p in pathlib.Path(folder, "pages").iterdir()}, {p.name for p in (ROOT / "docs/doctor").iterdir()}
    check("pages: those of docs/doctor", written == kept, written ^ kept)
    _, differ, missing = filecmp.cmpfiles(folder + "/pages", ROOT / "docs/doctor", kept & written, shallow=False)
    check("pages: docs/doctor is up to date: tacho doctor --pages docs/doctor", not differ and not missing, differ)
    page = run("doctor", "--explain", "d6").stdout
    check("explain", "nothing to do with NCCL" in " ".join(page.split()))
    check("explain: as wide as the help", max(map(len, page.splitlines())) <= 80, page)
    two = run("doctor", "--explain", "stacks-unbounded").stdout
    check("explain: by a finding's id", two.startswith("2 pages have stacks-unbounded: D13, D42\n") and two.count("how it is known") == 2, two)
    died = run("doctor", "--explain", "engine-died").stdout
    check("explain: an end that nothing names", died.startswith("D49 ") and died.count("how it is known") == 1, died)
    near = run("doctor", "--explain", "stack-unbounded")
    check("explain: a near name", near.returncode == 2 and "did you mean stacks-unbounded?" in near.stderr, near.stderr)


def clean_engine(folder):
    with simulation(folder, "--profiler-config", SAFE.replace("/tmp", folder), "--dev-mode") as addresses:
        url = target(addresses)[0]
        def files():  # but for tacho's own folder for locks
            return {p for p in pathlib.Path(folder).rglob("*") if p != pathlib.Path(folder, "tacho")}
        before = files()
        result = doctor("clean engine", url, status=0)
        check("clean engine: nothing that spoils a recording",
              all(f["severity"] in ("info", "notice") for f in result["findings"]), result["findings"])
        has("clean engine", result, (), ("profiler-off", "stacks-unbounded"), {"D01": "clear", "D37": "clear", "D33": "cannot-look"})
        why = [c["why"] for c in result["checks"] if c["id"] == "D33"]
        check("clean engine: says what it cannot look at", why and "command line" in why[0], why)
        check("clean engine: changes nothing", before == files(), files() - before)
        text = run("doctor", url).stdout
        check("clean engine: text", "looked at" in text and "cannot look" in text and " clear" in text, text)


def broken_engines(folder):
    """Each fault and its finding."""
    for name, options, found in (
            ("profiler off", ("--profiler-config", "{}"), "profiler-off"),
            ("stacks", ("--profiler-config", SAFE.replace('_stack":false', '_stack":true'), "--dev-mode"), "stacks-unbounded"),
            ("wrong folder", ("--profiler-config", SAFE.replace("/tmp", "/nowhere/at/all"), "--dev-mode"), "folder-not-seen"),
            ("schedule", ("--engine-version", "0.18.0", "--profiler-config", SAFE.replace("{", '{"warmup_iterations":2,')),
             "auto-stop-silent"),
            ("old sglang", ("--engine", "sglang", "--engine-version", "0.5.14"), "one-step-less"),
            ("unhealthy", ("--fault", "unhealthy"), "engine-dead"),
            ("proton", ("--profiler-config", '{"profiler":"proton","proton_profiler_dir":"/tmp"}', "--dev-mode"), "proton-not-read"),
            ("bounded", ("--profiler-config", SAFE.replace("{", '{"max_iterations":5,'), "--dev-mode"), "own-bound")):
        with simulation(f"{folder}/{name.replace(' ', '')}", *options) as addresses:
            result = doctor(name, *target(addresses))
            has(name, result, (found,))
            status = run("doctor", *target(addresses)).returncode
            worst = {f["severity"] for f in result["findings"]}
            expected = 4 if worst & {"blocking", "incomplete"} else 0
            check(f"{name}: exit status", status == expected, f"{status}, not {expected}: {worst}")


def sessions(folder):
    with simulation(folder) as addresses:
        url = target(addresses)[0]
        check("sessions: start", run("engine", "start", url).returncode == 0)
        has("open session", doctor("open session", url, status=4), ("open-session",), (), {"D56": "found"})
        run("engine", "stop", url)
        has("closed session", doctor("closed session", url, status=0), (), ("open-session",))
        run("engine", "sleep", url)
        asleep = doctor("asleep", url, status=4)
        has("asleep", asleep, ("engine-asleep",), (), {"D37": "found"})
        remedies = [f["remedy"] for f in asleep["findings"] if f["id"] == "engine-asleep"]
        check("asleep: the whole command", remedies == [f"wake it: tacho engine wake {url}"], remedies)


def held(folder):
    """Under a hold its own lock stands in no way."""
    with simulation(folder) as addresses:
        url = target(addresses)[0]
        with processes.running([scenario.TACHO, "engine", "hold", url, "--for", "50s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as hold:
            said = ""
            while "holding" not in said:
                line = hold.stderr.readline()
                if not line:
                    break
                said += line
            check("hold: says when it ends", "released after 50s, or by Ctrl-C" in said, said)
            has("beside a hold", doctor("beside a hold", url, status=4), ("being-profiled",))
            os.environ["TACHO_HOLD"] = str(hold.pid)
            try:
                has("under a hold", doctor("under a hold", url, status=0), (), ("being-profiled",))
            finally:
                del os.environ["TACHO_HOLD"]


def router(folder):
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        result = doctor("router", *target(addresses))
        has("router", result, ("router-forwards",), (), {"D02": "found"})
        log = pathlib.Path(folder, "launch.log")
        log.write_text(f"Router launched at {target(addresses)[0].removeprefix('http://')}\n")
        has("launch log", doctor("launch log", str(log)), ("router-forwards",))
        urls = pathlib.Path(folder, "urls")
        urls.write_text("".join(w["url"] + "\n" for w in addresses["workers"]))
        has("list", doctor("list", str(urls)), (), ("router-forwards",), {"D02": "clear"})


def several(folder):
    """One that does not answer hides nothing of the others."""
    with simulation(folder, "--profiler-config", SAFE.replace("/tmp", folder), "--dev-mode") as addresses:
        url, dead = target(addresses)[0], "http://127.0.0.1:1"
        result = doctor("several", dead, url, status=6)
        cannot = [l for l in result["looked"] if "cannot" in l and l["at"] == dead]
        check("several: the dead one", cannot and cannot[0]["by"] == "engine", result["looked"])
        check("several: the other", any(url in l["at"] and "cannot" not in l for l in result["looked"]), result["looked"])
        check("several: the address once", cannot and "127.0.0.1" not in cannot[0]["cannot"], cannot)
        text = " ".join(run("doctor", dead, url).stdout.split())
        check("several: it is said first", f"could not examine {dead}: why is below" in text.split(" looked at ")[0], text)
        check("several: how to see what is not decided", "not decided (--json says why)" in text and "do not apply" in text, text)
    log = str(DATA / "vllm-0.32-unknown-key.log")
    has("several, with a finding", doctor("several, with a finding", dead, log, status=4), ("config-key-unknown",))


def stray_agent(folder):
    """An agent whose own nsys does not list its session: a copied shell, which runs the script `sessions` of its folder."""
    nsys, script = pathlib.Path(folder, "nsys"), pathlib.Path(folder, "sessions")
    shutil.copy("/bin/sh", nsys)
    command = [str(nsys), "-c", "while :; do sleep 0.2; done", "nsys", "--start-agent", "--session-name=gone"]
    with processes.running(command) as agent:
        for listed, found in (("other", True), ("gone", False)):
            script.write_text(f"echo '  ID TIME STATE LAUNCH NAME'; echo '7 00:05 Launched 1 {listed}'\n")
            done = subprocess.run([scenario.TACHO, "doctor", "--json", "--no-progress"], capture_output=True, text=True, cwd=folder)
            stray = [f for f in parsed("stray agent", done.stdout)["findings"] if f["id"] == "stray-agent" and str(agent.pid) in f["subject"]]
            check(f"stray agent: session {listed}", bool(stray) == found, done.stdout)


def ray_node(folder):
    """Reports of nsys on a Ray node, by a copied shell in place of its raylet."""
    folder = pathlib.Path(folder)
    package, session, bin_folder = folder / "lib/ray", folder / "session_1", folder / "bin"
    raylet, reports = package / "core/src/ray/raylet/raylet", session / "logs/nsight"
    for made in (raylet.parent, reports, bin_folder):
        made.mkdir(parents=True)
    for program in (raylet, bin_folder / "nsys", bin_folder / "python", bin_folder / "python3", bin_folder / "ray::A"):
        shutil.copy("/bin/sh", program)
    (package / "_version.py").write_text('version = "2.60.0"\n')
    (reports / "worker_process_1.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.\nU3w[END]")
    command = [str(raylet), "-c", "read line", "raylet", f"--session_dir={session}", f"--python_worker_command={bin_folder}/python3 worker.py"]

    def look(what, **variables):
        """The findings about this raylet, what was looked at of it, and the status of both checks."""
        environment = {"PATH": str(bin_folder), "HF_TOKEN": "s3cret", **variables}
        with processes.running(command, env=environment, stdin=subprocess.PIPE) as process:
            done = run("doctor", "--json", "--no-progress")
            check(f"{what}: no secret", "s3cret" not in done.stdout + done.stderr, done)
            result = parsed(what, done.stdout)
            rays = [one["at"] for one in result["looked"] if one["by"] == "ray"]
            own = [f for f in result["findings"] if str(folder) in f["subject"] or f["subject"] == f"raylet, process {process.pid}"]
            looked = [at for at in rays if str(folder) in at or f"process {process.pid}:" in at]
        alone = looked == rays  # without another Ray node on this host
        return {f["id"]: f for f in own}, looked, {c["id"]: c["status"] for c in result["checks"] if alone}

    found, looked, statuses = look("fine", RAY_process_group_cleanup_enabled="0")
    check("fine: nothing found", not found and {statuses.get(page, "clear") for page in ("D65", "D66")} == {"clear"}, (found, statuses))
    check("fine: what was looked at", len(looked) == 2 and looked[0].endswith(": Ray 2.60.0") and looked[1] == f"{reports}: 1 whole report of nsys", looked)
    found, _, statuses = look("by default")
    check("by default: groups are killed", list(found) == ["ray-kills-nsys"] and statuses.get("D65", "found") == "found", (found, statuses))
    check("by default: what to do", found["ray-kills-nsys"]["remedy"].startswith("RAY_process_group_cleanup_enabled=0 ray start"), found)
    found, _, _ = look("no nsys", PATH="/nowhere")
    check("no nsys", list(found) == ["ray-no-nsys"], found)
    (bin_folder / "python").rename(bin_folder / "python2")
    found, _, _ = look("no python", RAY_process_group_cleanup_enabled="0")
    check("no python", list(found) == ["ray-no-python"] and f"ln -s {bin_folder}/python3" in found["ray-no-python"]["remedy"], found)
    (bin_folder / "python2").rename(bin_folder / "python")
    (reports / "worker_process_2.nsys-rep").touch()
    found, _, _ = look("an empty report", RAY_process_group_cleanup_enabled="0")
    check("an empty report", list(found) == ["ray-report-lost"] and "1 of 2 reports" in found["ray-report-lost"]["evidence"], found)
    # An nsys that runs a worker in its own process group, or in another: a copied shell, which runs the script `profile`.
    for what, start, killed in (("its group", "", True), ("another group", "setsid ", False)):
        (folder / "profile").write_text(f"PATH={bin_folder}:$PATH\n{start}ray::A -c 'echo ready; read line'; :\n")
        with processes.running([str(bin_folder / "nsys"), "profile", "-o", f"{reports}/worker_process_%p"], cwd=folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, start_new_session=True) as nsys:
            processes.first_line(nsys)
            found, looked, _ = look(what)
            check(f"{what}: is killed", list(found) == ["ray-kills-nsys"] * killed, found)
            check(f"{what}: it is seen", f"nsys still records or writes (process {nsys.pid})" in looked[1], looked)
            if killed:
                check(f"{what}: by whom", f"nsys, process {nsys.pid}, is in that group" in found["ray-kills-nsys"]["evidence"], found)


def process(folder):
    """The command line and the environment of a process of this host."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = ["bash", "-c", 'exec -a vllm "$0" simulate --port "$1" --profiler-config "$2" --trace-dir "$3" --json', scenario.TACHO,
               str(port), SAFE.replace("/tmp", folder), folder]
    with processes.running(command, env={**os.environ, "VLLM_RPC_TIMEOUT": "9"}, stdout=subprocess.PIPE, text=True) as server:
        processes.first_line(server)
        result = doctor("process", f"http://127.0.0.1:{port}")
        has("process", result, ("timeout-not-read",), (), {"D04": "found", "D33": "clear"})
        here = doctor("this host")
        check("this host: finds the engine", any(f":{port}" in looked["at"] for looked in here["looked"]), here["looked"])


def launched(folder):
    """A launch whose engine shows no engine's command line."""
    done = run(*fake_engine.launch(folder, "--detach", "--json", "--name", "doctor-task")[1:])
    check("launched: it runs", done.returncode == 0, done.stderr)
    try:
        url = json.loads(done.stdout)["url"]
        here = doctor("launched")
        check("launched: its engine is asked", any(one["by"] == "engine" and url in one["at"] and "cannot" not in one for one in here["looked"]), here["looked"])
    finally:
        run("launch", "stop", "doctor-task")
    with fake_engine.fakes(FAKE_DELAY="1000"), processes.running(
            fake_engine.launch(folder, "--name", "doctor-task"), stderr=subprocess.PIPE, text=True):
        check("starting: it is listed", scenario.wait_for(lambda: "doctor-task" in run("launch", "list").stdout))
        record = json.loads(run("launch", "list", "--json").stdout)["launches"][0]
        why = f"launch doctor-task is still starting; its log: {record['servers'][0]['log']}"
        for what, words in (("this host", ()), ("its URL", (record["url"],))):
            done = run("doctor", *words)
            check(f"starting: {what}: why", why in " ".join((done.stdout + done.stderr).split()), done)
            check(f"starting: {what}: status 6", done.returncode == 6, done)
    here = doctor("no launch")
    engines = [one for one in here["looked"] if one["by"] == "engine"]
    check("no engine is said", engines and all(url not in one["at"] for one in engines), engines)


def container(folder):
    """What `docker exec` starts in a container has no parent there."""
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", "echo ready; exec sleep 1000"]
    try:
        outer = subprocess.Popen(inside, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError as why:
        raise scenario.Skipped(str(why))
    with contextlib.ExitStack() as running:
        running.callback(processes.end, outer)
        try:
            processes.first_line(outer)
        except RuntimeError as why:
            raise scenario.Skipped(f"no namespaces: {why}")
        first = pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()[0]
        enter = ["nsenter", "-t", first, "-U", "-m", "-p", "--"]
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        engine = running.enter_context(processes.running(
            [*enter, "bash", "-c", 'exec -a vllm "$0" simulate --port "$1" --trace-dir "$2" --json', scenario.TACHO, str(port), folder],
            stdout=subprocess.PIPE, text=True))
        running.callback(outer.kill)  # with it all of its namespace ends
        processes.first_line(engine)
        done = subprocess.run([*enter, scenario.TACHO, "doctor", "--json", "--no-progress"], capture_output=True, text=True)
        looked = parsed("container", done.stdout)["looked"]
        check("container: finds the engine", any(f":{port}" in one["at"] for one in looked), looked)


def command_lines(folder):
    good = doctor("good", "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--profiler-config", SAFE, status=0)
    has("good", good, (), ("config-key-unknown",), {"D11": "clear"})
    off = pathlib.Path(folder, "off.log")
    off.write_text('(APIServer pid=7) INFO:     127.0.0.1:1 - "POST /start_profile HTTP/1.1" 404 Not Found\n')
    remedy = doctor("profiler off", str(off), status=4)["findings"][0]["remedy"].split("'")[1].replace("/path", folder)
    advised = doctor("the remedy's own options", "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--profiler-config", remedy, status=0)
    check("the remedy's own options: nothing found", not [i for i in advised["ids"] if i != "little-room"], advised["findings"])
    bad = doctor("bad", "--engine-version", "0.32.0", "--env", "VLLM_TRACE_FUNCTION=all", "--",
                 "vllm", "serve", "m", "--profiler-config", SAFE.replace("{", '{"max_iteration":5,'), status=4)
    has("bad", bad, ("config-key-unknown", "variable-not-parsed"), (), {"D11": "found", "D12": "found"})
    check("bad: the worst comes first", bad["findings"][0]["severity"] == "blocking", bad["ids"])
    check("bad: the remedy", "max_iterations" in bad["findings"][0]["remedy"], bad["findings"][0])
    old = doctor("old", "--engine-version", "0.7.2", "--", "vllm", "serve", "m")
    has("old", old, ("one-rank-profiled",), (), {"D18": "found"})
    new = doctor("new", "--engine-version", "9.9.0", "--", "vllm", "serve", "m", "--profiler-config", SAFE, status=0)
    has("new", new, ("version-unknown",), (), {"D61": "found"})
    config = pathlib.Path(folder, "config.yaml")
    config.write_text("port: 8001\nprofiler-config: {profiler: torch, torch_profiler_dri: /tmp}\n")
    filed = doctor("options in a file", "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--config", str(config), status=4)
    has("options in a file", filed, ("config-key-unknown",), ("config-unreadable",))
    config.write_text("not: [yaml")
    broken = doctor("no YAML", "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--config", str(config), status=4)
    has("no YAML", broken, ("config-unreadable",), (), {"D46": "found"})
    for place, why in ((str(config), "it is not a folder"), (f"{config}/sub", f"{config} is not a folder"), ("/proc/x/y", "/proc is not a disk")):
        no_folder = doctor(place, "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--profiler-config", SAFE.replace("/tmp", place), status=4)
        has(place, no_folder, ("trace-folder-bad",), (), {"D10": "found"})
        check(f"{place}: why", no_folder["findings"][0]["evidence"] == f"nothing can be written there: {why}", no_folder["findings"])
    for place in ("s3://bucket/x", "~/x"):
        elsewhere = doctor(place, "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--profiler-config", SAFE.replace("/tmp", place), status=0)
        room = [one["at"] for one in elsewhere["looked"] if one["at"].startswith("room in ")]
        check(f"{place}: the disk of its own", len(room) == (place[0] == "~") and all(os.path.expanduser("~") in one for one in room), room)
    later = doctor("a folder that is made later", "--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--profiler-config",
                   SAFE.replace("/tmp", folder + "/later/on"), status=0)
    check("a folder that is made later: its room", any(one["at"].startswith(f"room in {folder}: ") for one in later["looked"]), later["looked"])
    python = fake_engine.engine_in(folder)
    asked = doctor("--python", "--python", python, "--", "vllm", "serve", "m", "--profiler-config", SAFE, status=0)
    check("--python: its version", any(one["at"] == "vllm 0.32.0" for one in asked["looked"]), asked["looked"])
    here = doctor("--python of this host", "--python", python)
    check("--python of this host", any(one["at"] == "vllm 0.32.0, installed" for one in here["looked"]), here["looked"])
    without = run("doctor", "--python", "/usr/bin/python3", "--", "vllm", "serve", "m")
    check("--python: without the engine", without.returncode == 2 and "vllm" in without.stderr, without)
    for words in (["--", "vllm", "serve", "m"], []):
        wrong = run("doctor", "--python", folder + "/none", *words)
        check(f"--python: no such program {words}", wrong.returncode == 2 and "there is no such program" in wrong.stderr, wrong)
    wrong = run("doctor", "--python", python, "/tmp")
    check("--python beside a file", wrong.returncode == 2 and "for a command line or for this host" in wrong.stderr, wrong)
    other = run("doctor", "--", "nginx", "-g", "x")
    check("other program", other.returncode == 2 and "nginx" in other.stderr, other.stderr)
    check("other program: no word of quotes", "quotes" not in other.stderr, other.stderr)
    set_before = run("doctor", "--", "HF_TOKEN=s3cret", "nginx")
    check("other program after a setting", "SGLang: nginx" in set_before.stderr and "s3cret" not in set_before.stderr, set_before.stderr)
    contained = run("doctor", "--", "sudo", "docker", "run", "image")
    check("a container below sudo", contained.returncode == 2 and "as it runs in the container" in contained.stderr, contained.stderr)
    for words in (["vllm", "serve", "m", "--profiler-config", "{}"], ["python3", "-m", "sglang.launch_server"]):
        bare = run("doctor", *words)
        check("a command line without --", bare.returncode == 2 and "put -- before the command line" in bare.stderr, bare.stderr)
    for words in (["vllm serve m --api-key s3cret"], ["HF_TOKEN=s3cret vllm serve m"], ["vllm bench  serve"], ["ssh", "host", "bash -lc 'vllm serve m'"],
                  ["tmux", "new-session", "-d", "-s", "vllm", "vllm serve m"], ["bash", "-c", "exec vllm serve m --api-key s3cret"]):
        quoted = run("doctor", "--", *words)
        check("quoted words", quoted.returncode == 2 and "is not looked into: give the words without quotes: vllm serve" in quoted.stderr, quoted.stderr)
        check("quoted words: no key is shown", "s3cret" not in quoted.stderr, quoted.stderr)
    words = run("doctor", "--", "python3", "serve.py", "--prompt", "hello vllm x")
    check("a blank is no command", "of a script give the command" in words.stderr, words.stderr)
    script = run("doctor", "--", "bash", "start.sh")
    check("a script", script.returncode == 2 and "SGLang: bash; of a script give the command in it" in script.stderr, script.stderr)
    version = run("doctor", "--engine-version", "abc", "--", "vllm", "serve", "m")
    check("bad version", version.returncode == 2 and "--engine-version abc: write it like 0.32.0" in version.stderr, version.stderr)
    check("no command", run("doctor", "--").returncode == 2)
    check("bad variable", run("doctor", "--env", "=1", "--", "vllm", "serve", "m").returncode == 2)


def logs(folder):
    for name, found in (("vllm-0.32-unknown-key", "config-key-unknown"), ("vllm-0.32-trace-folder-bad", "trace-folder-bad"),
                        ("sglang-0.5.23-profiler-v2", "profiler-v2")):
        result = doctor(name, str(DATA / f"{name}.log"), status=4)
        has(name, result, (found,))
    other = doctor("one engine", str(DATA / "vllm-0.32-trace-folder-bad.log"))
    check("a vLLM's log: no check of SGLang", "D41" not in other["status"] and not any("D41" in f["checks"] for f in other["findings"]), other["status"])
    memory = pathlib.Path(folder, "memory.log")
    memory.write_text("(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] Traceback (most recent call last):\n"
                      "(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] torch.OutOfMemoryError: CUDA out of memory\n"
                      "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.\n")
    full = doctor("full memory", str(memory), status=4)
    has("full memory", full, ("gpu-memory-full",), ("engine-died",))
    check("full memory: an engine that ended is blocking", full["findings"][0]["severity"] == "blocking", full["findings"])
    memory.write_text("[2026-11-24 16:03:22 TP1] Scheduler hit an exception: Traceback (most recent call last):\n  File\nNotImplementedError: x\n")
    died = doctor("an exception", str(memory), status=4)
    has("an exception", died, ("engine-died",))
    check("an exception: no word of memory", "memory" not in died["findings"][0]["remedy"], died["findings"])
    for other in ("nothing here\n", '10.0.0.1 - - [25/Nov/2026:02:50:12 +0000] "GET / HTTP/1.1" 200 5 "-"\n', "(a) hello\nthis router is nice\n"):
        memory.write_text(other)
        done = run("doctor", str(memory))
        check("no engine's log", "no line of it is an engine's" in done.stdout and " 0 clear" in done.stdout, done.stdout)
        check("no engine's log: status 3", done.returncode == 3, done.returncode)
    memory.write_text("(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] Traceback (most recent call last):\n"
                      "(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n")
    host = doctor("full memory of the host", str(memory), status=4)
    has("full memory of the host", host, ("worker-killed",), ("gpu-memory-full", "engine-died"))
    check("full memory of the host: the remedy", "--gpu-memory-utilization" not in host["findings"][0]["remedy"], host["findings"])
    for name, blocking in (("sglang-0.5.23-sessions", ["trace-folder-bad"]), ("sglang-0.5.23-profiler-v2", ["profiler-v2"]),
                           ("vllm-0.32-core-killed", ["worker-killed"]), ("vllm-0.32-trace-folder-bad", []), ("vllm-0.32-healthy", [])):
        found = doctor(name, str(DATA / f"{name}.log"))["findings"]
        check(f"{name}: what ended the engine", [f["id"] for f in found if f["severity"] == "blocking"] == blocking, found)
        check(f"{name}: it comes first", not blocking or found[0]["id"] == blocking[0], found)
    has("one text for one line", doctor("unknown key", str(DATA / "vllm-0.32-unknown-key.log")), (), ("engine-died",))
    other = pathlib.Path(folder, "other.log")
    other.write_text("(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] ValueError: something that no check knows\n")
    has("another failure", doctor("another failure", str(other), status=0), ("log-failure",), ("engine-died",))
    other.write_text(other.read_text() + "RuntimeError: Engine core initialization failed. See root cause above.\n")
    has("a failure that ended it", doctor("a failure that ended it", str(other), status=4), ("engine-died",), (), {"D49": "found"})
    fine = pathlib.Path(folder, "fine.log")
    fine.write_text("(APIServer pid=7) INFO 11-21 11:49:36 [launcher.py:1] Starting vLLM server on http://0.0.0.0:1\n" * 3)
    has("a log without failures", doctor("fine log", str(fine), status=0), (), ("engine-died",), {"D28": "clear"})
    long = "INFO a line of a long log\n" * 20_000 + "Traceback (most recent call last):\nRuntimeError: Engine core initialization failed\n"
    for what, reader in (("a pipe", ["/dev/stdin"]), ("no file", ["/dev/null"])):
        done = subprocess.run([scenario.TACHO, "doctor", *reader], input=long, capture_output=True, text=True, timeout=60)
        check(f"{what} is refused", done.returncode == 2 and "save it to a file first" in done.stderr, f"{done.returncode} {done.stdout} {done.stderr}")
    packed = pathlib.Path(folder, "vllm.log.1.gz")
    whole = gzip.compress(DATA.joinpath("vllm-0.32-core-killed.log").read_bytes())
    packed.write_bytes(whole)
    has("a packed log", doctor("packed", str(packed), status=4), ("worker-killed",))
    packed.write_bytes(whole[:300])
    cut = doctor("cut", str(packed), status=3)
    check("a cut packed log: says so", any("byte" in one.get("cannot", "") for one in cut["looked"]), cut["looked"])
    huge = pathlib.Path(folder, "huge.log")
    with open(huge, "wb") as file:
        file.truncate(3 << 30)
        file.write(b"INFO ready\n")
    done = run("doctor", str(huge), timeout=120)
    check("a huge sparse file is refused", done.returncode == 3 and "\n" in done.stderr, f"{done.returncode} {done.stderr[:300]}")


def traces(folder):
    run("simulate", "trace", "-o", folder + "/run")
    trace = next(pathlib.Path(folder, "run").glob("rank0*.pt.trace.json"))
    result = doctor("trace", str(trace), status=0)
    has("trace", result, ("graphs-without-shapes",), ("truncated-json",), {"D16": "found", "D55": "clear"})
    cut = pathlib.Path(folder, "cut.pt.trace.json")
    cut.write_bytes(trace.read_bytes()[:200_000])
    has("cut trace", doctor("cut trace", str(cut), status=4), ("truncated-json", "figures-doubtful"), (), {"D55": "found"})
    analyzed = json.loads(run("analyze", "--json", str(trace)).stdout)
    has("what it cannot show", result, ("not-shown",))
    check("what it cannot show: as tacho analyze", all(any(sentence in f["evidence"] for f in result["findings"])
          for sentence in analyzed["traces"][0]["facts"]["cannot_tell"]), result["findings"])
    empty = pathlib.Path(folder, "empty.pt.trace.json.gz")
    empty.write_bytes(gzip.compress(b'{"schemaVersion":1,"traceEvents":[]}'))
    has("empty trace", doctor("empty trace", str(empty), status=4), ("no-events",), (), {"D10": "found"})


def recordings(folder):
    with simulation(folder) as addresses:
        done = run("record", "--duration", "2s", "--out", folder + "/runs", *target(addresses))
        check("record", done.returncode in (0, 4), done.stderr)
    recorded = next(pathlib.Path(folder, "runs").iterdir())
    kept = {f["id"] for f in json.load(open(recorded / "run.json"))["findings"]}
    result = doctor("recording", str(recorded))
    check("recording: its findings", kept <= set(result["ids"]), kept - set(result["ids"]))
    check("recording: clear", result["status"].get("D57") == "clear", result["status"])
    check("recording: without an engine's log", any("none was kept" in one.get("cannot", "") for one in result["looked"]), result["looked"])
    done = run("doctor", str(recorded))
    check("recording: a log that was never kept is no unreadable file", done.returncode == 0, done)
    (recorded / "server").mkdir()  # as record --launch leaves it
    shutil.copy(DATA / "vllm-0.32-unknown-key.log", recorded / "server/vllm.log")
    has("the log of a launched engine", doctor("launched engine's log", str(recorded), status=4), ("config-key-unknown",))
    shutil.rmtree(recorded / "server")
    (recorded / "run.json").unlink()
    has("cut short", doctor("cut short", str(recorded), status=4), ("cut-short",), (), {"D57": "found"})
    # Killed before its load had a plan: as without one.
    killed = pathlib.Path(folder, "killed")
    (killed / "traces/w0").mkdir(parents=True)
    has("killed at once", doctor("killed at once", str(killed), status=4), ("cut-short",), (), {"D57": "found"})


def taken_port(folder):
    """Of a server that listens, and of a free one."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = str(server.getsockname()[1])
        words = ["--engine-version", "0.32.0", "--", "vllm", "serve", "m", "--profiler-config", SAFE, "--port", port]
        taken = doctor("a taken port", *words, status=4)
        has("a taken port", taken, ("port-in-use",), (), {"D58": "found"})
        elsewhere = ["--engine-version", "0.32.0", "--", "docker", "run", "image", *words[words.index("vllm"):]]
        has("a port of a container", doctor("a port of a container", *elsewhere, status=0), (), ("port-in-use",))
        check("a taken port: by whom", f"process {os.getpid()} listens on it" in taken["findings"][0]["evidence"], taken["findings"][0])
    has("a free port", doctor("a free port", *words, status=0), (), ("port-in-use",), {"D58": "clear"})
    # What was started by the same words listens on its own port, whatever is before them or in its configuration.
    program = pathlib.Path(folder, "vllm")
    program.write_text(f"#!{sys.executable}\nimport socket, sys\nserver = socket.create_server(('0.0.0.0', {port}))\nprint('', flush=True)\nsys.stdin.read()\n")
    program.chmod(0o755)
    pathlib.Path(folder, "config.yaml").write_text(f"port: {port}\n")
    for name, own in (("a config file", ["--config", f"{folder}/config.yaml"]), ("a wrapper", ["--port", port])):
        serve = [str(program), "serve", "m", "--profiler-config", SAFE, *own]
        with processes.running(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            processes.first_line(process)
            has(f"its own port, {name}", doctor(f"its own port, {name}", "--engine-version", "0.32.0", "--", "env", "A=1", *serve, status=0),
                (), ("port-in-use",))


def bad_input(folder):
    def ends(what, words, status, told):
        done = run("doctor", *words, timeout=90)
        check(what, done.returncode == status and told in done.stderr, f"{done.returncode}, not {status}: {done.stderr[:500]}")

    pathlib.Path(folder, "nothing").mkdir()
    binary = pathlib.Path(folder, "binary")
    binary.write_bytes(bytes(range(256)) * 100)
    pathlib.Path(folder, "zero").touch()
    ends("a folder without anything", [folder + "/nothing"], 3, "nothing")
    ends("a binary file", [str(binary)], 3, "binary")
    ends("an empty file", [folder + "/zero"], 3, "zero")
    ends("no such file", ["./nowhere.log"], 3, "nowhere.log")
    ends("a dead address", ["http://127.0.0.1:1"], 6, "127.0.0.1:1")
    ends("an unknown option", ["--explian", "D01"], 2, "--explain")
    hostile = pathlib.Path(folder, "hostile.log")
    hostile.write_bytes(b"ERROR \x1b[31m\x1b]0;x\x07 Traceback (most recent call last):\nValueError: \x1b[2J" + b"A" * 100_000 + b"\n")
    done = run("doctor", str(hostile))
    check("a hostile log: no escape sequence", "\x1b[2J" not in done.stdout and "\x07" not in done.stdout, done.stdout[:500])
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes connections, and says nothing
        ends("a silent server", ["--timeout", "2s", f"http://127.0.0.1:{server.getsockname()[1]}"], 6, "127.0.0.1")


if __name__ == "__main__":
    main([pages, clean_engine, broken_engines, sessions, held, router, several, stray_agent, ray_node, process, launched, container, command_lines, logs, traces, recordings, taken_port, bad_input], __doc__)
