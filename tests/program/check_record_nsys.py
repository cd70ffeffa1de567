#!/usr/bin/env python3
"""Recordings by Nsight Systems, with a fake nsys: what goes into the run folder, two engines, what is refused, each failure,
Ctrl-C in each phase, a launch for one recording and what it leaves.

usage: check_record_nsys.py TACHO [--only NAME ...]

tests/engines/check_nsys.py does the same way with a real one.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import check_launch
import fake_nsys
import processes
import scenario
from recordings import finds, ranks, whole
from scenario import check, wait_for

QUICK = ["--warm-up", "500ms", "--baseline", "1s", "--duration", "1s", "--concurrency", "2"]


class Engine:
    """`tacho simulate` under the fake nsys."""

    def __init__(self, folder, process, addresses):
        self.state = pathlib.Path(folder) / "nsys/state"
        self.process, self.url = process, addresses["workers"][0]["url"]

    def mode(self, text):
        (self.state / "mode").write_text(text)

    def session(self, name="one"):
        return json.loads((self.state / f"{name}.json").read_text())


@contextlib.contextmanager
def engine(folder, *options, session="one", environment=None, daemon=False):
    environment = environment or fake_nsys.install(f"{folder}/nsys", scenario.TACHO)
    own = {**environment, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(folder)} if daemon else environment
    nsys = [f"{folder}/nsys/bin/nsys", "launch", f"--session-new={session}", "-t", "cuda,nvtx"]
    with processes.running([*nsys, scenario.TACHO, "simulate", "--json", "--dev-mode", "--profiler-config", "{}", "--model-size", "8b",
                            "--speed", "0.4", *options], env=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True) as process:
        made = None
        try:
            addresses = json.loads(processes.first_line(process))
            os.environ.update(PATH=environment["PATH"], FAKE_NSYS=environment["FAKE_NSYS"], TACHO=environment["TACHO"])
            made = Engine(folder, process, addresses)
            if daemon:
                fake_nsys.write({**made.session(session), "pids": addresses["workers"][0]["rank_pids"]})
            yield made
        finally:
            with contextlib.suppress(OSError, TypeError):
                os.kill(json.loads((pathlib.Path(folder) / f"nsys/state/{session}.json").read_text())["agent"], signal.SIGTERM)


def record(folder, *words, timeout=100):
    """The ended process, run.json and the run's folder."""
    before = set(pathlib.Path(folder).glob("runs/tacho-*"))
    done = scenario.run("record", "--via", "nsys", "--out", f"{folder}/runs", *QUICK, *words, timeout=timeout)
    return done, *read(folder, before)


def read(folder, before=()):
    made = sorted(set(pathlib.Path(folder).glob("runs/tacho-*")) - set(before))
    path = made[0] / "run.json" if made else None
    return json.loads(path.read_text()) if path and path.exists() else None, made[0] if made else None


def names(run):
    return sorted(str(path.relative_to(run)) for path in (run / "traces").rglob("*") if path.is_file())


def whole_way(folder):
    """GPU work, steps, and all files of a run."""
    with engine(folder) as one:
        done, report, run = record(folder, one.url)
        whole("nsys", done, report, run, 1)
        check("nsys: via", report and report["via"] == "nsys" and report["nsys"]["version"] == "2022.4.2.1", report)
        check("nsys: its files", names(run) == ["traces/w0/w0.nsys-rep", "traces/w0/w0.sqlite"], names(run))
        check("nsys: the session goes on", one.session()["state"] == "Launched" and one.process.poll() is None, one.session())
        asked = [line for line in (one.state / "log").read_text().splitlines() if line.split()[0] in ("start", "stop", "export")]
        check("nsys: asked once for each", [a.split()[0] for a in asked] == ["start", "stop", "export"], asked)
        check("nsys: what comes next", f"tacho stats {run}/traces/w0/w0.sqlite" in done.stdout or "tacho stats" in done.stdout, done.stdout)
        check("nsys: commands.sh", "stop --session=one" in (run / "commands.sh").read_text())
        check("nsys: report.html", (run / "report.html").exists())
        stats = scenario.run("stats", str(run / "traces/w0/w0.sqlite"), "-r", "cuda_gpu_kern_sum", "--json")
        check("nsys: tacho stats", stats.returncode == 0, stats.stderr)
        again, second, _ = record(folder, one.url, "--nsys-session", "one")
        check("nsys: a second window", again.returncode == 0 and second["complete"], again.stderr)
        named, steps, _ = record(folder, one.url, "--steps", "20", "--duration", "20s")
        check("nsys: --steps by the metrics", named.returncode == 0 and steps["profiled"]["duration_ns"] < 15e9, named.stderr)


