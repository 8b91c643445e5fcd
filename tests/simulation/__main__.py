"""Runs simulations: many seeds, one seed with its trace and made smaller, or the table of rules taken out.

python -m tests.simulation --seeds 100000 --workers 2
python -m tests.simulation --seed 123
python -m tests.simulation --rules
"""

from __future__ import annotations

import argparse
import os
import sys


def main() -> int:
    """The exit status: 1 when something did not hold."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets is part of what a seed decides.
        command = [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "0"})
    from tests.simulation import program

    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--seeds", type=int, default=1000, help="so many of them")
    parser.add_argument("--first", type=int, default=0, help="from this one on")
    parser.add_argument("--workers", type=int, default=2, help="processes that run them")
    parser.add_argument("--seed", type=int, help="this one alone: its trace, and the smallest plan that shows the same")
    parser.add_argument("--rules", action="store_true", help="each safety rule taken out, and the seeds that show it")
    options = parser.parse_args()
    if options.seed is not None:
        return program.replay(options.seed)
    if options.rules:
        return program.table()
    return program.many(range(options.first, options.first + options.seeds), options.workers)


if __name__ == "__main__":
    sys.exit(main())
