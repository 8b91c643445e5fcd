"""Runs simulations: many seeds, one seed with its trace, or the table of rules taken out."""
import os
import sys
import time

if os.environ.get("PYTHONHASHSEED") != "0":
    os.execve(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})


from tests.simulation.determinism import deterministic
from tests.simulation.plan import plan_of
from tests.simulation.world import simulate

c = time.process_time
with deterministic():
    import gc
    gc.disable()
    a,b=map(int,sys.argv[1:3])
    for s in range(a,b):
        t = c()
        if s%16==0: gc.collect()
        r = simulate(plan_of(s), trace=True)
        print(s, r.violations, round(r.seconds, 3), r.answers, round((c() - t) * 1000, 1), "ms", hash(tuple(r.trace)))
    if len(sys.argv)>3: print(r.plan, "\n".join(r.trace), sep="\n")
