"""Recorded turns, again."""

from agent.replaying.program import main

if __name__ == "__main__":
    raise SystemExit(main())
