"""Runs a recorded turn again with the code that serves visitors, optionally with another model, prompt or settings."""

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.adapters.encodings import Encodings
from agent.domain.cost import Prices
from agent.domain.offered_tool import OfferedTool
from agent.domain.turn.effects import Ack, Trigger
from agent.domain.turn.journal import Journal, TokenCount
from agent.errors import UnreachableError
from agent.llm.paid_calls import Spending
from agent.ports import Models
from agent.record.recorded_turn import RecordedTurn
from agent.replay.recorded_ports import (
    NOT_IN_RECORD,
    FixedPorts,
    PlayedJournals,
    PlayedLog,
    PlayedOwnCalls,
    PlayedTools,
    ReplayUsage,
)
from agent.turns.deps import Limits, Ports
from agent.turns.driver import TurnDriver
from agent.turns.watches import Watches
from contracts.company import CompanySettings
from contracts.json_values import object_of


@dataclass(frozen=True)
class ReplayWorld:
    """The surroundings of a replayed turn. `others`: results of the conversation's other turns. `spending`: pays for
    the model calls; None if nobody does."""

    settings: CompanySettings
    tools: tuple[OfferedTool, ...]
    models: Models
    others: Mapping[tuple[str, str], str]
    prices: Prices
    spending: Spending | None = None


@dataclass(frozen=True)
class ReplayOutcome:
    """The outcome of a replayed turn. `cost`: None if the model's price is unknown. `error`: why there is no answer."""

    journal: Journal | None
    text: str
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    missing: tuple[str, ...]
    borrowed: tuple[str, ...]
    error: str | None = None


async def replay_turn(turn: RecordedTurn, world: ReplayWorld) -> ReplayOutcome:
    """Replays the turn from the same snapshot, at the same time of the bus's clock."""
    log = PlayedLog(turn, world.settings.config.response_delay_ms / 1000)
    journals, tools = PlayedJournals(turn), PlayedTools(turn.journal, world.others)
    ledger = ReplayUsage(world.spending.facts if world.spending else None)
    fixed_ports = FixedPorts(world.settings, world.tools, turn.journal.started_at)
    ports = Ports(
        chat=log,
        journals=journals,
        histories=log,
        companies=fixed_ports,
        catalogue=fixed_ports,
        tools=tools,
        drivers=fixed_ports,
        live=fixed_ports,
        failures=fixed_ports,
        models=world.models,
        clock=fixed_ports,
        spending=Spending(world.spending.budgets if world.spending else fixed_ports, ledger),
        record=fixed_ports.ended,
        contexts=log,
        knowledge=log,
        files=fixed_ports,
        encoders=Encodings(),
        own=PlayedOwnCalls(tools),
        summaries=fixed_ports,
        proposals=fixed_ports,
    )
    limits = Limits(turn=turn.journal.deadline - turn.journal.started_at)
    driver = TurnDriver(ports, limits, turn.key, Watches().watch(turn.key), stored_at=0.0)
    started = time.perf_counter()
    error: str | None = None
    try:
        outcome = await driver.run(Trigger(turn.journal.basis, visitor=True))
        if not isinstance(outcome, Ack):
            error = f"no answer: {outcome.reason}"
        elif log.ending is None:
            error = f"not answered: {outcome.reason}"
    except UnreachableError as unreachable:
        error = str(unreachable)
    finally:
        driver.close()
        await asyncio.sleep(0)
    counts = [usage for _, _, usage in ledger.calls]
    return ReplayOutcome(
        journal=log.ending.journal if log.ending else journals.saved[-1] if journals.saved else None,
        text=log.ending.text if log.ending else "",
        seconds=time.perf_counter() - started,
        prompt_tokens=sum(usage.prompt for usage in counts),
        completion_tokens=sum(usage.completion for usage in counts),
        cost=cost_of(ledger.calls, world.prices),
        missing=tuple(tools.missing),
        borrowed=tuple(tools.borrowed),
        error=error,
    )


def cost_of(calls: Iterable[tuple[str, str, TokenCount]], prices: Prices) -> float | None:
    """Returns the cost of model calls (provider, model, usage) by today's list, for recorded and replayed turns alike;
    None if one of them has no price."""
    total = 0.0
    for provider, model, usage in calls:
        if provider == "offline":
            continue
        price = prices.get((provider, model))
        if price is None:
            return None
        total += price.cost(usage)
    return round(total, 9)


def tool_uses(journal: Journal | None) -> list[dict[str, object]]:
    """Returns the tool calls of the turn itself, in order, without those of earlier turns."""
    if journal is None:
        return []
    entries: list[dict[str, object]] = []
    for step in journal.steps:
        if step.basis != journal.basis:
            continue
        for call in step.calls:
            result = object_of(json.loads(call.result)) if call.result else {}
            error = object_of(result.get("error"))
            entries.append(
                {
                    "callId": call.call_id,
                    "tool": call.tool,
                    "arguments": json.loads(call.arguments),
                    "success": bool(result.get("success")),
                    "inRecord": error.get("code") != NOT_IN_RECORD,
                    "error": error.get("code"),
                }
            )
    return entries
