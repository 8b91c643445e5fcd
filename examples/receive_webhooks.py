"""A company's own system that receives events by webhook: `WEBHOOK_SECRET=… python examples/receive_webhooks.py`.

Needs nothing but Python. Put `{"url": "http://127.0.0.1:9000/", "events": ["*"], "secret": "…"}` into the company's
`webhooks`. Requests are signed as standardwebhooks.com specifies: checked by hand here, but its libraries can check
them too."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
KEY = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()
MAX_AGE_SECONDS = 300  # so that an intercepted request cannot be sent again tomorrow
SEEN: set[str] = set()  # a real system stores the ids together with its own data


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to facts that it has accepted; after any other answer, a fact is sent again."""

    def do_POST(self) -> None:
        """Receives one fact."""
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), 1024 * 1024))
        identity, timestamp = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "")
        digest = hmac.new(KEY, f"{identity}.{timestamp}.".encode() + body, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(digest).decode()
        signatures = self.headers.get("webhook-signature", "").split(" ")
        is_fresh = timestamp.isdecimal() and abs(time.time() - int(timestamp)) < MAX_AGE_SECONDS
        if not is_fresh or not any(hmac.compare_digest(expected, signature) for signature in signatures):
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
        """Logs no requests."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
