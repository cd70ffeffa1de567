"""Engines that tacho itself launches: `tacho launch` and `tacho record --launch`, with nothing left of them afterwards."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from frame import Setup, check  # puts tools/ on the path
from engines_lib import environments, model, servers

NONE = Setup((), 4)  # tools/engines holds no engine for them


def engine_command(engine):
    """The command line after `--`, and what goes before it."""
    python, folder = environments.find(engine), model.make_model(environments.root() / "tiny-qwen3")
    make = {"vllm": lambda: servers.vllm_command(python, folder, 0),
            "sglang": lambda: servers.sglang_command(python, folder, 0, "/tmp")}[engine]
    command, environment = make()
    command = [str(word) for word in command]
    at = command.index("--port")
    environment.pop("SGLANG_TORCH_PROFILER_DIR", None)
    return command[:at] + command[at + 2:], {**os.environ, **environment}


def shared_memory():
    return set(os.listdir("/dev/shm"))


def processes_of(folder):
    """Those that have something of `folder` in their environment or command line: a launched engine and its keeper."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and int(process.name) != os.getpid():
                text = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
                if str(folder).encode() in text:
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:100])
        except OSError:
            continue
    return found


class Launching:
    """Runs tacho with its runtime folder in `folder`, and knows what was there before."""

    def __init__(self, tacho, engine):
        self.tacho, self.folder = tacho.program, tacho.work
        self.command, environment = engine_command(engine)
        self.engine = engine
        self.environment = {**environment, "XDG_RUNTIME_DIR": str(self.folder)}
        self.shared = shared_memory()

    def start(self, *options):
        return subprocess.Popen([self.tacho, "launch", self.engine, "--out", self.folder, *options, "--", *self.command],
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *arguments, timeout=300):
        return subprocess.run([self.tacho, *map(str, arguments)], env=self.environment, capture_output=True, text=True,
                              timeout=timeout)

    def nothing_left(self, what):
        until = time.monotonic() + 40
        while time.monotonic() < until:
            left, shared = processes_of(self.folder), shared_memory() - self.shared
            if not left and not shared:
                break
            time.sleep(0.3)
        check(not left, f"{what}: processes are left: {left}")
        check(not {s for s in shared if s.startswith("psm_")}, f"{what}: shared memory is left: {shared}")
        known = json.loads(self.run("launch", "list", "--json").stdout)["launches"]
        check(known == [], f"{what}: still known: {known}")


def record_launched(tacho, engine):
    launching = Launching(tacho, engine)
    done = launching.run("record", "--launch", engine, "--out", launching.folder, "--duration", "2s", "--warm-up", "1s",
                         "--baseline", "1s", "--concurrency", "4", "--prompt-tokens", "40", "--output-tokens", "20",
                         "--", *launching.command)
    check(done.returncode == 0, f"record --launch {engine}: {done.returncode} {done.stdout[-800:]} {done.stderr[-1500:]}")
    folders = [f for f in launching.folder.iterdir() if f.name.startswith("tacho-2")]
    check(len(folders) == 1, f"one folder, not {folders}")
    for part in ("run.json", "traces", "requests.jsonl", f"server/{engine}.log"):
        check((folders[0] / part).exists(), f"{part} is in the folder")
    check("1 of 1 ranks proven" in done.stdout or "1 of 1 rank" in done.stdout, done.stdout[-800:])
    launching.nothing_left("recorded")


def launched_vllm_is_recorded(_, tacho):
    record_launched(tacho, "vllm")


def launched_sglang_is_recorded(_, tacho):
    record_launched(tacho, "sglang")


def ready_line(process):
    """Reads until the engine is ready; the text so far."""
    text = ""
    for line in process.stdout:
        text += line
        if "holding it" in line:
            break
    return text


def launched_ten_times(_, tacho):
    launching = Launching(tacho, "vllm")
    for turn in range(10):
        process = launching.start()
        text = ready_line(process)
        check("/start_profile is there" in text and "shows that it took them" in text, f"turn {turn}: {text}")
        process.send_signal(signal.SIGINT)
        check(process.wait(60) == 0, f"turn {turn}: status {process.returncode}")
        launching.nothing_left(f"turn {turn}")


def killed_in_each_phase(_, tacho):
    """kill -9 of tacho just after the start, while the workers load, and while it holds the engine."""
    launching = Launching(tacho, "vllm")
    for seconds in (0.3, 4, 12, None):
        process = launching.start()
        if seconds is None:
            ready_line(process)
        else:
            time.sleep(seconds)
        process.kill()
        process.wait()
        launching.nothing_left(f"killed after {seconds or 'its start'} s")


def wrong_options_before_the_start(_, tacho):
    launching = Launching(tacho, "vllm")
    for words, said in ((["--profiler-config", '{"max_iteration":1}'], "max_iterations"),
                        (["--profiler-config", '{"profiler":"cuda"}'], "cpu")):
        began = time.monotonic()
        done = launching.run("launch", "vllm", "--out", launching.folder, "--", *launching.command, *words)
        check(done.returncode == 2 and said in done.stderr.lower(), f"{words}: {done.returncode} {done.stderr}")
        check(time.monotonic() - began < 5, f"{words}: refused after {time.monotonic() - began:.0f} s")
    done = launching.run("launch", "vllm", "-q", "--out", launching.folder, "--", *launching.command, "--max-model-len", "99999999")
    check(done.returncode == 6 and "max_model_len" in done.stderr, f"a failing start names its cause: {done.stderr}")
    launching.nothing_left("refused")


SCENARIOS = [(NONE, s) for s in (launched_vllm_is_recorded, launched_sglang_is_recorded, launched_ten_times,
                                 killed_in_each_phase, wrong_options_before_the_start)]
