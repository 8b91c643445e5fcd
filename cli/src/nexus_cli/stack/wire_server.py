"""Runs the MongoDB-wire server with its log level at warning: `python -m nexus_cli.stack.wire_server --data-dir …`.
By default it logs two lines for each command, with all documents, and it has no option for less."""

import logging

from nx_27017.nx_27017 import main  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

if __name__ == "__main__":
    logging.disable(logging.INFO)
    main()
