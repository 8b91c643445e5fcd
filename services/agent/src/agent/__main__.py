"""``python -m agent``: one agent process."""

from runtime.process import run

if __name__ == "__main__":
    run("agent.service:serve")