def two_engines(folder):
    """A session each; one of them has two ranks."""
    with engine(folder) as one, engine(folder, "--tp", "2", session="two", environment=dict(os.environ), daemon=True) as two:
        done, report, run = record(folder, one.url, two.url)
        whole("two engines", done, report, run, 3)
        check("two engines: their files", names(run) == ["traces/w0/w0.nsys-rep", "traces/w0/w0.sqlite", "traces/w1/w1.nsys-rep",
                                                         "traces/w1/w1.sqlite"], names(run))
        one.mode("")
        (one.state / "mode").unlink()
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait()
        done, report, _ = record(folder, one.url, two.url, "--keep-going")
        check("one of two: the other is recorded", done.returncode == 4 and report and sum(r["proven"] for r in ranks(report)) == 2,
              done.stderr)


def refused(folder):
    """Before anything is started."""
    with engine(folder) as one:
        for what, words, status, said in (
                ("no such session", ["--nsys-session", "other"], 2, "no session of nsys is called other; those that run: one"),
                ("an option of Kineto's", ["--with-stack", "--steps", "5"], 2, "nsys records what the engine was launched with"),
                ("a session by HTTP", ["--via", "http", "--nsys-session", "one"], 2, "--nsys-session goes with --via nsys")):
            done, report, run = record(folder, one.url, *words)
            check(f"{what}: refused", done.returncode == status and said in done.stderr, (done.returncode, done.stderr))
            check(f"{what}: nothing is left", run is None, run)
        state = one.session()
        (one.state / "one.json").write_text(json.dumps({**state, "state": "Collection"}))
        done, _, run = record(folder, one.url)
        check("somebody records", done.returncode == 6 and "nsys stop --session=one" in done.stderr and run is None, done.stderr)
        (one.state / "one.json").unlink()
        done, _, run = record(folder, one.url)
        check("its session is gone", done.returncode == 2 and "is not there any more; none runs" in done.stderr, done.stderr)
        (one.state / "one.json").write_text(json.dumps(state))
    with scenario.simulation(f"{folder}/plain") as addresses:
        target, = scenario.target(addresses)
        done, _, run = record(folder, target)
        check("not under nsys", done.returncode == 2 and run is None and
              f"{target}: none of its processes runs under nsys launch" in done.stderr, done.stderr)
        os.environ["PATH"] = os.environ["PATH"].split(":", 1)[1]
        if not shutil.which("nsys") and not pathlib.Path("/usr/lib/nsight-systems").exists():
            done, _, run = record(folder, *scenario.target(addresses))
            check("no nsys", done.returncode == 2 and "no nsys was found here" in done.stderr and run is None, done.stderr)


def failures(folder):
    """Each is named, and what came is kept."""
    with engine(folder) as one:
        for mode, finding, files in (("start-fails", "did-not-start", []),
                                     ("no-report", "nsys-no-report", []),
                                     ("no-export", "not-collected", ["traces/w0/w0.nsys-rep"]),
                                     ("raw", "nsys-no-importer", ["traces/w0/w0.qdstrm"])):
            one.mode(mode)
            done, report, run = record(folder, one.url, "--timeout", "3s")
            check(f"{mode}: status", done.returncode == 4, (done.returncode, done.stderr))
            if report:
                finds(mode, report, finding)
                check(f"{mode}: what is kept", names(run) == files, names(run))
            check(f"{mode}: the session and the engine go on", one.session()["state"] == "Launched" and one.process.poll() is None)
        one.mode("stop-fails")
        done, report, run = record(folder, one.url, "--timeout", "3s")
        check("stop fails: status", done.returncode == 4, done.stderr)
        finds("stop fails", report, "stop-refused")
        check("stop fails: its remedy", any("nsys stop --session=one" == f["remedy"] for f in report["findings"]), report["findings"])


def late_reports(folder):
    """A report that grows after the stop; raw recordings, with an importer and with one that does not load."""
    with engine(folder) as one:
        one.mode("grows")
        done, report, run = record(folder, one.url)
        whole("a report that grows", done, report, run, 1)
        importer = pathlib.Path(folder) / "nsys/bin/QdstrmImporter"
        shutil.copy(importer.parent / "nsys", importer)
        one.mode("raw")
        done, report, run = record(folder, one.url)
        check("raw: imported", done.returncode == 0 and report["complete"], done.stderr)
        finds("raw", report, "nsys-raw-imported")
        check("raw: its files", names(run) == ["traces/w0/w0.qdstrm", "traces/w0/w0.sqlite"], names(run))
        one.mode("libssh")
        done, report, run = record(folder, one.url)
        check("libssh: status", done.returncode == 4, done.stderr)
        finds("libssh", report, "nsys-no-libssh")


