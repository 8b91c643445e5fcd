"""``python -m tool_executor``: one executor process."""

from tool_executor.service import main

if __name__ == "__main__":
    main()
