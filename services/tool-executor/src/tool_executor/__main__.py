"""``python -m tool_executor``: one executor process."""

from runtime.process import run

if __name__ == "__main__":
    run("tool_executor.service:serve")
