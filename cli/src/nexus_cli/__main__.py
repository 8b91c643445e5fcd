"""`python -m nexus_cli` is the command `nexus`."""

from nexus_cli.main import main

if __name__ == "__main__":
    main()
