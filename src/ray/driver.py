"""Ray's job API, as far as tacho uses it, for a cluster without a dashboard: a server on this host that has each job done by an actor on the
node. tacho runs it with the cluster's own python3, on a node of the cluster. The cluster takes FOLDER, with the program, to the nodes.

usage: driver.py ADDRESS FOLDER    prints its port; requests must have the key in the variable TACHO_DRIVER_KEY; ends when its parent ends
"""
import contextlib
import glob
import hmac
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

KEY = os.environ.pop("TACHO_DRIVER_KEY", "") or sys.exit("TACHO_DRIVER_KEY is not set")
MOST_BODY, PIECE = 1 << 20, 16 << 20
ACTORS, READY, JOBS = {}, {}, {}


@ray.remote(num_cpus=0, max_restarts=0, max_concurrency=16)
class Worker:
    def __init__(self):
        self.processes, self.stopped, self.lock = {}, set(), threading.Lock()

    def ready(self):
        return True

    def run(self, name, command, log):
        with self.lock:
            if name in self.stopped:
                return -signal.SIGTERM
            with open(log, "ab") as out:
                process = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
            self.processes[name] = process
        return process.wait()

    def stop(self, name):
        with self.lock:
            self.stopped.add(name)
            process = self.processes.get(name)
        for how in (signal.SIGTERM, signal.SIGKILL):
            if process and process.poll() is None:
                os.killpg(process.pid, how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(3)

    def names(self, folder, pattern):
        return [os.path.basename(path) for path in glob.glob(f"{glob.escape(folder)}/{pattern}")]

    def read(self, path, at):
        """The piece of the file from the byte `at` on, and the file's size."""
        try:
            with open(path, "rb") as file:
                file.seek(at)
                return file.read(PIECE), os.fstat(file.fileno()).st_size
        except OSError as error:
            return str(error), 0


def session(node):
    return node["RayletSocketName"].split("/sockets/")[0]


def actor(node):
    name = node["NodeID"]
    if name not in ACTORS:
        ACTORS[name] = Worker.options(scheduling_strategy=NodeAffinitySchedulingStrategy(name, soft=False)).remote()
        READY[name] = ACTORS[name].ready.remote()
    return ACTORS[name]


def pieces(node, name):
    """The size of a log file, then its content; or what the system says, as a text."""
    at, size = 0, None
    while size is None or at < size:
        piece, now = ray.get(actor(node).read.remote(f"{session(node)}/logs/{name}", at), timeout=3600)
        if isinstance(piece, str):
            if size is None:
                yield piece
            return
        if size is None:
            size = now
            yield size
        if not piece and size:
            return  # it became shorter
        at += len(piece)
        yield piece


def read(node, name):
    content = pieces(node, name)
    size = next(content)
    return (500, size) if isinstance(size, str) else (200, (size, content))


def submit(order):
    (ip,) = [name[len("node:"):] for name in order["entrypoint_resources"]]
    node = next(n for n in ray.nodes() if n["Alive"] and n["NodeManagerAddress"] == ip)
    name = order["submission_id"]
    JOBS[name] = node, actor(node).run.remote(name, order["entrypoint"], f"{session(node)}/logs/job-driver-{name}.log")
    return 200, {"submission_id": name}


def state(node, end):
    if not ray.wait([end], timeout=0)[0]:
        return 200, {"status": "RUNNING" if ray.wait([READY[node["NodeID"]]], timeout=0)[0] else "PENDING"}
    try:
        return 200, {"status": "SUCCEEDED", "driver_exit_code": ray.get(end)}
    except ray.exceptions.RayError as error:
        return 200, {"status": "FAILED", "message": str(error)}


def answer(method, words, query, body):
    if words == ["api", "version"]:
        return 200, {"ray_version": ray.__version__}
    if words == ["nodes"]:
        nodes = [{"raylet": {"nodeId": n["NodeID"], "nodeManagerAddress": n["NodeManagerAddress"], "nodeManagerHostname": n["NodeManagerHostname"],
                             "rayletSocketName": n["RayletSocketName"], "state": "ALIVE" if n["Alive"] else "DEAD"}} for n in ray.nodes()]
        return 200, {"data": {"summary": nodes}}
    if words[:2] == ["api", "packages"]:
        return 200, ""  # the cluster has FOLDER
    if words == ["api", "v0", "logs", "file"]:
        return read(next(n for n in ray.nodes() if n["NodeID"] == query["node_id"]), query["filename"])
    if words == ["api", "v0", "logs"]:
        node = next(n for n in ray.nodes() if n["NodeID"] == query["node_id"])
        return 200, {"data": {"result": {"all": ray.get(actor(node).names.remote(f"{session(node)}/logs", query["glob"]), timeout=60)}}}
    if words == ["api", "v0", "actors"]:
        return 501, "a cluster without a dashboard does not list its actors: name the router or the engines"
    if method == "POST" and words == ["api", "jobs"]:
        return submit(json.loads(body))
    name = words[2]
    if name not in JOBS:
        return 404, f"Job {name} does not exist"
    node, end = JOBS[name]
    if method == "DELETE":
        if not ray.wait([end], timeout=0)[0]:
            return 400, f"Job {name} runs"
        del JOBS[name]
    elif words[3:] == ["stop"]:
        actor(node).stop.remote(name)
    elif words[3:] == ["logs"]:
        status, content = read(node, f"job-driver-{name}.log")
        return status, {"logs": b"".join(content[1]).decode(errors="replace")} if status == 200 else content
    else:
        return state(node, end)
    return 200, ""


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        status, content = 403, ""
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), b"Bearer " + KEY.encode()) or size > MOST_BODY:
            self.close_connection = True
        else:
            body = self.rfile.read(size)
            try:
                status, content = answer(self.command, url.path.strip("/").split("/"), dict(urllib.parse.parse_qsl(url.query)), body)
            except Exception as error:  # whatever it is, tacho has to know
                status, content = 500, str(error).strip().split("\n")[-1]
        if not isinstance(content, tuple):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
            content = len(content), [content]
        left, parts = content
        self.send_response(status)
        self.send_header("Content-Length", str(left))
        self.end_headers()
        for part in parts:
            self.wfile.write(part[:left])
            left -= min(left, len(part))
        self.close_connection = self.close_connection or left > 0
    do_POST = do_PUT = do_DELETE = do_GET


def main(address, folder):
    parent, out, sys.stdout = os.getppid(), sys.stdout, sys.stderr
    if address != "auto":  # Ray itself would try for minutes
        host, port = address.rsplit(":", 1)
        socket.create_connection((host, int(port)), timeout=4).close()
    ray.init(address, runtime_env={"working_dir": folder}, logging_level="ERROR", log_to_driver=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print(server.server_address[1], file=out, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # nobody reads it from here on
    try:
        while os.getppid() == parent:
            time.sleep(0.5)
    finally:
        stops = [actor(node).stop.remote(name) for name, (node, _) in JOBS.items()]
        if stops:
            ray.wait(stops, num_returns=len(stops), timeout=4)


if __name__ == "__main__":
    main(*sys.argv[1:])
