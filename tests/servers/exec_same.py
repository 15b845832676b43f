#!/usr/bin/env python3
"""Debian's own clients, bare and by `vole exec` while processors are taken from them all the time:
the same output, the same status.

exec_same.py VOLE postgres|redis|curl [WHERE]
"""

import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SQL = """
create table visits (who int, said text);
insert into visits select i, repeat('x', i % 50) from generate_series(1, 3000) i;
select * from visits order by who;
select pg_sleep(0.1), count(*), sum(length(said)) from visits;
\\echo done
select * from missing;
drop table visits;
"""
REDIS = "".join(f"set key:{i} {'v' * (i % 40)}\nget key:{i}\n" for i in range(300)) + (
    "lpush list a b c\nblpop nothing 0.1\nlrange list 0 -1\nwrong command\nflushall\n")


class Pages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = (self.path * 40_000).encode()
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(command, text, before, settings):
    done = subprocess.run([*before, *command], input=text, capture_output=True, text=True,
                          errors="replace", timeout=120, env={**os.environ, **settings})
    return done.returncode, done.stdout, done.stderr


def shown(result):
    status, out, error = result
    return f"status {status}, {len(out)} bytes, ending in {out[-300:]!r}; {error[-1000:]}"


def compare(vole, command, text=""):
    bare = run(command, text, [], {})
    ours = run(command, text, [vole, "exec"], {"VOLE_DEBUG": "storm=100"})  # a P is taken every 100 us
    if bare != ours:
        sys.exit(f"{command}: bare\n{shown(bare)}\nby vole exec\n{shown(ours)}")
    if len(bare[1]) < 100:
        sys.exit(f"{command}: there is nothing to compare: {bare}")
    print(f"{command[0]}: {len(bare[1])} bytes, status {bare[0]}")


def main():
    vole, kind = sys.argv[1], sys.argv[2]
    if kind == "postgres":
        compare(vole, ["psql", "-X", sys.argv[3]], SQL)
    elif kind == "redis":
        compare(vole, ["redis-cli", "-s", sys.argv[3]], REDIS)
    else:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_address[1]}"
        compare(vole, ["curl", "-sS", f"{at}/one", f"{at}/two"])
        with tempfile.NamedTemporaryFile() as to:
            compare(vole, ["curl", "-sS", "-o", to.name, "-w", "%{http_code} %{size_download}" + "." * 90,
                           f"{at}/missing"])
        server.shutdown()


main()
