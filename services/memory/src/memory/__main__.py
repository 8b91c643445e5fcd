"""``python -m memory``: one replica of memory, set up by the environment."""

from memory.app import main
from runtime.service import run

if __name__ == "__main__":
    run(main)
