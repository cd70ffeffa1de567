"""A Ray cluster of several nodes on one machine: each node in network, mount, host-name and process namespaces of its own, so that it has
its own address, host name, /tmp/ray and /traces, as a machine has. Needs root, `ip`, `nsenter`, `setpriv` and `unshare`, and nothing of the
network. Ray runs there as a user who may not read what file permissions forbid.

    with Cluster(folder, ray=".../bin/ray", nodes=3) as cluster:
        cluster.outside(["tacho", "analyze", "--ray", cluster.address, "/traces"])   a command on "the laptop outside"
        cluster.kill(2); cluster.unplug(1); cluster.hang(2); cluster.slow(8000)    faults

The traces of node i are in FOLDER/node-i/traces. On 127.0.0.x instead of namespaces, Ray's job API shows no logs of other nodes.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

PORT = 8265
# Ray 2.60 wants a token where it finds one below the user's home, unless this is said; the drivers of the tests inherit it.
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
GROUPS = Path("/sys/fs/cgroup/memory")


def run(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, stdin=subprocess.DEVNULL, **more)


def missing():
    """What this machine lacks for a cluster, in one line; None: nothing."""
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    for program in ("ip", "nsenter", "setpriv", "unshare"):
        if not shutil.which(program):
            return f"needs {program}"
    name = f"tacho-try-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], stderr=subprocess.DEVNULL).returncode != 0:
        return "network namespaces cannot be made here"
    run("ip", "netns", "delete", name)
    return None


class Cluster:
    """`memory`, `disk`: by node, a limit of the memory of all that runs on it, and the size of the disk with /tmp/ray, in bytes."""

    def __init__(self, folder, ray, nodes=3, environment=None, head_options=(), dashboard=True, memory=None, disk=None):
        self.folder, self.ray, self.count = Path(folder), Path(ray), nodes
        self.environment = environment or {}
        self.head_options, self.dashboard = head_options, dashboard
        self.memory, self.disk = memory or {}, disk or {}
        self.tag = f"tr{os.getpid() % 10000}"
        self.processes = [None] * nodes
        self.address = f"http://{self.ip(0)}:{PORT}"

    def ip(self, node):
        return f"10.77.0.{node + 1}"

    def namespace(self, name):
        return f"{self.tag}-{name}"

    def traces(self, node):
        folder = self.folder / f"node-{node}" / "traces"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def logs(self, node):
        """The log folders of the node's Ray sessions."""
        return sorted((self.folder / f"node-{node}" / "tmp").glob("session_2*/logs"))

    # Named by a node's number, or "out" for the machine outside of the cluster.
    def _host(self, name, address):
        space, switch = self.namespace(name), self.namespace("sw")
        run("ip", "netns", "add", space)
        run("ip", "-n", space, "link", "set", "lo", "up")
        run("ip", "-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", f"p-{name}", "netns", switch)
        run("ip", "-n", switch, "link", "set", f"p-{name}", "master", "br0", "up")
        run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", space, "link", "set", "eth0", "up")

    def __enter__(self):
        try:
            run("ip", "netns", "add", self.namespace("sw"))
            run("ip", "-n", self.namespace("sw"), "link", "add", "br0", "type", "bridge")
            run("ip", "-n", self.namespace("sw"), "link", "set", "br0", "up")
            self._host("out", "10.77.0.200")
            for node in range(self.count):
                self._host(str(node), self.ip(node))
            for node in range(self.count):
                self.start(node)
            self.wait(self.count)
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, node):
        home = self.folder / f"node-{node}"
        self.traces(node)
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        options = ["--head", "--port=6379", "--dashboard-host=0.0.0.0", *self.head_options] if node == 0 else [f"--address={self.ip(0)}:6379"]
        if node == 0 and not self.dashboard:
            options.append("--include-dashboard=false")
        limits = ""
        if node in self.memory:
            group = self._group(node)
            group.mkdir(exist_ok=True)
            (group / "memory.limit_in_bytes").write_text(str(self.memory[node]))
            limits += f"echo 0 >{group}/cgroup.procs\nmount --bind {group} {GROUPS}\n"
        if node in self.disk:
            limits += f"mount -t tmpfs -o size={self.disk[node]} none /tmp/ray\n"
        script = home / "run.sh"
        script.write_text(f"""set -e
mount --make-rprivate /
hostname node-{node}
mkdir -p /traces /tmp/ray
mount --bind {home}/traces /traces
mount --bind {home}/tmp /tmp/ray
{limits}cd /
exec setpriv --bounding-set=-dac_override,-dac_read_search {self.ray} start --block {' '.join(options)} --node-ip-address={self.ip(node)} --num-cpus=2 --object-store-memory=157286400 --disable-usage-stats
""")
        environment = {**os.environ, "RAY_DISABLE_DOCKER_CPU_WARNING": "1", **self.environment, "PATH": f"{self.ray.parent}:{os.environ['PATH']}"}
        with open(home / "ray.log", "ab") as log:
            self.processes[node] = subprocess.Popen(
                ["nsenter", f"--net=/var/run/netns/{self.namespace(str(node))}", "unshare", "-m", "-u", "-p", "-f", "--kill-child", "--mount-proc",
                 "bash", str(script)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def _group(self, node):
        return GROUPS / self.namespace(str(node))

    def words_in(self, node, words):
        """A command among the node's own files and processes."""
        return ["nsenter", "-t", str(self._inner(node)), "-a", *(str(w) for w in words)]

    def wait(self, nodes, seconds=120):
        """Until so many nodes have joined."""
        until = time.monotonic() + seconds
        token = self.environment.get("RAY_AUTH_TOKEN")
        ask = self.words_on("out", ["curl", "-s", "-m", "5", f"{self.address}/nodes?view=summary"] + (["-H", f"Authorization: Bearer {token}"] if token else []))
        if not self.dashboard:
            time.sleep(5)  # the head
            python = f"import json, ray; ray.init('{self.ip(0)}:6379', logging_level='ERROR')\nfor n in ray.nodes(): print(json.dumps({{'state': 'ALIVE'}}) * n['Alive'])"
            ask = self.words_in(0, [self.ray.parent / "python", "-c", python])
        while True:
            done = subprocess.run(ask, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.stdout.count('"state": "ALIVE"') + done.stdout.count('"state":"ALIVE"') >= nodes:
                return
            if time.monotonic() > until:
                raise RuntimeError(f"{nodes} nodes did not join: {done.stdout[-300:]} {done.stderr[-300:]}")
            time.sleep(0.5)

    def words_on(self, name, words):
        return ["nsenter", f"--net=/var/run/netns/{self.namespace(name)}", *(str(w) for w in words)]

    def outside(self, words, **more):
        """Runs a command on the machine outside; as subprocess.run."""
        return subprocess.run(self.words_on("out", words), stdin=subprocess.DEVNULL, **more)

    def outside_popen(self, words, **more):
        return subprocess.Popen(self.words_on("out", words), stdin=subprocess.DEVNULL, **more)

    def _inner(self, node):
        """Process 1 of the node's namespace."""
        children = Path(f"/proc/{self.processes[node].pid}/task/{self.processes[node].pid}/children").read_text().split()
        return int(children[0])

    def kill(self, node):
        """The node vanishes with all its processes."""
        os.kill(self._inner(node), signal.SIGKILL)
        self.processes[node].wait(20)

    def hang(self, node):
        """All its processes stop, and its network answers."""
        space = os.readlink(f"/proc/{self._inner(node)}/ns/pid")
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(process / "ns/pid") == space:
                    os.kill(int(process.name), signal.SIGSTOP)

    def slow(self, rate):
        """What goes to the machine outside comes with so many bytes a second; None: as fast as it can."""
        port = ["tc", "-n", self.namespace("sw"), "qdisc", "replace" if rate else "delete", "dev", "p-out", "root"]
        run(*port, *(["tbf", "rate", f"{rate * 8}bit", "burst", "16kbit", "latency", "2s"] if rate else []))

    def plug(self, node, how):
        run("ip", "-n", self.namespace("sw"), "link", "set", f"p-{node}", how)

    def unplug(self, node):
        self.plug(node, "down")

    def __exit__(self, *_):
        for node in reversed(range(self.count)):
            process = self.processes[node]
            if process is None or process.poll() is not None:
                continue
            with contextlib.suppress(OSError, IndexError):
                os.kill(self._inner(node), signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError, IndexError):
                    os.kill(self._inner(node), signal.SIGKILL)
                process.kill()
                process.wait(10)
        for name in ["sw", "out", *map(str, range(self.count))]:
            subprocess.run(["ip", "netns", "delete", self.namespace(name)], stderr=subprocess.DEVNULL)
        for node in self.memory:
            with contextlib.suppress(OSError):
                self._group(node).rmdir()
