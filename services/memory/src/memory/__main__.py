"""``python -m memory``: one replica of memory, set up by the environment."""

from runtime.process import run

if __name__ == "__main__":
    run("memory.service:main")
