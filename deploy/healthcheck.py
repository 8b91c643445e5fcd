"""Succeeds if this container's service reports that it is ready; the container has no curl.

A service that reports that it cannot recover by itself is ended, since Docker restarts only containers that have ended.
"""

import os
import signal
import sys
import urllib.error
import urllib.request

variable = f"NEXUS_{os.environ['SERVICE'].replace('-', '_').upper()}_PORT"
address = f"http://127.0.0.1:{os.environ[variable]}"
try:
    urllib.request.urlopen(f"{address}/healthz", timeout=2).close()
except urllib.error.HTTPError as error:
    os.kill(1, signal.SIGTERM)
    sys.exit(f"not alive: {error.read(1000).decode(errors='replace')}")
except OSError as error:
    sys.exit(f"no answer: {error}")
try:
    with urllib.request.urlopen(f"{address}/readyz", timeout=2.5) as answer:
        sys.exit(0 if answer.status == 200 else 1)
except urllib.error.HTTPError as error:
    sys.exit(f"not ready: {error.read(1000).decode(errors='replace')}")
except OSError as error:
    sys.exit(f"no answer: {error}")
