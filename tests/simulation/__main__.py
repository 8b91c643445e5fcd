"""Runs simulations: many seeds, one seed with its trace, or the table of rules taken out."""
import os
import sys
import time

if os.environ.get("PYTHONHASHSEED") != "0":
    os.execve(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})

import logging
import structlog
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))

from tests.simulation.determinism import deterministic
from tests.simulation.world import Plan, simulate

c = time.process_time
with deterministic():
    for s in range(int(sys.argv[1])):
        b = c()
        r = simulate(Plan(seed=s), trace=True)
        print(s, r.violations, round(r.seconds, 3), r.answers, round((c() - b) * 1000, 1), "ms", hash(tuple(r.trace)))
    print("\n".join(r.trace))
