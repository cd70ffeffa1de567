"""The server that record_vllm.py records: a real vLLM on the CPU with its completions, and threads for these."""
import http.client
import json
import os
import random
import signal
import threading
import time

from record_env import RecordError, model, process, servers

HOST = servers.HOST
GIB = 1 << 30


class Server:
    """One engine; leaving the block ends all its processes."""

    def __init__(self, python, model_folder, work, profiler, tp=1, arguments=(), memory_limit=12 * GIB):
        self.memory_limit = memory_limit
        self.traces = work / "traces"
        self.traces.mkdir()
        self.port, = servers.free_ports(1)
        self.url = f"http://{HOST}:{self.port}"
        self.profiler = {**servers.SAFE_PROFILER, "torch_profiler_dir": "./traces", **profiler}
        command, self.environment = servers.vllm_command(python, model_folder, self.port, self.profiler, tp=tp, more=arguments)
        self.process = process.Process("the server", command, {**self.environment, "TMPDIR": str(work)}, work / "server.log", work)

    def arguments(self):
        """The server's own arguments, without those of this machine and those recorded elsewhere."""
        command = self.process.command[3:]  # python -m MODULE
        for name in ("--model", "--port", "--profiler-config"):
            at = command.index(name)
            del command[at:at + 2]
        return command

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, graceful=True):
        """End all processes of the server."""
        if not graceful:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.end()

    def check(self):
        if self.process.ended() is not None:
            raise RecordError(f"the server ended with exit code {self.process.status}; {self.process.why()}")
        used = self.process.memory()
        if used > self.memory_limit:
            raise RecordError(f"the server uses {used / GIB:.1f} GiB, more than the guard of {self.memory_limit / GIB:.0f} GiB")
        return used

    def post(self, path, body=None, timeout=120):
        try:
            status, _, answer = servers.ask(self.url + path, "POST", body, timeout=timeout)
        except (OSError, http.client.HTTPException) as e:
            raise RecordError(f"POST {path}: {e}") from e
        if status != 200:
            raise RecordError(f"POST {path} answered {status}: {answer[:300]!r}")

    def wait_health(self, seconds=300):
        process.wait_until(lambda: servers.answers(self.url + "/health"), self.process, seconds, "/health")

    def complete(self, prompt, output, seed, on_chunk=None, stop=None):
        """One streaming completion of `prompt` random token ids; returns the counted output tokens."""
        ids = [random.Random(seed * 7919 + i).randrange(3, model.VOCABULARY) for i in range(prompt)]
        body = {"model": model.NAME, "prompt": ids, "max_tokens": output, "temperature": 0, "ignore_eos": True,
                "stream": True, "stream_options": {"include_usage": True}, "return_token_ids": True}
        connection = http.client.HTTPConnection(HOST, self.port, timeout=120)
        tokens = 0
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise RecordError(f"a completion was answered {answer.status}: {answer.read()[:300]!r}")
            for line in answer:
                if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
                    continue
                chunk = json.loads(line[6:])
                if "error" in chunk:
                    raise RecordError(f"a completion failed: {chunk['error']}")
                for choice in chunk["choices"]:
                    tokens += len(choice.get("token_ids") or [])
                    if on_chunk:
                        on_chunk(tokens)
                if stop is not None and stop.is_set():
                    return tokens
        except (OSError, http.client.HTTPException) as e:
            raise RecordError(f"a completion broke off: {e}") from e
        finally:
            connection.close()
        if tokens != output:
            raise RecordError(f"a completion gave {tokens} tokens instead of {output}")
        return tokens

    def wait_files(self, count, seconds=120):
        """Wait until `count` trace files have their final names: then they are whole."""
        until = time.monotonic() + seconds
        while True:
            files = sorted(self.traces.glob("*.pt.trace.json"))
            if len(files) >= count:
                if len(files) > count:
                    raise RecordError(f"{len(files)} trace files instead of {count}: {[f.name for f in files]}")
                return files
            if time.monotonic() > until:
                raise RecordError(f"{len(files)} of {count} trace files after {seconds} s; {self.process.why()}")
            self.check()
            time.sleep(0.1)


class Thread(threading.Thread):
    """A thread whose exception is raised again by join()."""

    def __init__(self, function, *arguments, **named):
        super().__init__(daemon=True)
        self.call, self.error = (function, arguments, named), None
        self.start()

    def run(self):
        try:
            self.call[0](*self.call[1], **self.call[2])
        except BaseException as e:
            self.error = e

    def finish(self, seconds=180):
        self.join(seconds)
        if self.is_alive():
            raise RecordError("a completion did not end in time")
        if self.error:
            raise self.error
