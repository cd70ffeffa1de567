"""tools/engines run: start, wait until a first request was served, print the URLs, hold, end."""
import http.client
import json
import os
import select
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import environments, servers
from .model import make_model
from .process import Process, end_all, wait_until
from .progress import USAGE, EnginesError, say


class Asked(Exception):
    """The end was asked for: Ctrl-C, SIGTERM, SIGHUP."""


@dataclass
class Worker:
    url: str
    trace_dir: Path
    process: Process


def profiler_config(options, trace_dir):
    if options.no_profiler:
        return None
    config = {**servers.SAFE_PROFILER, "torch_profiler_dir": str(trace_dir)}
    if options.max_iterations:
        config["max_iterations"] = options.max_iterations
    if options.profiler_config:
        try:
            config.update(json.loads(options.profiler_config))
        except (ValueError, TypeError) as e:
            raise EnginesError(f"--profiler-config must be a JSON object: {e}", USAGE) from None
    return {key: value for key, value in config.items() if value is not None}


def start_workers(options, ports, trace_dir, log_dir, model_folder):
    python = environments.find(options.engine)
    workers = []
    for i, port in enumerate(ports):
        folder = trace_dir / f"worker{i}"
        folder.mkdir(parents=True, exist_ok=True)
        if options.engine == "vllm":
            command, environment = servers.vllm_command(
                python, model_folder, port, profiler_config(options, folder), options.tp, options.dp, options.dev_mode,
                options.more, (i, len(ports)))
        else:
            command, environment = servers.sglang_command(
                python, model_folder, port, folder, options.tp, options.dp, options.more)
        if options.daemon is not None:
            environment["KINETO_USE_DAEMON"] = "1"
            if options.daemon:
                environment["KINETO_IPC_SOCKET_DIR"] = os.path.abspath(options.daemon)
        process = Process(f"{options.engine} {i}", command, environment, log_dir / f"worker{i}.log", log_dir)
        workers.append(Worker(f"http://{servers.HOST}:{port}", folder, process))
    return workers


def router_of(options, ports, urls, log_dir):
    make = {"vllm": servers.vllm_router_command, "sglang": servers.sglang_router_command}[options.engine]
    command, environment = make(environments.find("routers"), *ports, urls)
    return Process(f"{options.engine}-router", command, environment, log_dir / "router.log", log_dir)


def told(workers, router, router_url):
    answer = {"workers": [{"url": w.url, "pid": w.process.pid, "log": str(w.process.log), "trace_dir": str(w.trace_dir)}
                          for w in workers]}
    if router:
        answer["router"] = {"url": router_url, "pid": router.pid, "log": str(router.log)}
    return answer


def hold(processes, stdin):
    """Until the end is asked for (Asked), standard input ends, or every server has ended by itself."""
    living = list(processes)
    while living:
        watched = [p.keeper.stdout for p in living] + ([sys.stdin] if stdin else [])
        ready = select.select(watched, [], [])[0]
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
            return
        for p in [p for p in living if p.ended() is not None]:
            living.remove(p)
            say(f"{p.name} (pid {p.pid}) ended by itself with exit code {p.status}; its log is {p.log}")
    raise EnginesError("no server is left")


def handle_signals(handler):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)


def asked(*_):
    handle_signals(signal.SIG_IGN)  # the end takes a while and has begun
    raise Asked


def run(options):
    for name in [options.engine] + (["routers"] if options.router else []):
        environments.find(name)
    work = None
    if not (options.trace_dir and options.log_dir):
        work = Path(tempfile.mkdtemp(prefix="tacho-engines-"))
    trace_dir = (options.trace_dir or work / "traces").absolute()
    log_dir = (options.log_dir or work / "logs").absolute()
    log_dir.mkdir(parents=True, exist_ok=True)
    model_folder = make_model(environments.root() / "tiny-qwen3")
    count = options.count + (2 if options.router else 0)
    ports = servers.ports_from(options.port_base, count) if options.port_base else servers.free_ports(count)
    workers = start_workers(options, ports[:options.count], trace_dir, log_dir, model_folder)
    urls = [w.url for w in workers]
    router_url = f"http://{servers.HOST}:{ports[options.count]}" if options.router else None
    router = router_of(options, ports[options.count:], urls, log_dir) if options.router else None
    processes = [w.process for w in workers]
    handle_signals(asked)
    began = time.monotonic()
    try:
        for w in workers:
            w.process.start()
            say(f"{w.process.name}: starting at {w.url}, log {w.process.log}")
        path = servers.READY_PATH[options.engine]
        for w in workers:
            wait_until(lambda: servers.answers(w.url + path), w.process, options.timeout, path)
        for w in workers:
            servers.warm_up(options.engine, w.url, options.dp, options.timeout)
            say(f"{w.process.name}: ready after {time.monotonic() - began:.0f} s, {w.process.memory() / 1e9:.1f} GB of memory,"
                f" traces go to {w.trace_dir}")
        if router:
            processes.append(router)
            router.start()
            wait_until(lambda: servers.router_ready(router_url, len(workers)), router, 120, "/workers")
            say(f"{router.name}: ready, log {router.log}")
        if options.json:
            print(json.dumps(told(workers, router, router_url)), flush=True)
        else:
            for name, url in [("worker", u) for u in urls] + ([("router", router_url)] if router else []):
                print(name, url, flush=True)
        say("holding them; Ctrl-C ends them")
        hold(processes, options.until_stdin_closes)
    except Asked:
        pass
    except (OSError, http.client.HTTPException) as e:
        raise EnginesError(f"an engine broke off: {e}\n" + "\n".join(w.process.why() for w in workers)) from e
    finally:
        handle_signals(signal.SIG_IGN)
        end_all(processes)
        say("ended")
    return 0
