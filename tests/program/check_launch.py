#!/usr/bin/env python3
"""Engines that tacho launches: commands, starts, failures, recordings. check_launch_ends.py ends them at every moment.

usage: check_launch.py TACHO [--only NAME ...]

The engine is the script of fake_engine.py; real engines are launched by tests/engines.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading

import fake_nsys
import processes
import scenario
from fake_engine import ROUTER, answers, engine_in, fakes, free_pair, free_port, launch, nothing_left, server_in
from processes import first_line, running
from scenario import check, main, run, wait_for


def dry_run(folder):
    done = run(*launch(folder, "--dry-run", "--preset", "deep", words=("m", "--api-key", "s3cret"))[1:])
    check("dry run", done.returncode == 0, done.stderr)
    check("dry run: the command", all(w in done.stdout for w in (
        "VLLM_CUSTOM_SCOPES_FOR_PROFILING=1", '"torch_profiler_with_stack":true', '"max_iterations":20')), done.stdout)
    check("dry run: no key is shown", "s3cret" not in done.stdout and "--api-key '***'" in done.stdout, done.stdout)
    keys = [f"--env={name}=s3cret" for name in ("OPENAI_API_KEYS", "MY_TOKENS", "AWS_ACCESS_KEY_ID", "MYSQL_PWD", "KEY")]
    done = run(*launch(folder, "--dry-run", *keys, words=("m", "--api-key", "s3cret", "s3cret2", "--hf-overrides", '{"api_key":"s3cret"}'))[1:])
    check("dry run: no key of a variable or of JSON", "s3cret" not in done.stdout + done.stderr and "MY_TOKENS='***'" in done.stdout, done.stdout)
    mine = run(*launch(folder, "--dry-run", "--json", words=("m", "--profiler-config", '{"profiler":"torch","torch_profiler_dir":"/my/traces"}'))[1:])
    check("dry run: the user's folder", json.loads(mine.stdout)["servers"][0]["traces"] == "/my/traces", mine.stdout)
    os.environ["FAKE_VERSION"] = "0.34.1"
    newer = run(*launch(folder, "--dry-run")[1:])
    del os.environ["FAKE_VERSION"]
    check("dry run: a newer engine", newer.returncode == 0 and "tacho knows vLLM up to 0.33" in newer.stdout + newer.stderr, (newer.stdout, newer.stderr))
    check("dry run: the next command", done.stdout.splitlines()[-1].startswith("next: tacho record http://127.0.0.1:"), done.stdout)
    for engine, options in (("vllm", ""), ("sglang", " --record-shapes --with-stack --steps 20")):
        os.environ["FAKE_VERSION"] = {"vllm": "0.32.0", "sglang": "0.5.20"}[engine]
        for preset in ("light", "deep"):
            done = run("launch", engine, "--python", engine_in(folder), "--dry-run", "--preset", preset, "--port", free_port(), "--", "m")
            deep = preset == "deep"
            check(f"dry run: next of {engine} {preset}", re.search(r"^next: tacho record http://\S+" + (options if deep else "") + "$",
                                                                 done.stdout, re.M), done.stdout)
            check(f"dry run: cost of {engine} {preset}", ("some ten times the bytes" in done.stderr) == deep, done.stderr)
            check(f"dry run: {engine} {preset} advises nothing against it", "with_stack" not in done.stderr, done.stderr)
    del os.environ["FAKE_VERSION"]
    config = pathlib.Path(folder, "config.yaml")
    config.write_text("tensor-parallel-size: 2\nprofiler-config: {profiler: torch, max_iterations: 7}\n")
    filed = run(*launch(folder, "--dry-run", words=("m", "--config", str(config)))[1:])
    check("dry run: the file's configuration, with the preset", '"max_iterations":7' in filed.stdout and '"torch_profiler_with_stack":false'
          in filed.stdout, filed.stdout + filed.stderr)
    two = ("--dry-run", "--replicas", "2", "--port", free_pair(), "--env")
    filed = run(*launch(folder, *two, "CUDA_VISIBLE_DEVICES=2,3,4,5", words=("m", "--config", str(config)))[1:])
    check("dry run: GPUs of the file and of --env", all(f"CUDA_VISIBLE_DEVICES={gpus} " in filed.stdout for gpus in ("2,3", "4,5"))
          and filed.stdout.count("CUDA_VISIBLE") == 2, filed.stdout + filed.stderr)
    config.write_text("model: m\n")
    filed = run(*launch(folder, "--dry-run", words=("--config", str(config)))[1:])
    check("dry run: the file's model", filed.returncode == 0, filed.stderr)
    whole = run(*launch(folder, "--dry-run", words=("vllm", "serve", "m"))[1:])
    check("dry run: a whole command beside --python", " -m vllm.entrypoints.openai.api_server --model m --host" in whole.stdout,
          whole.stdout + whole.stderr)
    for settings in (["CUDA_VISIBLE_DEVICES=2", "HF_TOKEN=s3cret"], ["env", "CUDA_VISIBLE_DEVICES=2", "HF_TOKEN=s3cret"]):
        shown = run(*launch(folder, "--dry-run", words=(*settings, "vllm", "serve", "m"))[1:])
        check(f"dry run: {settings[0]} before the program", shown.returncode == 0
              and shown.stdout.startswith(f"CUDA_VISIBLE_DEVICES=2 HF_TOKEN='***' {engine_in(folder)} -m vllm.") and "s3cret" not in shown.stdout,
              shown.stdout + shown.stderr)
    with fakes(FAKE_VERSION="0.11.0"):
        script = pathlib.Path(folder, "vllm")
        script.write_text(f"#!{engine_in(folder)}\n")
        script.chmod(0o755)
        for words in ((), ("nice", "-n", "1"), ("env", "-u", "NO_SUCH", "A=1")):
            below = run("launch", "vllm", "--dry-run", "--port", free_port(), "--", *words, str(script), "serve", "m")
            check(f"dry run: the version below {words}", "VLLM_TORCH_PROFILER_DIR=" in below.stdout and "--profiler-config" not in below.stdout
                  and "its version" not in below.stderr, below.stdout + below.stderr)
        script.unlink()
    config.write_text("uds: /tmp/s\n")
    filed = run(*launch(folder, "--dry-run", words=("m", "--config", str(config)))[1:])
    check("dry run: a file without a port", filed.returncode == 2 and "plain HTTP" in filed.stderr, filed.stderr)
    for what, words, out, said in (
            ("the place of the folder", ("m",), "/proc", "tacho-launch-vllm-[-0-9]+: nothing can be written there: /proc is not a disk: name another "
             r"folder \(-o DIR\)"),
            ("a place that is not a folder", ("m",), "/dev/null", "/dev/null is not a folder"),
            ("the engine's own folder", ("m", "--profiler-config", '{"profiler":"torch","torch_profiler_dir":"/proc/x"}'), folder,
             "/proc/x: nothing can be written there: /proc is not a disk: name another folder .in the engine's options or environment")):
        full = run(*launch(folder, "--dry-run", "-o", out, words=words)[1:])
        check(f"dry run: {what}: refused", full.returncode == 3 and re.search(said, full.stderr), (full.returncode, full.stderr))
    cuda = run(*launch(folder, "--dry-run", words=("m", "--profiler-config.profiler", "cuda"))[1:])
    check("dry run: profiler cuda", re.search("^next: launch it with --preset nsys, then tacho record http://\\S+ --via nsys$", cuda.stdout, re.M)
          and "tacho launch --preset nsys" in cuda.stderr, (cuda.stdout, cuda.stderr))
    own_path = os.environ["PATH"]
    os.environ["PATH"] = fake_nsys.install(f"{folder}/nsys", scenario.TACHO)["PATH"]
    with fakes(FAKE_NVTX_IN="/opt/nvtx"):
        for settings, there in (((), False), (("--env", "PYTHONPATH=/opt/nvtx"), True)):
            under = run(*launch(folder, "--dry-run", "--preset", "nsys", *settings)[1:])
            check(f"dry run: nvtx with {settings}", ("VLLM_NVTX_SCOPES_FOR_PROFILING=1" in under.stdout) == there
                  and ("no package nvtx" in under.stderr) != there, under.stdout + under.stderr)
    os.environ["PATH"] = own_path
    with fakes(FAKE_VERSION="0.5.20"):
        keys = run(*launch(folder, "--dry-run", engine="sglang", words=("m", "--api-key", "k1", "--admin-api-key", "k2"))[1:])
    check("dry run: two keys", keys.returncode == 0 and "--admin-api-key: it cannot be recorded yet" in keys.stderr, keys.stderr)
    check("dry run: makes nothing", not list(pathlib.Path(folder).glob("tacho-launch*")))


def documented(folder):
    """What docs/launch.md shows of commands that start nothing."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/launch.md").read_text()
    shown = re.findall(r"^\$ tacho (launch .*)\n((?:[^$`].*\n)+)", page, re.M)

    def masked(text):
        text = text.replace(engine_in(folder), "python3")
        text = re.sub(r'"[^"]*/tacho-launch-vllm-\d+-\d+/traces', '"FOLDER/traces', text)
        return re.sub(r"(127\.0\.0\.1:|--port )\d+", r"\1PORT", text)
    tried = 0
    for command, want in shown:
        if "--dry-run" not in command and "nothing was started" not in want:
            continue
        done = run(*shlex.split(command.replace("launch vllm", f"launch vllm --python {engine_in(folder)} --out {folder}", 1)))
        got = masked(done.stderr + done.stdout).splitlines()
        want = masked(want).splitlines()
        more = want[-1:] == ["..."]
        check(f"docs/launch.md: {command[:60]}", got[:len(want) - 1] == want[:-1] if more else got == want, (got, want))
        tried += 1
    check("docs/launch.md: all of them", tried == 3, shown)


