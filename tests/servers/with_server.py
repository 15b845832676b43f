#!/usr/bin/env python3
"""Starts a server of its own (postgres, redis, mariadb), runs a program against it, and ends it.

with_server.py KIND PROGRAM [ARGUMENTS]...: the program's last argument is where the server is: a
connection string for postgres, a socket for the others. The server keeps its data in a private folder
and listens at a Unix socket there. Status 77, with the reason, where its package is missing.
"""

import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def program(name, package, *folders):
    for folder in folders:
        for found in sorted(glob.glob(f"{folder}/{name}"), reverse=True):
            return found
    found = shutil.which(name)
    if found is None:
        skip(f"no {name} here: Debian's package {package} has it")
    return found


def run(command, user=None):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", user=user)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")


def nobody():
    """Servers that refuse to run as root run as somebody else."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            pass
    skip("root, and no other user to run a server as")
    return None


class Server:
    def __init__(self, folder, command, user, ready):
        self.log = folder / "server.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, user=user,
                                            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{command[0]} does not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def asks(*command):
    return lambda: subprocess.run(command, capture_output=True, check=False).returncode == 0


def postgres(folder, user):
    home = "/usr/lib/postgresql/*/bin"
    initdb = program("initdb", "postgresql", home)
    server = program("postgres", "postgresql", home)
    ready = program("pg_isready", "postgresql", home)
    data = folder / "data"
    run([initdb, "--pgdata", str(data), "--auth=trust", "--username=vole", "--no-sync",
         "--encoding=UTF8", "--locale=C"], user)
    process = Server(folder, [server, "-D", str(data), "-k", str(folder), "-h", "", "-c", "fsync=off",
                              "-c", "max_connections=600", "-c", "shared_buffers=16MB"],
                     user, asks(ready, "-h", str(folder)))
    return process, f"host={folder} user=vole dbname=postgres"


def redis(folder, user):
    server = program("redis-server", "redis-server")
    cli = program("redis-cli", "redis-tools")
    socket = folder / "redis.sock"
    process = Server(folder, [server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm",
                              "777", "--save", "", "--dir", str(folder)],
                     user, asks(cli, "-s", str(socket), "ping"))
    return process, str(socket)


def mariadb(folder, user):
    make = program("mariadb-install-db", "mariadb-server")
    server = program("mariadbd", "mariadb-server", "/usr/sbin")
    admin = program("mariadb-admin", "mariadb-client")
    data, socket = folder / "data", folder / "mariadb.sock"
    run([make, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
         "--skip-test-db"], user)
    process = Server(folder, [server, "--no-defaults", f"--datadir={data}", f"--socket={socket}",
                              "--skip-networking", "--max-connections=600",
                              "--innodb-flush-log-at-trx-commit=0",
                              f"--pid-file={folder / 'pid'}"],
                     user, asks(admin, "--no-defaults", "-u", "root", f"--socket={socket}", "ping"))
    return process, str(socket)


def main():
    kind, command = sys.argv[1], sys.argv[2:]
    user = nobody()
    # Sockets have short names: not the build tree, whose path may be long.
    with tempfile.TemporaryDirectory(prefix="vole-") as name:
        folder = Path(name)
        if user is not None:
            os.chown(folder, user, -1)
        os.chmod(folder, 0o755)
        server, where = {"postgres": postgres, "redis": redis, "mariadb": mariadb}[kind](folder, user)
        try:
            status = subprocess.run([*command, where], check=False).returncode
        finally:
            server.stop()
    sys.exit(status)


main()
