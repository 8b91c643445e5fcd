"""The MongoDB-wire server with its log at warnings: `python -m nexus_cli.stack.wire_server --data-dir …`.

As it comes it logs two lines for each command, documents and all, and has no option for less.
"""

import logging

from nx_27017.nx_27017 import main  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

if __name__ == "__main__":
    logging.disable(logging.INFO)
    main()
