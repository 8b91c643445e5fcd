"""Recorded turns, again."""

from agent.replay.program import main

if __name__ == "__main__":
    raise SystemExit(main())
