"""``python -m agent``: one agent process."""

from agent.service import main

if __name__ == "__main__":
    main()