def detached(folder):
    done = run(*launch(folder, "--detach", "--json", "--name", "my-task")[1:])
    check("detached", done.returncode == 0, done.stderr)
    shown = json.loads(done.stdout)
    server = shown["servers"][0]
    check("detached: who wrote it", list(shown["tacho"]) == ["version"], shown["tacho"])
    check("detached: answers", answers(shown["url"]))
    check("detached: profiling is proven", server["profiling"]["has_route"] and server["profiling"]["in_arguments"], server)
    check("detached: its log is named after the task's folder", "my-task" in server["log"] and os.path.exists(server["log"]))
    again = run(*launch(folder, "--name", "my-task")[1:])
    check("detached: a name is taken once", again.returncode == 2 and "launch stop my-task" in again.stderr, again.stderr)
    taken = run(*launch(folder, "--port", shown["url"].rpartition(":")[2])[1:])
    check("detached: whose the port is", taken.stderr.rstrip().endswith(
        ": leave out --port for a free one, or end it: tacho launch stop my-task"), taken.stderr)
    check("detached: list", "my-task" in run("launch", "list").stdout)
    status = run("engine", "status", shown["url"])
    check("detached: can be profiled", status.returncode == 0, status.stdout + status.stderr)
    stopped = run("launch", "stop", "my-task")
    check("detached: stop", stopped.returncode == 0, stopped.stderr)
    nothing_left("detached", folder)


