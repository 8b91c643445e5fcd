"""Entry point of `python -m agent.replay`."""

from agent.replay.program import main

if __name__ == "__main__":
    raise SystemExit(main())