def engine_dies(folder):
    """In its window: what was recorded by then is kept."""
    with engine(folder) as one:
        command = [scenario.TACHO, "record", "--via", "nsys", "--out", f"{folder}/runs", *QUICK, "--duration", "20s", one.url]
        with processes.running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            check("engine dies: its window opens", wait_for(lambda: one.session()["state"] == "Collection"))
            time.sleep(0.5)
            one.process.kill()
            one.process.wait()
            out, errors = process.communicate(timeout=60)
        report, run = read(folder)
        check("engine dies: status", process.returncode == 4, (process.returncode, errors))
        finds("engine dies", report, "engine-died")
        check("engine dies: kept", names(run) == ["traces/w0/w0.nsys-rep", "traces/w0/w0.sqlite"], names(run))


def ctrl_c(folder):
    """In each phase: the collection is stopped, not the engine; what was recorded is kept."""
    with engine(folder) as one:
        def asked(word):
            path = one.state / "log"
            return lambda: path.exists() and any(line.split()[0] == word for line in path.read_text().splitlines())
        both = ["traces/w0/w0.nsys-rep", "traces/w0/w0.sqlite"]
        for phase, mode, reached, pause, files in (
                ("warm-up", "", asked("sessions"), 1, []), ("start", "slow-start", asked("start"), 0.5, both),
                ("window", "", lambda: one.session()["state"] == "Collection", 1, both), ("stop", "slow-stop", asked("stop"), 0.5, both),
                ("export", "slow-export", asked("export"), 1, both[:1])):
            one.mode(mode)
            (one.state / "log").unlink(missing_ok=True)
            before = set(pathlib.Path(folder).glob("runs/tacho-*"))
            lengths = ["--duration", "20s" if phase == "window" else "1s", "--warm-up", "60s" if phase == "warm-up" else "500ms"]
            with processes.running([scenario.TACHO, "record", "--via", "nsys", "--out", f"{folder}/runs", *QUICK, *lengths, one.url],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                check(f"Ctrl-C in {phase}: it comes", wait_for(reached, pause=0.02))
                time.sleep(pause)
                process.send_signal(signal.SIGINT)
                out, errors = process.communicate(timeout=60)
            report, run = read(folder, before)
            check(f"Ctrl-C in {phase}: status", process.returncode == 130, (process.returncode, errors))
            check(f"Ctrl-C in {phase}: run.json", report and report["interrupted"], report)
            check(f"Ctrl-C in {phase}: what is kept", run and names(run) == files, run and names(run))
            check(f"Ctrl-C in {phase}: no collection is left", one.session()["state"] == "Launched", one.session())
            check(f"Ctrl-C in {phase}: the engine goes on", one.process.poll() is None)


def launched_for_it(folder):
    """tacho record --launch --preset nsys: the whole way; no process is left, however tacho ends."""
    environment = fake_nsys.install(f"{folder}/nsys", scenario.TACHO)
    os.environ.update(PATH=environment["PATH"], FAKE_NSYS=environment["FAKE_NSYS"], TACHO=environment["TACHO"])
    state = pathlib.Path(folder) / "nsys/state"
    python = check_launch.engine_in(folder)
    check_launch.folder = folder  # whose processes it looks for
    command = [scenario.TACHO, "record", "--launch", "vllm", "--preset", "nsys", "--python", python, "--out", f"{folder}/runs", *QUICK]

    def agents():
        return [json.loads(path.read_text())["agent"] for path in state.glob("*.json")
                if fake_nsys.is_alive(json.loads(path.read_text())["agent"])]
    done = subprocess.run([*command, "--", "m"], capture_output=True, text=True, timeout=120)
    report, run = read(folder)
    whole("launched", done, report, run, 1)
    check("launched: its log", run and (run / "server/vllm.log").exists(), done.stderr)
    check("launched: no agent is left", wait_for(lambda: not agents(), 20), agents())
    for who in ("tacho", "keeper"):
        for path in state.glob("*.json"):
            path.unlink()
        with processes.running([*command, "--duration", "60s", "--", "m"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            check(f"kill -9 of {who}: it records", wait_for(lambda: any(json.loads(path.read_text())["state"] == "Collection"
                                                                      for path in state.glob("*.json"))))
            if who == "tacho":
                process.kill()
            else:
                launches = json.loads(scenario.run("launch", "list", "--json").stdout)["launches"]
                os.kill(launches[0]["servers"][0]["keeper"], signal.SIGKILL)
            process.wait(60)
        check(f"kill -9 of {who}: no agent is left", wait_for(lambda: not agents(), 30), agents())
        check(f"kill -9 of {who}: no server is left", wait_for(lambda: not any(
            fake_nsys.is_alive(json.loads(path.read_text())["pid"]) for path in state.glob("*.json")), 30))


if __name__ == "__main__":
    scenario.main([whole_way, two_engines, refused, failures, late_reports, engine_dies, ctrl_c, launched_for_it], __doc__)
