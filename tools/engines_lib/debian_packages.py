"""Programs out of Debian's archive, unpacked into a folder of their own: nothing of the system changes, and it needs no root.

apt-get fetches and verifies them, with package lists of its own: the system's need not name the section `non-free`.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from .progress import MISSING, EnginesError, say

SUITE = "bookworm"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
NO_ARCHIVE = re.compile(r"Temporary failure resolving|Could not resolve|Could not connect|Connection (failed|timed out|refused)|"
                        r"Failed to fetch|does not have a Release file|Unable to locate package", re.I)


def _run(command, what, cwd):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:
        missing = NO_ARCHIVE.search(done.stdout) is not None
        raise EnginesError(f"{what}: {'Debian does not offer it here' if missing else f'exit code {done.returncode}'}; the end of"
                           f" its output:\n{done.stdout[-1000:]}", MISSING if missing else 1)


def unpack(packages, folder):
    """The newest packages of these names, without what they depend on."""
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise EnginesError(f"{program} is not installed: packages of Debian cannot be had here", MISSING)
    if not KEYRING.exists():
        raise EnginesError(f"{KEYRING} is not there: packages of Debian cannot be verified"
                           " (Ubuntu: apt-get install debian-archive-keyring)", MISSING)
    work = folder / "apt"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lists/partial", "cache/archives/partial"):
        (work / name).mkdir(parents=True)
    # Its ending tells apt the format.
    (work / "debian.sources").write_text(
        f"Types: deb\nURIs: http://deb.debian.org/debian\nSuites: {SUITE}\nComponents: main contrib non-free\n"
        f"Architectures: amd64\nSigned-By: {KEYRING}\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={work}/debian.sources", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={work}/lists", "-o", f"Dir::Cache={work}/cache", "-o", "Acquire::Retries=3",
           "-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User=root"]
    say(f"  {' '.join(packages)} of Debian's {SUITE} ...")
    # Its exit status is 0 also when it reached nobody.
    _run([*apt, "-o", "APT::Update::Error-Mode=any", "update"], "apt-get update", work)
    _run([*apt, "download", *packages], "apt-get download", work)
    for package in sorted(work.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(package), str(folder)], f"dpkg-deb -x {package.name}", work)
    shutil.rmtree(work)
