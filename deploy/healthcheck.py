"""Healthy when this container's service says that it is ready; the container has no curl."""

import os
import sys
import urllib.error
import urllib.request

variable = f"NEXUS_{os.environ['SERVICE'].replace('-', '_').upper()}_PORT"
try:
    with urllib.request.urlopen(f"http://127.0.0.1:{os.environ[variable]}/readyz", timeout=4) as answer:
        sys.exit(0 if answer.status == 200 else 1)
except urllib.error.HTTPError as error:
    sys.exit(f"not ready: {error.read(1000).decode(errors='replace')}")
except OSError as error:
    sys.exit(f"no answer: {error}")
