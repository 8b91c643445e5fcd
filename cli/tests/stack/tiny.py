"""A very small service, for tests of the supervisor: `python tiny.py PORT [how]`.

It answers GET /readyz and /healthz on PORT. `how` makes it misbehave: `crash` ends it at once, `unready` answers 503,
`stuck` answers 503 to /healthz alone, `deaf` ignores SIGTERM, `orderly` ends by it with 0, `broken` says that its
disk is full, `parent` starts a grandchild and prints its pid, `loud` prints one line of 200,000 characters.
"""

import http.server
import signal
import subprocess
import sys


class _Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(503 if how == "unready" or (how == "stuck" and self.path == "/healthz") else 200)
        self.end_headers()
        self.wfile.write(b'{"checks":{"bus":"not connected"}}' if how == "unready" else b"{}")

    def log_message(self, format: str, *args: object) -> None:
        del format, args


port, how = int(sys.argv[1]), (sys.argv[2] if len(sys.argv) > 2 else "")
if how == "crash":
    sys.exit("cannot start: no reason")
if how == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how == "orderly":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
if how == "broken":
    print("no space left on device", flush=True)
if how == "parent":
    print("grandchild", subprocess.Popen(["sleep", "600"]).pid, flush=True)
if how == "loud":
    print("x" * 200_000, flush=True)
http.server.HTTPServer(("127.0.0.1", port), _Health).serve_forever()
