"""The base of the scenarios: real engines held by tools/engines, `tacho record` runs, and checks of the results."""
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ROOT / "tools" / "engines"
sys.path.insert(0, str(ROOT / "tools"))
from engines_lib import servers  # noqa: E402

# Exit statuses of tacho (src/cli/exit_status.h).
DONE, USAGE, INCOMPLETE, REMOTE = 0, 2, 4, 6


class Failed(Exception):
    """A scenario's check that does not hold, in one line."""


class Skipped(Exception):
    """What this machine lacks for a scenario, in one line."""


def check(condition, text):
    if not condition:
        raise Failed(text)


def memory_gb():
    """Memory available without swapping."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1e6
    return 0.0


@dataclass(frozen=True)
class Setup:
    """Which engines a scenario needs: the arguments of tools/engines run. Scenarios of one setup share its engines."""
    arguments: tuple
    needs_gb: float


class Engines:
    """The running engines of a setup."""

    def __init__(self, setup, work):
        self.setup, self.work = setup, work
        self.process = None

    def __enter__(self):
        if memory_gb() < self.setup.needs_gb:
            raise Skipped(f"needs {self.setup.needs_gb:g} GB of memory, {memory_gb():.1f} GB are free")
        self.said = open(self.work / "engines.err", "w")
        self.process = subprocess.Popen(
            [sys.executable, ENGINES, "run", "--json", "--until-stdin-closes", "--trace-dir", self.work / "traces", "--log-dir",
             self.work / "logs", *self.setup.arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True)
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise Failed(f"tools/engines run {' '.join(self.setup.arguments)} ended with {self.process.returncode}: "
                         + (self.work / "engines.err").read_text()[-1500:])
        told = json.loads(line)
        self.workers, self.router = told["workers"], told.get("router")
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(60)
        self.said.close()
        left = [w["pid"] for w in self.workers if Path("/proc", str(w["pid"])).exists()] if hasattr(self, "workers") else []
        if left:
            raise Failed(f"processes of the engines are left: {left}")

    def url(self, index=0):
        return self.workers[index]["url"]

    def run_on(self, what, seconds):
        """Lets a server run for this long; then its processes are suspended, until the next call or their end."""
        os.killpg(what["pid"], signal.SIGCONT)
        time.sleep(seconds)
        os.killpg(what["pid"], signal.SIGSTOP)
        time.sleep(0.005)  # a running system call ends

    def kill(self, what):
        """SIGKILL for a server (a worker or the router) with all its processes."""
        os.killpg(what["pid"], signal.SIGKILL)


def ask(url, method="GET", body=None, timeout=60):
    """(status, text); status 0 without an answer."""
    try:
        status, _, text = servers.ask(url, method, body, timeout=timeout)
        return status, text.decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as e:
        return 0, str(e)


def wait_for(condition, seconds, what, pause=0.02):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise Failed(f"{what} did not come within {seconds} s")
        time.sleep(pause)


@dataclass
class Run:
    """A finished `tacho record`: its output, and the parent of its dated folder."""
    status: int
    out: str
    err: str
    parent: Path

    def said(self):
        return f"{self.err}\n{self.out}"

    def folder(self):
        folders = list(self.parent.iterdir())
        check(len(folders) == 1, f"{len(folders)} run folders instead of 1; {last_line(self.err)}")
        return folders[0]

    def json(self):
        """run.json, which is written last."""
        path = self.folder() / "run.json"
        check(path.is_file(), f"no run.json among {sorted(p.name for p in self.folder().glob('*'))}")
        return json.loads(path.read_text())


class Tacho:
    """The program under test. Only this class knows the options of record."""

    def __init__(self, program, work):
        self.program, self.work, self.runs = Path(program).absolute(), work, 0

    def record(self, *targets, requests=None, duration="1s", steps=None, options=(), during=None, timeout=400,
               defaults=False):
        """`tacho record`. `during` runs beside it in a thread, with an event that is set at its end; its failure
        is the scenario's.

        A second of profile is enough, and vLLM's table afterwards takes thirty times as long on a CPU.
        """
        self.runs += 1
        parent = self.work / f"run{self.runs}"
        out, self.progress = self.work / f"run{self.runs}.out", self.work / f"run{self.runs}.err"
        self.progress.touch()
        command = [self.program, "record", *targets, "--out", parent]
        command += [] if defaults else ["--warm-up", "1s", "--baseline", "1s"]
        for name, value in (("--requests", requests), ("--duration", duration), ("--steps", steps)):
            command += [name, str(value)] if value is not None else []
        command = [str(c) for c in [*command, *options]]
        trouble, ended = [], threading.Event()

        def beside():
            try:
                during(ended)
            except Exception as e:  # reported by the thread that waits
                trouble.append(e)
        thread = threading.Thread(target=beside, daemon=True)
        if during:
            thread.start()
        parent.mkdir()
        try:
            with open(out, "w") as stdout, open(self.progress, "w") as stderr:
                # No kept figures of engines from other runs.
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, timeout=timeout,
                                      env={**os.environ, "XDG_STATE_HOME": str(self.work / "state")})
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command)} did not end within {timeout} s") from None
        finally:
            ended.set()
        run = Run(done.returncode, out.read_text(errors="replace"), self.progress.read_text(errors="replace"), parent)
        (self.work / f"run{self.runs}.log").write_text(" ".join(command) + f"\nexit {run.status}\n{run.said()}")
        if during:
            thread.join(10)
        if trouble:
            raise Failed(str(trouble[0]))
        return run

    def wait_for_phase(self, phase, seconds):
        """Waits until the running recording reports this phase as done."""
        wait_for(lambda: f"\n  {phase} " in "\n" + self.progress.read_text(errors="replace"), seconds, f"the end of phase {phase}")

    def engine(self, *arguments):
        """`tacho engine`: (exit status, standard output, standard error)."""
        done = subprocess.run([self.program, "engine", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=400)
        return done.returncode, done.stdout, done.stderr

    def analyze(self, path):
        done = subprocess.run([self.program, "analyze", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=300)
        check(done.returncode in (DONE, INCOMPLETE), f"analyze of {path} exits {done.returncode}: {done.stderr[:300]}")
        return json.loads(done.stdout)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def check_status(run, *wanted):
    check(run.status in wanted, f"exit status {run.status} instead of {' or '.join(map(str, wanted))}: {last_line(run.said())}")


def check_complete(tacho, run, traces, names_steps=True):
    """A run that is whole: status 0, every rank proven, so many traces with work, each with steps where something names
    them. Returns what analyze reports about them."""
    check_status(run, DONE)
    told = run.json()
    ranks = [rank for worker in told["workers"] for rank in worker["ranks"]]
    check(told["complete"], f"run.json says incomplete: {told['missing']} {told['troubles']}")
    check(all(rank["proven"] for rank in ranks), f"ranks not proven: {[r for r in ranks if not r['proven']]}")
    found = tacho.analyze(run.folder() / "traces")["traces"]
    if not names_steps:  # by the daemon: every process that uses PyTorch leaves a file
        found = [trace for trace in found if trace.get("devices")]
    check(len(found) == traces, f"{len(found)} traces instead of {traces}: {[t['path'] for t in found]}")
    for trace in found:
        check(not names_steps or trace.get("steps", {}).get("count", 0) > 0, f"no step in {trace['path']}")
    check("VERDICT" in run.out, "the first screen is missing")
    return found


def steps(trace):
    """The steps of a trace with requests."""
    by_phase = trace["steps"]["by_phase"]
    return sum(by_phase.get(phase, 0) for phase in ("prefill", "decode", "mixed"))


def check_vllm_idle(url):
    """No profiler session was left open: a start is taken (409 if not)."""
    status, text = ask(url + "/start_profile", "POST", timeout=300)
    check(status == 200, f"{url} has a session left: a start answers {status} {text[:100]}")
    check(ask(url + "/stop_profile", "POST", timeout=300)[0] == 200, f"{url}: a stop fails")
