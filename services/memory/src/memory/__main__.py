"""``python -m memory``: one replica of memory, configured by the environment."""

from runtime.lifecycle.process import run

MAIN = "memory.service:main"

if __name__ == "__main__":
    run(MAIN)
