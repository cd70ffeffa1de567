"""Shared by the checks that consist of scenarios: comparing, simulated deployments, and running each scenario in a folder of its own."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import processes

TACHO = None
passed = failed = 0


class Skipped(Exception):
    """Why a scenario cannot be tried here."""


def check(what, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {str(detail)[:4000]}", flush=True)


@contextlib.contextmanager
def simulation(folder, *options, daemon=False):
    """Runs `tacho simulate`; yields its addresses as printed with --json. vLLM runs in its developer mode, as RL stacks start
    it: it reports its folder. With `daemon`: a process for each rank, which asks Kineto's daemon in FOLDER."""
    others = {"sglang", "tensorrt-llm", "tokenspeed", "dynamo-sglang"}
    if not others & set(options) and "--profiler-config" not in options and "--engine-version" not in options:
        options = ("--dev-mode", *options)
    if "--model-size" not in options:
        options = ("--model-size", "8b", *options)  # fewer steps, smaller traces
    if "--speed" not in options:
        options = ("--speed", "0.4", *options)
    os.makedirs(folder, exist_ok=True)
    environment = {**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(folder)} if daemon else None
    with processes.running([TACHO, "simulate", "--json", "--trace-dir", f"{folder}/engine", *options], env=environment,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        yield json.loads(processes.first_line(process))


def target(addresses):
    router = addresses.get("router")
    if router:
        return [router["url"] if isinstance(router, dict) else router]
    return [w["url"] if isinstance(w, dict) else w for w in addresses["workers"]]


def run(*arguments, timeout=180):
    return subprocess.run([TACHO, *arguments], capture_output=True, text=True, timeout=timeout)


def wait_for(test, seconds=processes.PATIENCE_S, pause=0.1):
    """Whether `test` becomes true; the caller's check says what was waited for."""
    until = time.monotonic() + seconds
    while not (holds := test()) and time.monotonic() < until:
        time.sleep(pause)
    return holds


def main(scenarios, usage):
    """Runs the scenarios (functions of a folder's path), or those that `TACHO --only NAME ...` names. The exit status: 1 when
    something failed or nothing was checked, 77 when nothing could be tried; a line names what could not."""
    global TACHO
    named = {scenario.__name__: scenario for scenario in scenarios}
    names = sys.argv[3:] if sys.argv[2:3] == ["--only"] else list(named)
    if len(sys.argv) < 2 or set(names) - set(named):
        sys.exit(f"{usage}\nscenarios: {', '.join(named)}")
    TACHO = str(pathlib.Path(sys.argv[1]).resolve())
    for name in ("OPENAI_API_KEY", "TACHO_API_KEY", "NO_COLOR"):
        os.environ.pop(name, None)
    left_out = 0
    for name in names:
        folder = tempfile.mkdtemp(prefix=f"tacho-{name}-")
        os.environ["XDG_RUNTIME_DIR"] = folder  # its locks
        os.environ["XDG_STATE_HOME"] = folder + "/state"  # its figures of earlier recordings
        begin = time.monotonic()
        try:
            named[name](folder)
        except (Skipped, processes.NoTerminal) as why:
            print(f"*** NOT TESTED: {name}: {why}", flush=True)
            left_out += 1
        except Exception as problem:  # the others go on
            check(name, False, repr(problem)[:2000])
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or passed + left_out == 0 else 77 if passed == 0 else 0)
