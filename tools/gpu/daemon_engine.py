#!/usr/bin/env python3
"""A process that stands for an engine: decodes without end, and answers over HTTP as a vLLM that was started without a profiler.

  daemon_engine.py PORT STEPS [--cpu]

Writes to the file STEPS a line for each step, "begin end" in ns of Unix time, from its first call to the end of its GPU work, and first
the pieces of GPU work of a step (0 on the CPU). Ends with its standard input.
"""
import http.server
import json
import os
import sys
import threading
import time

ANSWERS = {"/version": {"version": "0.32.0"}, "/health": {},
           "/v1/models": {"object": "list", "data": [{"id": "tiny", "object": "model", "owned_by": "vllm"}]},
           "/openapi.json": {"openapi": "3.1.0", "info": {"title": "FastAPI", "version": "0.1.0"},
                             "paths": {"/version": {}, "/v1/completions": {"post": {}}}}}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(ANSWERS.get(self.path.partition("?")[0], {"detail": "Not Found"})).encode()
        self.send_response(200 if self.path.partition("?")[0] in ANSWERS else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def decode(path, cpu):
    import torch

    from model import Decoder
    torch.set_num_threads(1)
    decoder = Decoder("cpu" if cpu else "cuda")
    decoder.step()
    nodes = 0 if cpu else decoder.capture()
    with open(path, "w", buffering=1) as told:
        told.write(f"{nodes}\n")
        while True:
            begin = time.time_ns()
            decoder.step(replay=not cpu)
            if not cpu:
                torch.cuda.synchronize()
            told.write(f"{begin} {time.time_ns()}\n")
            time.sleep(0.01)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    decode(sys.argv[2], "--cpu" in sys.argv[3:])


if __name__ == "__main__":
    main()
