"""How each engine and router is started so that it can be profiled safely, and when it is ready.

Loopback only. Whatever is given after the defaults wins: the engines take the last of two equal arguments.
"""
import contextlib
import http.client
import json
import os
import socket
from pathlib import Path

from . import environments, model
from .progress import MISSING, EnginesError

HOST = "127.0.0.1"
SGLANG_LAUNCHER = Path(__file__).with_name("sglang_cpu.py")
# No stacks (an idle engine with stacks writes 1.6 million events a second), no gzip (slower than the export itself), no
# front end (its trace is empty without stacks).
SAFE_PROFILER = {"profiler": "torch", "torch_profiler_with_stack": False, "torch_profiler_use_gzip": False,
                 "ignore_frontend": True}
OFFLINE = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""}


def free_ports(count):
    """Ports that nothing listens on now, all different."""
    with contextlib.ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind((HOST, 0))
        return [s.getsockname()[1] for s in sockets]


def ports_from(base, count):
    for port in range(base, base + count):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind((HOST, port))
            except OSError as e:
                raise EnginesError(f"port {port} cannot be used: {e.strerror}") from None
    return list(range(base, base + count))


def cores_for(ranks, server=0, servers=1):
    """'0|1' for two ranks: each has a share of the cores that this process may use, and so has each of several servers where
    there are enough cores; else they take turns."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < ranks:
        raise EnginesError(f"{ranks} ranks need {ranks} cores, and there are {len(cores)}", MISSING)
    all_ranks, first = ranks * servers, ranks * server
    if len(cores) < all_ranks:
        return "|".join(str(cores[(first + i) % len(cores)]) for i in range(ranks))
    return "|".join(",".join(map(str, cores[first + i::all_ranks])) for i in range(ranks))


def vllm_command(python, model_folder, port, profiler=None, tp=1, dp=1, dev_mode=False, more=(), place=(0, 1)):
    """Command and environment. `profiler` is --profiler-config; None leaves the profiler out. `place`: the server's number, and
    how many there are. Each vLLM by itself takes the first core, and two starve there."""
    # In bfloat16 vLLM takes AMX tiles where the processor has them. Some virtual machines report the tiles and then kill
    # whoever uses them: the worker dies with the first request.
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", model_folder, "--load-format", "dummy",
               "--dtype", "float32", "--host", HOST, "--port", port, "--max-model-len", 2048, "--max-num-seqs", 16,
               "--served-model-name", model.NAME, "--enforce-eager"]
    # With tensor parallelism the first request compiles C++ for a minute of CPU time; once for all starts.
    environment = {**OFFLINE, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1",
                   "TORCHINDUCTOR_CACHE_DIR": str(environments.root() / "torchinductor")}
    if tp > 1:
        command += ["--tensor-parallel-size", tp, "--distributed-executor-backend", "mp"]
    if dp > 1:
        command += ["--data-parallel-size", dp]
    if tp * dp * place[1] > 1:
        environment["VLLM_CPU_OMP_THREADS_BIND"] = cores_for(tp * dp, *place)
    if profiler is not None:
        command += ["--profiler-config", json.dumps(profiler, separators=(",", ":"))]
    if dev_mode:
        environment["VLLM_SERVER_DEV_MODE"] = "1"
    return command + list(more), environment


def sglang_command(python, model_folder, port, trace_dir, tp=1, dp=1, more=()):
    """Command and environment. `trace_dir` is where a start without an output_dir writes to (else: /tmp)."""
    command = [python, "-P", SGLANG_LAUNCHER, "--model-path", model_folder, "--load-format", "dummy", "--device", "cpu",
               "--host", HOST, "--port", port, "--attention-backend", "torch_native", "--sampling-backend", "pytorch",
               "--disable-cuda-graph", "--grammar-backend", "none", "--mem-fraction-static", 0.1,
               "--max-total-tokens", 8192, "--context-length", 2048, "--skip-server-warmup", "--enable-metrics",
               "--served-model-name", model.NAME]
    # More than one OpenMP thread on a busy machine: one addition was seen to take 14 s.
    environment = {**OFFLINE, "OMP_NUM_THREADS": "1", "SGLANG_TORCH_PROFILER_DIR": str(trace_dir)}
    if tp > 1:
        command += ["--tp-size", tp]
    if dp > 1:
        command += ["--dp-size", dp]
    if tp * dp > 1:
        environment["SGLANG_CPU_OMP_THREADS_BIND"] = cores_for(tp * dp)
    return command + list(more), environment


def vllm_router_command(python, port, metrics_port, urls):
    return [python.with_name("vllm-router"), "--host", HOST, "--port", port, "--prometheus-host", HOST,
            "--prometheus-port", metrics_port, "--policy", "round_robin", "--worker-urls", *urls], OFFLINE


def sglang_router_command(python, port, metrics_port, urls):
    # /health of SGLang runs a forward and takes a second; the router's checks must not fill a profile.
    return [python.with_name("sglang-router"), "launch", "--host", HOST, "--port", port, "--prometheus-host", HOST,
            "--prometheus-port", metrics_port, "--policy", "round_robin", "--health-check-endpoint", "/ready",
            "--worker-urls", *urls], OFFLINE


def ask(url, method="GET", body=None, headers=None, timeout=10):
    """One request on a connection of its own: (status, headers with lower-case names, body bytes)."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=timeout)
    try:
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        kind = {"Content-Type": "application/json"} if data is not None else {}
        connection.request(method, "/" + path, data, {**kind, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def answers(url):
    """Whether a GET of it gives 200."""
    try:
        return ask(url)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def warm_up(engine, url, ranks, timeout):
    """One small request to each data-parallel rank: the first one may compile (vLLM with tensor parallelism)."""
    for rank in range(ranks):
        if engine == "vllm":
            status, _, text = ask(url + "/v1/completions", "POST",
                                  {"model": model.NAME, "prompt": [5, 6, 7], "max_tokens": 2, "ignore_eos": True},
                                  {"X-data-parallel-rank": str(rank)} if ranks > 1 else {}, timeout)
        else:
            status, _, text = ask(url + "/generate", "POST",
                                  {"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 2, "ignore_eos": True},
                                   **({"routed_dp_rank": rank} if ranks > 1 else {})}, timeout=timeout)
        if status != 200:
            raise EnginesError(f"the first request to {url} was answered {status}: {text[:300]!r}")


def router_ready(url, workers):
    """Whether a router knows all its workers and finds them healthy."""
    try:
        status, _, body = ask(url + "/workers")
        healthy = [w for w in json.loads(body)["workers"] if w["is_healthy"]] if status == 200 else []
        return len(healthy) == workers
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return False


READY_PATH = {"vllm": "/health", "sglang": "/ready"}  # SGLang's /health runs a forward
