"""``nexus`` on a machine whose clock is a minute behind. A fork has read no sitecustomize of its own."""

import time

from nexus_cli.main import main

now = time.time
time.time = lambda: now() - 60
main()
