#!/usr/bin/env python3
"""Engines on other hosts: traces fetched by ssh from a real sshd (--collect-from), folders mounted elsewhere (--map), TLS with
an untrusted certificate.

usage: check_remote.py TACHO [--only NAME ...]

The sshd is this test's own: its keys, its port on the loopback, its configuration in a temporary folder. Where there is
no sshd or openssl that part is skipped, and a line says why.
"""
import contextlib
import getpass
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import threading
import time

from proxy import Proxy, QuietServer
from recordings import finds, ranks, record, whole
from scenario import Skipped, check, main, run, simulation, target, wait_for


def needed(program):
    """The path of a program; sshd is in root's PATH, or where tools/test unpacked it."""
    unpacked = pathlib.Path(__file__).resolve().parents[2] / "build/sshd/usr/sbin"
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin:{unpacked}")
    if not found:
        raise Skipped(f"there is no {program} here")
    return found


@contextlib.contextmanager
def own_sshd(place):
    """An sshd that accepts this user; `ssh gpu7` reaches it meanwhile. Yields the process."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run([needed("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", place / name], check=True, timeout=60)
    shutil.copy(place / "user.pub", place / "authorized")
    # OpenSSH from 9.8 on: the part of a session, which lies elsewhere where tools/test unpacked it.
    session = pathlib.Path(__file__).resolve().parents[2] / "build/sshd/usr/lib/openssh/sshd-session"
    unpacked = needed("sshd").startswith(str(session.parents[3])) and session.exists()
    sessions = "".join(f"{word} {session.with_name(name)}\n" for word, name in
                       (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth"))
                       if unpacked and session.with_name(name).exists())
    (place / "sshd_config").write_text(f"""{sessions}Port {port}
ListenAddress 127.0.0.1
HostKey {place}/host
AuthorizedKeysFile {place}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
""")
    (place / "ssh_config").write_text(f"""Host gpu7
  HostName 127.0.0.1
  Port {port}
  User {getpass.getuser()}
  IdentityFile {place}/user
  IdentitiesOnly yes
  UserKnownHostsFile {place}/known
  StrictHostKeyChecking accept-new
""")
    (place / "bin").mkdir()
    wrapper = place / "bin" / "ssh"
    wrapper.write_text(f'#!/bin/sh\nexec {needed("ssh")} -F {place}/ssh_config "$@"\n')
    wrapper.chmod(0o755)
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)
    path = os.environ["PATH"]
    sshd = subprocess.Popen([needed("sshd"), "-D", "-e", "-f", place / "sshd_config"], stderr=open(place / "sshd.err", "w"))
    os.environ["PATH"] = f"{place / 'bin'}:{path}"
    try:
        for _ in range(100):
            if subprocess.run(["ssh", "-o", "BatchMode=yes", "gpu7", "true"], capture_output=True, timeout=60).returncode == 0:
                break
            time.sleep(0.2)
        else:
            raise RuntimeError("the sshd lets nobody in: " + (place / "sshd.err").read_text()[-500:])
        yield sshd
    finally:
        os.environ["PATH"] = path
        sshd.kill()
        sshd.wait()


def collect_from(folder):
    folder = pathlib.Path(folder)
    engines = f"{folder}/simulated/engine"
    with own_sshd(folder) as sshd, simulation(folder / "simulated", "--count", "2", "--router", "vllm") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--collect-from", f"gpu7:{engines}")
        whole("collect-from", done, report, run_folder, 2)
        if report:
            check("collect-from: said where", all(w["collected_from"].startswith("gpu7:") for w in report["workers"]))
            check("collect-from: each its own", not report["foreign_files"] and not report["extra_files"], report)
            check("collect-from: copies", all(os.stat(run_folder / f).st_nlink == 1 for r in ranks(report) for f in r["files"]))
            # The recording's own stay; a trial came before it.
            left = sorted(str(f) for f in pathlib.Path(engines).rglob("*") if f.is_file())
            check("collect-from: the trial's files are gone", "  trial " in done.stderr and left and not any("trial-" in f for f in left),
                  (done.stderr, left))
        done, report, run_folder = record(folder, target(addresses), "--collect-from", "gpu7")
        whole("collect-from, folder told by the engine", done, report, run_folder, 2)
        done, _, _ = record(folder, target(addresses), "--collect-from", f"gpu7:{folder}/no/such folder")
        check("collect-from: no such folder", done.returncode == 2 and "no folder" in done.stderr, done.stderr)
        check("collect-from: refused before the start", "warm-up" not in done.stderr, done.stderr)
        done, _, _ = record(folder, target(addresses), "--collect-from", f"nowhere.invalid:{engines}")
        check("collect-from: no such host", done.returncode == 6 and "nowhere.invalid" in done.stderr, done.stderr)

        def stop_sshd():
            # Connections that exist go on; a new one finds nobody. A mark says that the profilers have started.
            check("collect-from: the profilers start", wait_for(lambda: list(folder.rglob("*.session"))))
            sshd.kill()
        killer = threading.Thread(target=stop_sshd)
        killer.start()
        done, report, _ = record(folder, target(addresses), "--collect-from", f"gpu7:{engines}", "--duration", "5s")
        killer.join()
        check("collect-from: the host goes", done.returncode == 4 and "ssh gpu7" in " ".join(done.stdout.split()), f"{done.returncode}\n{done.stdout}")
        check("collect-from: the host goes, run.json", report and not report["complete"] and report["missing"], report)
        finds("collect-from: the host goes", report, "not-collected")


def mapped(folder):
    folder = pathlib.Path(folder)
    os.makedirs(folder / "simulated" / "engine")
    (folder / "mounted").symlink_to(folder / "simulated" / "engine")
    with simulation(folder / "simulated") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--map",
                                          f"{folder}/simulated/engine={folder}/mounted")
        whole("map", done, report, run_folder, 1)
        if report:
            where = report["workers"][0]["engine_folder"]
            check("map: the local folder", where.startswith(f"{folder}/mounted"), where)
        done, _, _ = record(folder, target(addresses), "--map", "nonsense")
        check("map: not of its form", done.returncode == 2 and "/engine/path=/local/path" in done.stderr, done.stderr)


def tls(folder):
    folder = pathlib.Path(folder)
    subprocess.run([needed("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=engine", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem",
                    "-out", folder / "certificate.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    with simulation(folder / "simulated") as addresses, QuietServer(("127.0.0.1", 0), Proxy) as server:
        Proxy.engine = addresses["workers"][0]["url"]
        # The handshake runs on the connection's thread, so that a silent client does not delay the others.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"https://127.0.0.1:{server.server_port}"
        for command in (("engine", "status", url), ("record", url, "--out", folder / "runs")):
            refused = run(*map(str, command))
            check(f"tls, {command[0]}: refused", refused.returncode == 6, f"{refused.returncode} {refused.stderr}")
            check(f"tls, {command[0]}: says why and what helps",
                  all(word in refused.stderr for word in (url, "certificate not trusted", "--insecure", "--cacert")), refused.stderr)
        for options in (("--insecure",), ("--cacert", str(folder / "certificate.pem"))):
            done = run("engine", "status", url, *options)
            check(f"tls {options[0]}: goes", done.returncode == 0 and "0.32.0" in done.stdout, done.stdout + done.stderr)
        done = run("engine", "status", url, "--cacert", str(folder / "none.pem"))
        check("tls: no such file", done.returncode == 6 and "none.pem" in done.stderr, done.stderr)
        server.shutdown()


# Each with the programs that it needs.


main([mapped, collect_from, tls], __doc__)
