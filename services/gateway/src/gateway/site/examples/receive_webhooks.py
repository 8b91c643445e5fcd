"""A company's own system that is told of what happens: `WEBHOOK_SECRET=… python examples/receive_webhooks.py`.

Needs nothing but Python. Put `{"url": "http://127.0.0.1:9000/", "events": ["*"], "secret": "…"}` into the company's
`webhooks`. What is told is signed as standardwebhooks.com has it: checked by hand here, and by its libraries too."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
KEY = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()
OLDEST = 300  # seconds: whoever has caught a request cannot send it again tomorrow
SEEN: set[str] = set()  # a real system keeps the ids where it keeps what it does with them


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to what it has taken: anything else, and it is told again."""

    def do_POST(self) -> None:
        """One fact."""
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), 1024 * 1024))
        identity, sent = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "")
        made = hmac.new(KEY, f"{identity}.{sent}.".encode() + body, hashlib.sha256).digest()
        wanted = "v1," + base64.b64encode(made).decode()
        signatures = self.headers.get("webhook-signature", "").split(" ")
        fresh = sent.isdecimal() and abs(time.time() - int(sent)) < OLDEST
        if not fresh or not any(hmac.compare_digest(wanted, one) for one in signatures):
            self.send_response(401)
            self.end_headers()
            return
        if identity not in SEEN:  # at least once: the same fact may come again, with the same id
            SEEN.add(identity)
            event = json.loads(body)
            print(event["type"], event["subject"], event["data"].get("text", ""), flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """No line a request."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