def held(folder):
    """Ctrl-C; a killed tacho; a killed keeper; a killed engine."""
    for what, status in (("interrupted", 0), ("tacho killed", -9), ("keeper killed", 6), ("engine killed", 6)):
        with running(launch(folder, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            begun = wait_for(lambda: json.loads(run("launch", "list", "--json").stdout)["launches"], 30)
            check(f"{what}: is known while it starts", begun)
            lines = []
            reader = threading.Thread(target=lambda: [lines.append(line) for line in process.stdout], daemon=True)
            reader.start()
            shown = wait_for(lambda: "}\n" in lines or not reader.is_alive()) and "}\n" in lines
            check(f"{what}: shows it as JSON", shown, lines)
            if not shown:
                continue
            server = json.loads("".join(lines))["servers"][0]
            if what == "interrupted":
                process.send_signal(signal.SIGINT)
            elif what == "tacho killed":
                process.kill()
            else:
                os.kill(server["keeper" if what == "keeper killed" else "pid"], signal.SIGKILL)
            ended = process.wait(60)
            said = process.stderr.read()
            check(f"{what}: status", ended == status, f"{ended}: {said}")
            check(f"{what}: says when it is ended", what != "interrupted" or said.endswith("\ntacho: vllm is ended\n"), said)
            check(f"{what}: why", what != "keeper killed" or ("its keeper, process" in said and "memory" not in said), said)
        nothing_left(what, folder)


def port_taken(folder):
    """Another server takes the port while the engine starts: its answers prove nothing."""
    words = launch(folder, "--ready-within", "8s")
    port = words[words.index("--port") + 1]
    with fakes(FAKE_DELAY="1000"), running(words, stderr=subprocess.PIPE, text=True) as process:
        check("port taken: it starts", wait_for(lambda: json.loads(run("launch", "list", "--json").stdout)["launches"], 30))
        with running([scenario.TACHO, "simulate", "--port", port, "--trace-dir", f"{folder}/other"], stdout=subprocess.DEVNULL) as other:
            status = process.wait(60)
            said = process.stderr.read()
            check("port taken: said", status == 6 and f"its port is held by another program, process {other.pid}" in said, (status, said))
    nothing_left("port taken", folder)


def phases(folder):
    """What the engine does is shown, not what a library says meanwhile; also of a bar of progress that has not ended."""
    log = "(Worker pid=7) INFO 11-25 03:12:01 [a.py:1] Starting to load model m...\n/env/x.py:223: UserWarning: Triton is not supported\n"
    for more, what in (("", "loading the weights"), ("Capturing CUDA graphs:  20%|##  | 1/5", "capturing CUDA graphs")):
        with fakes(FAKE_LOG=log + more, FAKE_DELAY="1000"):
            ours, theirs = processes.open_terminal(150)
            with running(launch(folder), stderr=theirs) as process:
                os.close(theirs)
                seen = processes.read_until(ours, f"vllm: starting, 3 s: {what} for ".encode(), process).decode()
                check(f"phases: {what}", f": {what} for 0 s" in seen and "Triton" not in seen.split(what)[-1], seen)
            os.close(ours)
        nothing_left(f"phases: {what}", folder)


def with_key(folder):
    """SGLang's --api-key guards every route but /health."""
    with fakes(FAKE_SERVER=server_in(folder), FAKE_KEY="s3cret", FAKE_VERSION="0.5.20"):
        def launched(*words):
            return run(*launch(folder, "--detach", "-q", engine="sglang", words=("m", *words))[1:])
        for what, words, variables in (("in its words", ("--api-key", "s3cret"), {}), ("in TACHO_API_KEY", (), {"TACHO_API_KEY": "s3cret"})):
            with fakes(**variables):
                done = launched(*words)
            check(f"key {what}: starts", done.returncode == 0, done.stderr)
            check(f"key {what}: is not shown", "s3cret" not in done.stdout + done.stderr, done.stdout + done.stderr)
            run("launch", "stop")
            nothing_left(f"key {what}", folder)
        refused = launched()
        check("no key: ends soon, with what to do", refused.returncode == 6 and "its /ready answers 401: it needs an API key: set TACHO_API_KEY"
              in refused.stderr, refused.stderr)
        nothing_left("no key", folder)


def two_at_once(folder):
    """Each has a name and a folder of its own, and both can be listed and stopped."""
    commands = [launch(folder, "--detach", "-q"), launch(folder, "--detach", "-q")]
    with running(commands[0], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        with running(commands[1], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as second:
            for process in (first, second):
                out, err = process.communicate(timeout=120)
                check("at once: starts", process.returncode == 0, err)
    launches = json.loads(run("launch", "list", "--json").stdout)["launches"]
    check("at once: two names", sorted(one["name"] for one in launches) == ["vllm", "vllm-2"], launches)
    check("at once: two folders", len({one["folder"] for one in launches}) == 2, launches)
    stopped = run("launch", "stop", "vllm", "vllm-2")
    check("at once: stop", stopped.returncode == 0, stopped.stderr)
    nothing_left("at once", folder)


def replicas(folder):
    """Two engines, each with GPUs of its own, and the router in front of them where one is installed."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
    router = pathlib.Path(folder, "vllm-router")  # beside the engine's Python
    if not shutil.which("vllm-router"):
        alone = run(*launch(folder, "--replicas", "2", "--dry-run", "--port", free_pair())[1:])
        check("replicas: no router", alone.returncode == 0 and "no vllm-router is installed: none stands in front of the 2 engines"
              in alone.stderr, alone.stderr)
        check("replicas: next names both", re.search(r"^next: tacho record http://\S+ http://\S+$", alone.stdout, re.M), alone.stdout)
        check("replicas: two commands", len(re.findall(r"^CUDA_VISIBLE_DEVICES=[01] ", alone.stdout, re.M)) == 2, alone.stdout)
        started = run(*launch(folder, "--replicas", "2", "--detach", "-q", "--port", free_pair())[1:])
        urls = re.findall(r"http://\S+", started.stdout.splitlines()[-1]) if started.stdout else []
        listed = run("launch", "list").stdout
        check("replicas: list names both", len(urls) == 2 and all(url in listed for url in urls), (started.stdout, started.stderr, listed))
        asked = run("doctor").stdout
        check("replicas: doctor asks both", all(url in asked for url in urls), asked)
        run("launch", "stop")
        nothing_left("replicas without a router", folder)
    router.write_text(ROUTER)
    router.chmod(0o755)
    done = run(*launch(folder, "--replicas", "2", "--detach", "--name", "two", "--port", free_pair())[1:])
    check("replicas: start", done.returncode == 0 and "router is installed" not in done.stderr, done.stdout + done.stderr)
    shown = json.loads(run("launch", "list", "--json").stdout)["launches"]
    check("replicas: known", len(shown) == 1, shown)
    servers = {server["name"]: server for server in shown[0]["servers"]}
    check("replicas: three servers", list(servers) == ["vllm-1", "vllm-2", "vllm-router"], servers)
    check("replicas: all answer", all(answers(server["url"]) for server in servers.values()), servers)
    front = servers["vllm-router"]["url"]
    check("replicas: the router's URL is shown", shown[0]["url"] == front and f"next: tacho record {front}\n" in done.stdout, done.stdout)
    gpus = [pathlib.Path(f"/proc/{servers[name]['pid']}/environ").read_bytes().split(b"\0") for name in ("vllm-1", "vllm-2")]
    check("replicas: GPUs of their own", b"CUDA_VISIBLE_DEVICES=0" in gpus[0] and b"CUDA_VISIBLE_DEVICES=1" in gpus[1], gpus)
    status = run("engine", "status", front)
    check("replicas: both behind it", all(servers[name]["url"] in status.stdout for name in ("vllm-1", "vllm-2")), status.stdout + status.stderr)
    stopped = run("launch", "stop", "two")
    check("replicas: stop", stopped.returncode == 0, stopped.stderr)
    nothing_left("replicas", folder)
    del os.environ["CUDA_VISIBLE_DEVICES"]


def old_version(folder):
    """vLLM 0.10 cannot leave stacks out: it is no reason not to start it."""
    os.environ["FAKE_VERSION"] = "0.10.2"
    done = run(*launch(folder, "--dry-run")[1:])
    check("old version", done.returncode == 0 and "always records Python stacks" in done.stderr, done.stderr)
    del os.environ["FAKE_VERSION"]


def fails_to_start(folder):
    os.environ.update(FAKE_EXIT="3", FAKE_LOG="(VllmWorker-0 pid=7) ERROR 11-24 16:02:39 [x.py:1] Traceback (most recent call "
                      "last):\n(VllmWorker-0 pid=7) ERROR 11-24 16:02:39 [x.py:1] ValueError: the \x1b[31mcause\nRuntimeError: "
                      "Engine core initialization failed.\n")
    done = run(*launch(folder, "-q")[1:])
    check("fails: status", done.returncode == 6, done.returncode)
    check("fails: the first error, and whose", all(w in done.stderr for w in (
        "exit status 3", "vllm.log:2, by VllmWorker-0 pid=7", "ValueError: the cause")), done.stderr)
    check("fails: what to do next", re.search(r"\nnext: tacho doctor \S+/logs/vllm.log$", done.stderr), done.stderr)
    check("fails: not the front end's", "Engine core init" not in done.stderr, done.stderr)
    with fakes(FAKE_LINES="1500000"):  # 39 MB
        done = run(*launch(folder, "-q")[1:])
    check("fails: after a long log", "vllm.log:1500002, by VllmWorker-0" in done.stderr, done.stderr)
    nothing_left("fails", folder)
    del os.environ["FAKE_EXIT"], os.environ["FAKE_LOG"]


def refused(folder):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = str(s.getsockname()[1])
        taken = run(*launch(folder, "--port", port)[1:])
        check("taken port: who holds it", taken.returncode == 2 and f"process {os.getpid()}" in taken.stderr, taken.stderr)
        check("taken port: what to do", ": leave out --port for a free one" in taken.stderr and "launch stop" not in taken.stderr, taken.stderr)
        fight = run(*launch(folder, "--port", "1", words=("m", "--port", "2"))[1:])
        check("two ports", fight.returncode == 2 and "give one of them" in fight.stderr, fight.stderr)
    for what, words, said in (("unknown key", ("m", "--profiler-config", '{"max_iteration":1}'), "max_iterations"),
                              ("misspelt option", ("m", "--profile-config", "{}"), "--profile-config: vLLM 0.32.0 has no such option, and does "
                               "not start with it: did you mean --profiler-config?"),
                              ("no JSON", ("m", "--profiler-config", "{"), "JSON"),
                              ("no file", ("m", "--config", "nowhere.yaml"), "--config nowhere.yaml")):
        done = run(*launch(folder, words=words)[1:])
        check(f"{what}: refused", done.returncode == 2 and said in done.stderr and "--force" in done.stderr, done.stderr)
        check(f"{what}: how to start it", "(--force" in done.stderr.splitlines()[0][-40:], done.stderr)
    file = pathlib.Path(folder, "wrong.yaml")
    file.write_text("profiler-config: {max_iteration: 1}\n")
    done = run(*launch(folder, words=("m", "--config", str(file)))[1:])
    check("unknown key in a file: names it", f"--profiler-config in {file}: vLLM" in done.stderr, done.stderr)
    config = json.dumps({"profiler": "torch", "torch_profiler_dir": "/etc/passwd"})
    done = run(*launch(folder, words=("m", "--profiler-config", config))[1:])
    check("traces in a file: refused", done.returncode == 3 and "/etc/passwd: nothing can be written there" in done.stderr, (done.returncode, done.stderr))
    done = run(*launch(folder, words=("m", "--uds", "/tmp/s"))[1:])
    check("no port: refused", done.returncode == 2 and "plain HTTP" in done.stderr, done.stderr)
    done = run(*launch(folder, words=("m", "--env", "A=1"))[1:])
    check("tacho's own option behind --", done.returncode == 2 and "--env is tacho's own option: put it before --" in done.stderr, done.stderr)
    script = str(pathlib.Path(folder, "vllm"))
    pathlib.Path(script).write_text("#!/usr/bin/env python3\n")
    os.chmod(script, 0o755)
    for what, arguments, said in (("no engine", ("launch", "vlm", "--", "m"), "did you mean vllm"),
                                  ("no model", ("launch", "vllm"), "no model"),
                                  ("options alone", ("launch", "vllm", "--", "--max-model-len", "4096"), "no model"),
                                  ("no model of a whole command", ("launch", "vllm", "--", "python3", "-m", "vllm.entrypoints.openai.api_server", "--port", "1"),
                                   "no model: add --model MODEL"),
                                  ("no model of vllm serve", ("launch", "vllm", "--python", engine_in(folder), "--", "vllm", "serve", "--port", "1"),
                                   "no model: put it first: vllm serve MODEL ..."),
                                  ("model last", ("launch", "vllm", "--", "--enforce-eager", "m"), "no model before the options: put it first"),
                                  ("a script as Python", ("launch", "vllm", "--python", script, "--dry-run", "--", "m"),
                                   f"it is not a Python interpreter: give {engine_in(folder)}"),
                                  ("no model to record", ("record", "--launch", "sglang", "--", "serve", "--port", "1"), "no model"),
                                  ("a shell", ("launch", "vllm", "--", "bash", "-c", "vllm serve m"), "give the command itself, without the shell"),
                                  ("one quoted word", ("launch", "vllm", "--", "vllm serve m --port 8000"), "is one word in quotes: leave out the quotes"),
                                  ("one quoted word with a setting", ("launch", "vllm", "--", "HF_TOKEN=s3cret vllm serve m"), "is one word in quotes"),
                                  ("a terminal's server", ("launch", "vllm", "--", "tmux", "new", "-d", "vllm serve m"), "tmux: its server"),
                                  ("no server", ("record", "--launch", "vllm", "--", "vllm", "bench", "serve"), "starts no server: give vllm serve MODEL"),
                                  ("another engine", ("launch", "sglang", "--", "vllm", "serve", "m"), "starts vllm: tacho launch vllm -- ..."),
                                  ("a container", ("launch", "vllm", "--", "docker", "run", "image", "--model", "m"),
                                   "start it yourself, and record it: tacho record URL; tacho doctor URL says what it needs"),
                                  ("a container to record", ("record", "--launch", "vllm", "--", "sudo", "docker", "run", "image"), "record it"),
                                  ("preset", ("launch", "vllm", "--preset", "ligt", "--", "m"), "did you mean light"),
                                  ("name", ("launch", "vllm", "--name", "../x", "--", "m"), "--name"),
                                  ("list", ("launch", "list", "foo"), "takes no name: 'foo'"),
                                  ("stop", ("launch", "stop", "nobody"), "launch list"),
                                  ("no python", ("launch", "vllm", "--python", "/none", "--", "m"), "no such program")):
        done = run(*arguments)
        check(f"{what}: refused", done.returncode == 2 and said in done.stderr, done.stderr)
    holder = "\nimport socket,sys,time; s=socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); time.sleep(1000)"
    with running(["python3", "-c", holder, "--long", *["word"] * 50, "--api-key", "k1", "s3cret"], stdout=subprocess.PIPE, text=True) as process:
        taken = run(*launch(folder, "--port", first_line(process).strip())[1:])
        said = [line for line in taken.stderr.splitlines() if "listens on it" in line]
        check("taken port: in one line", len(said) == 1 and "import socket" in said[0] and "\\n" in said[0], taken.stderr)
        check("taken port: what is left out shows", "..." in said[0] and "'***': leave out --port" in said[0], taken.stderr)
        check("taken port: no key is shown", "--api-key '***'" in taken.stderr and "s3cret" not in taken.stderr, taken.stderr)
    late = run("record", "--launch", "vllm", "--python", engine_in(folder), "--out", folder, "--duration", "soon", "--", "m")
    check("a recording's own option: refused", late.returncode == 2 and "--duration" in late.stderr, late.stderr)
    os.environ["TMPDIR"] = "/proc"
    full = run(*launch(folder)[1:])
    check("no room: refused", full.returncode == 3 and "another folder (TMPDIR)" in full.stderr, full.stderr)
    del os.environ["TMPDIR"]
    check("refused: nothing is made", not list(pathlib.Path(folder).glob("tacho-launch*")))
    nothing_left("refused", folder)


def recorded(folder):
    """The whole way in one command."""
    done = run("record", "--launch", "vllm", "--port", free_port(), "--python", engine_in(folder), "--out", folder, "--duration", "1s", "--warm-up", "0.5s",
               "--baseline", "0.5s", "--prompt-tokens", "50", "--output-tokens", "20", "--", "HF_TOKEN=s3cret", "A_WORD=plain", "m")
    check("recorded", done.returncode == 0, f"{done.returncode} {done.stdout[-1500:]} {done.stderr}")
    runs = [p for p in pathlib.Path(folder).glob("tacho-2*")]
    check("recorded: one folder", len(runs) == 1 and not list(pathlib.Path(folder).glob("tacho-launch*")), list(pathlib.Path(folder).iterdir()))
    for part in ("run.json", "traces", "requests.jsonl", "server/vllm.log"):
        check(f"recorded: has {part}", runs and (runs[0] / part).exists())
    check("recorded: how to do it again", runs and "--launch vllm" in json.loads((runs[0] / "run.json").read_text())["command"])
    command = json.loads((runs[0] / "run.json").read_text())["command"] if runs else ""
    check("recorded: settings before the words, without a secret value", "HF_TOKEN=$HF_TOKEN" in command and "s3cret" not in command
          and "--env A_WORD=plain " in command and command.endswith(" -- m"), command)
    nothing_left("recorded", folder)
    wrong = run("record", "--launch", "vllm", "--python", engine_in(folder), "http://127.0.0.1:1", "--", "m")
    check("recorded: a target and a launch", wrong.returncode == 2 and "leave out" in wrong.stderr, wrong.stderr)


def proven(folder):
    """Where each engine has its options."""
    for engine, version, variables, said in (("vllm", "0.32.0", {}, "its options are in the arguments"),
                                             ("sglang", "0.5.23", {"FAKE_SGLANG": "1"}, "its trace folder is in its environment")):
        with fakes(FAKE_VERSION=version, **variables):
            done = run(*launch(folder, "--detach", "-q", engine=engine)[1:])
        check(f"proven: {engine}", done.returncode == 0 and f"POST /start_profile is there, {said}" in done.stdout, done.stdout + done.stderr)
        run("launch", "stop")
        nothing_left(f"proven: {engine}", folder)


def own_options_win(folder):
    """SGLang's preset asks for options of the recording: those that the user gave stay."""
    with fakes(FAKE_SGLANG="1", FAKE_VERSION="0.5.23"):
        done = run("record", "--launch", "sglang", "--preset", "deep", "--steps", "7", "--port", free_port(), "--python", engine_in(folder), "--out",
                   folder, "--warm-up", "0.5s", "--baseline", "0.5s", "--prompt-tokens", "50", "--output-tokens", "20", "--", "m")
    check("own options", done.returncode in (0, 4), f"{done.returncode} {done.stdout[-1500:]} {done.stderr}")
    for file in pathlib.Path(folder).glob("tacho-2*/run.json"):
        text = file.read_text()
        check("own options: those, and the rest of the preset", r'\"num_steps\":7,' in text and r'\"with_stack\":true' in text, text)
    nothing_left("own options", folder)


def in_the_home(folder):
    """No shell expands the ~ of a JSON; vLLM does."""
    home, here = pathlib.Path(folder, "home"), pathlib.Path(folder, "here")
    home.mkdir()
    here.mkdir()
    config = '{"profiler":"torch","torch_profiler_dir":"~/traces"}'
    with fakes(HOME=str(home)):
        done = subprocess.run(launch(folder, "--detach", "--json", words=("m", "--profiler-config", config)), capture_output=True, text=True,
                              timeout=120, cwd=here)
        check("~: launched and proven", done.returncode == 0, done.stdout + done.stderr)
        server = json.loads(done.stdout)["servers"][0]
        check("~: the engine's folder is shown", server["traces"] == str(home / "traces"), server)
        recorded = subprocess.run([scenario.TACHO, "record", server["url"], "-q", "--out", folder, "--duration", "500ms", "--warm-up", "0.5s",
                                   "--baseline", "0.5s", "--prompt-tokens", "50", "--output-tokens", "20"], capture_output=True, text=True,
                                  timeout=120, cwd=here)
        check("~: recorded", recorded.returncode == 0 and "1 of 1 ranks proven" in recorded.stdout, recorded.stdout + recorded.stderr)
        run("launch", "stop")
    check("~: no folder of that name", not any(here.iterdir()), list(here.iterdir()))
    nothing_left("~", folder)
    config = '{"profiler":"torch","torch_profiler_dir":"s3://bucket/traces"}'
    store = run(*launch(folder, "--dry-run", "--json", words=("m", "--profiler-config", config))[1:])
    check("a store", store.returncode == 0 and json.loads(store.stdout)["servers"][0]["traces"] == "s3://bucket/traces", store.stdout + store.stderr)


def cost_by_preset(folder):
    """As docs/record.md has it: the cost of looking of each preset, from an engine of its own."""
    for preset in ("light", "detailed"):
        out = pathlib.Path(folder, f"cost-{preset}")
        done = run("record", "--launch", "vllm", "--preset", preset, "--overhead", "--port", free_port(), "--python", engine_in(folder),
                   "--out", str(out), "--pairs", "4", "--overhead-window", "300ms", "--duration", "500ms", "--warm-up", "0.5s",
                   "--baseline", "0.5s", "--prompt-tokens", "50", "--output-tokens", "20", "--", "m")
        check(f"cost of {preset}", done.returncode == 0, f"{done.returncode} {done.stdout[-1500:]} {done.stderr}")
        check(f"cost of {preset}: the table names it", f"cost of looking of preset {preset} " in done.stdout, done.stdout)
        for file in out.glob("tacho-2*/run.json"):
            overhead = json.loads(file.read_text())["overhead"]
            check(f"cost of {preset}: run.json", overhead["preset"] == preset and overhead["figures"], overhead)
    nothing_left("cost by preset", folder)


if __name__ == "__main__":
    main([dry_run, documented, detached, held, port_taken, phases, with_key, two_at_once, replicas, old_version, fails_to_start, refused, proven, recorded, own_options_win, in_the_home,
          cost_by_preset], __doc__)
