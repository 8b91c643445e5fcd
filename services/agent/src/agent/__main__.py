"""``python -m agent``: one agent process."""

from runtime.lifecycle.process import run

MAIN = "agent.service:serve"

if __name__ == "__main__":
    run(MAIN)
