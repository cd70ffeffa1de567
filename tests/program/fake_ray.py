"""A dashboard of Ray with the routes of its job API that tacho uses, as Ray 2.60 answers them. Its nodes are folders of this host: jobs
run here, in the shell, with the node's folder in place of /on-node in their commands, and without those of the other nodes."""
import contextlib
import http.server
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.parse
import zipfile


class Node:
    def __init__(self, folder, number, **faults):
        self.number, self.faults = number, faults
        self.name, self.ip, self.id = f"node-{number}", f"10.77.0.{number + 1}", f"{number:056x}"
        self.home = pathlib.Path(folder) / self.name
        self.session = self.home / "session"
        (self.session / "logs").mkdir(parents=True, exist_ok=True)
        (self.home / "disk").mkdir(exist_ok=True)

    def summary(self):
        return {"hostname": self.name, "ip": self.ip, "cpus": [2, 2], "disk": {"/": {"free": self.faults.get("free_disk", 1 << 40)}}, "gpus": [],
                "raylet": {"nodeId": self.id, "nodeManagerAddress": self.ip, "nodeManagerHostname": self.name, "sessionDir": str(self.session),
                           "state": "DEAD" if self.faults.get("dead") else "ALIVE"}}


class FakeRay:
    """`program` runs in place of the static one that was sent. `own_disks`: nodes know that no other host sees their files. Faults of nodes: lost="analyze", lost="files" (Ray loses that job), dead,
    free_memory, free_disk, damage (results come with one other byte), never_starts, cut_after=N (the next file that is
    fetched comes with its first N bytes alone), slip (its last byte comes as another one), refuse={"clear"} (these jobs are not
    started), kills (jobs that are stopped are killed), cut_post="analyze" (this job starts, and the connection is cut before the answer)."""

    def __init__(self, folder, program, nodes=2, token=None, faults=None, own_disks=False):
        self.own_disks = own_disks
        self.folder, self.program, self.token = pathlib.Path(folder), program, token
        self.nodes = [Node(folder, i, **(faults or {}).get(i, {})) for i in range(nodes)]
        self.actors = []  # (class name, node, what it wrote to standard error), and the state if it is not ALIVE
        self.packages, self.jobs, self.asked, self.uploads = {}, {}, [], 0
        self.keys = set()  # what came as Authorization
        self.processes = []  # of all jobs, also of those that are forgotten
        self.lock = threading.Lock()

    def __enter__(self):
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                fake.answer(self)
            do_POST = do_PUT = do_DELETE = do_GET
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for process in self.running():
            os.killpg(process.pid, signal.SIGKILL)
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        with self.lock:
            self.asked.append(f"{request.command} {request.path}")
            self.keys.add(request.headers.get("Authorization"))
        status, text = self.route(request, url.path, query, body)
        if status is None:
            request.close_connection = True
            return
        content = text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def route(self, request, path, query, body):
        if self.token:
            given = request.headers.get("Authorization")
            if not given:
                return 401, "Unauthorized: Missing authentication token"
            if given != f"Bearer {self.token}":
                return 403, "Forbidden: Invalid authentication token"
        words = path.strip("/").split("/")
        match request.command, words:
            case "GET", ["api", "version"]:
                return 200, {"version": "4", "ray_version": "2.60.0", "session_name": "session_x"}
            case "GET", ["nodes"]:
                return 200, {"result": True, "data": {"summary": [n.summary() for n in self.nodes]}}
            case "GET", ["api", "packages", "gcs", name]:
                return (200, "") if name in self.packages else (404, f"Package gcs://{name} does not exist")
            case "PUT", ["api", "packages", "gcs", name]:
                self.packages[name] = body
                self.uploads += 1
                return 200, ""
            case "POST", ["api", "jobs"]:
                return self.submit(json.loads(body))
            case "GET", ["api", "jobs", name]:
                return self.state(name)
            case "GET", ["api", "jobs", name, "logs"]:
                return 200, {"logs": self.jobs[name]["log"].read_text(errors="replace")}
            case "POST", ["api", "jobs", name, "stop"]:
                return self.stop(name)
            case "DELETE", ["api", "jobs", name]:
                status, state = self.state(name)
                if status == 200 and state["status"] in ("PENDING", "RUNNING"):
                    return 400, f"Attempted to delete job '{name}', but it is in a non-terminal state {state['status']}."
                return (200, {"deleted": True}) if self.jobs.pop(name, None) else (404, f"Job {name} does not exist")
            case "GET", ["api", "v0", "actors"]:
                rows = [{"actor_id": f"{i:032x}", "class_name": name, "node_id": node.id, "pid": 100 + i, "state": (*state, "ALIVE")[0]}
                        for i, (name, node, _, *state) in enumerate(self.actors)]
                return 200, {"result": True, "data": {"result": {"total": len(rows), "result": rows}}}
            case "GET", ["api", "v0", "logs"]:
                logs = next(n for n in self.nodes if n.id == query["node_id"]).session / "logs"
                return 200, {"result": True, "data": {"result": {"internal": [p.name + "/" * p.is_dir() for p in logs.glob(query["glob"])]}}}
            case "GET", ["api", "v0", "logs", "file"]:
                return self.file(query)
        return 404, "404: Not Found"

    def submit(self, order):
        (ip,) = [key.removeprefix("node:") for key in order["entrypoint_resources"]]
        node = next(n for n in self.nodes if n.ip == ip)
        name = order["submission_id"]
        what = name.split("-")[-2]
        if name in self.jobs:
            return 500, f"ValueError: Job with submission_id {name} already exists. Please use a different submission_id."
        if what in node.faults.get("refuse", ()):
            return 500, f"OSError: no {what}"
        job = {"node": node, "stopped": False, "process": None, "log": node.session / "logs" / f"job-driver-{name}.log", "lost": False}
        job["log"].write_text(f"Running entrypoint for job {name}: ...\n")
        self.jobs[name] = job
        if node.faults.get("never_starts"):
            return 200, {"submission_id": name}
        if node.faults.get("lost") == what:
            job["lost"] = True
            return 200, {"submission_id": name}
        package = self.packages[order["runtime_env"]["working_dir"].removeprefix("gcs://")]
        work = node.home / "work" / name
        work.mkdir(parents=True)
        with zipfile.ZipFile(io.BytesIO(package)) as zipped:
            (info,) = zipped.infolist()
            assert zipped.testzip() is None
            assert info.filename == "tacho" and info.external_attr >> 16 & 0o111, "an executable called tacho"
        os.symlink(self.program, work / "tacho")
        command = order["entrypoint"].replace("/on-node", str(node.home / "disk")).replace("chmod +x ./tacho", "true")
        for other in self.nodes:
            if other is not node:
                command = command.replace(f"{other.home}/", "/none/")
        # Two nodes are two hosts, unless own_disks; programs with a sanitizer need all addresses.
        own = re.search(r' && \{ \./tacho __node own .*; :; \}', command)
        if own and not self.own_disks:
            command = command.replace(own[0], "")
        command = command.replace('. "$d/own"', 'sed -i "s/ulimit -v [0-9]*/true/" "$d/own" && . "$d/own"')
        command, limits = re.subn(r"ulimit -v \d+", "true", command)
        assert limits == (what == "analyze"), command
        with open(job["log"], "ab") as log:
            job["process"] = subprocess.Popen(command, shell=True, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(job["process"])
        return (None if node.faults.get("cut_post") == what else 200), {"submission_id": name}

    def state(self, name):
        job = self.jobs.get(name)
        if job is None:
            return 404, f"Job {name} does not exist"
        if job["lost"]:
            return 200, {"status": "FAILED", "driver_exit_code": None, "error_type": "JOB_SUPERVISOR_ACTOR_DIED",
                         "message": f"The actor died because its node has died. Node Id: {job['node'].id}\n\tthe actor's node was preempted: health check failed"}
        if job["process"] is None:
            return 200, {"status": "STOPPED" if job["stopped"] else "PENDING", "message": "", "driver_exit_code": None}
        code = job["process"].poll()
        if code is None:
            return 200, {"status": "RUNNING", "message": "", "driver_exit_code": None}
        status = "STOPPED" if job["stopped"] else "SUCCEEDED" if code == 0 else "FAILED"
        return 200, {"status": status, "driver_exit_code": code, "message": f"Job entrypoint command ended with {code}"}

    def stop(self, name):
        job = self.jobs.get(name)
        if job is None:
            return 404, f"Job {name} does not exist"
        job["stopped"] = True
        if job["process"] and job["process"].poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.killpg(job["process"].pid, signal.SIGKILL if job["node"].faults.get("kills") else signal.SIGTERM)
            threading.Thread(target=self.kill, args=(job["process"],), daemon=True).start()
        return 200, {"stopped": True}

    def kill(self, process):
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)

    def file(self, query):
        if "actor_id" in query:
            return (200, self.actors[int(query["actor_id"], 16)][2]) if query.get("suffix") == "err" else (500, "no such file")
        node = next(n for n in self.nodes if n.id == query["node_id"])
        path = node.session / "logs" / query["filename"]
        if query.get("lines") != "-1" or "timeout" not in query or query.get("format") != "text":
            return 500, "the file would be cut"
        if not path.is_file():
            return 500, f"A file is not found at: {path}"
        data = path.read_bytes()
        if "free_memory" in node.faults and path.name == "files":
            data = json.dumps({**json.loads(data), "memory": 64000 << 20, "free_memory": int(node.faults["free_memory"]) << 20}).encode()
        if path.name == "files" and not self.own_disks:
            data = json.dumps({**json.loads(data), "own_disks": False}).encode()
        if re.fullmatch(r"f\d+", path.name):
            if cut := node.faults.pop("cut_after", None):
                return 200, data[:cut]
            if node.faults.pop("slip", None):
                data = data[:-1] + bytes([data[-1] ^ 1])
        if node.faults.get("damage") and path.name == "out.json":
            data = data.replace(b"1", b"2", 1)
        return 200, data

    def running(self):
        return [process for process in self.processes if process.poll() is None]

    def left(self):
        """Jobs that the cluster remembers, files in its log folders, processes of jobs that run."""
        time.sleep(0.1)
        return list(self.jobs), [str(p) for n in self.nodes for p in (n.session / "logs").iterdir()], [p.args for p in self.running()]
