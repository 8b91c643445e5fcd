"""``nexus`` on a machine whose clock is a minute behind. A fork has read no sitecustomize of its own."""

import time

from nexus_cli.main import main

if __name__ == "__main__":
    # A fork server imports the module before it forks, and its own clock must stay right.
    now = time.time
    time.time = lambda: now() - 60
    main()
