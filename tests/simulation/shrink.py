"""Makes a failing plan smaller: removes faults, acts and rates while it still fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.simulation.plan import Plan
from tests.simulation.world import simulate


def smallest(plan: Plan, most: int = 300) -> Plan:
    """Returns the smallest plan that still fails, found within `most` simulations."""
    simulations = 0
    while True:
        for candidate in _smaller(plan):
            simulations += 1
            if simulations > most:
                return plan
            if simulate(candidate).violations:
                plan = candidate
                break
        else:
            return plan


def _smaller(plan: Plan) -> Iterator[Plan]:
    for size in (len(plan.faults) // 2, 1):
        for at in range(0, len(plan.faults), max(size, 1)):
            yield replace(plan, faults=plan.faults[:at] + plan.faults[at + max(size, 1) :])
    for size in (len(plan.acts) // 2, 1):
        for at in range(0, len(plan.acts), max(size, 1)):
            yield replace(plan, acts=plan.acts[:at] + plan.acts[at + max(size, 1) :])
    for name, rate in vars(plan.rates).items():
        if rate:
            yield replace(plan, rates=replace(plan.rates, **{name: 0.0}))
    for name, rate in vars(plan.store).items():
        if rate:
            yield replace(plan, store=replace(plan.store, **{name: 0.0}))
    if plan.model_fails:
        yield replace(plan, model_fails=0.0)
