"""``python -m tool_executor``: one executor process."""

from runtime.lifecycle.process import run

MAIN = "tool_executor.service:serve"

if __name__ == "__main__":
    run(MAIN)
