"""`python -m agent.replay`: reads records from the bus, does the turns again, prints one JSON object a line.

First {"type": "plan", "turns": N}, then {"type": "turn", …} for each as it is done, in the order of the record; or one
{"type": "error", "message": …} and exit code 1.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import aiohttp
import structlog
from nats.aio.client import Client

from agent.adapters.catalogue import ExecutorCatalogue
from agent.adapters.model_router import configured
from agent.adapters.price_table import prices
from agent.domain.offered_tool import OfferedTool
from agent.errors import UnreachableError
from agent.ports import Asker, Key, Models
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn import hash_of
from agent.record.turn_archive import TurnArchive
from agent.replay.again import ReplayWorld, again
from agent.replay.comparison import compared
from agent.replay.overrides import OneModel, OverrideError, changed, chosen_model, read_patch, read_prompt
from agent.replay.played import results_of
from agent.settings import AgentSettings, ModelSettings
from contracts.company import CompanySettings
from contracts.ids import is_id
from runtime.connection import connect
from runtime.errors import RuntimeFault
from runtime.rpc import RpcClient
from runtime.settings import NatsSettings

AT_ONCE = 4


@dataclass(frozen=True)
class ReplayWish:
    """What to replay, and with what changed. `company` None: whichever."""

    company: str | None
    conversation: str | None
    day: date | None
    model: str | None
    prompt: str | None
    patch: dict[str, Any] | None


class ReplayRun:
    """All turns of one wish. `tools` are asked of the running executor, once for each kind of asker."""

    def __init__(self, client: Client, wanted: ReplayWish, models: Models) -> None:
        self._wanted = wanted
        self._models = models
        self._archive = TurnArchive(client)
        self._catalogue = ExecutorCatalogue(RpcClient(client))
        self._tools: dict[tuple[str, str, str, str], tuple[OfferedTool, ...]] = {}
        self._versions: dict[str, dict[int, CompanySettings]] = {}
        self._prices = prices()

    async def turns(self) -> list[RecordedTurn]:
        """What there is to replay; raises OverrideError when there is nothing."""
        wanted = self._wanted
        if wanted.conversation is not None:
            found = await self._archive.conversation(wanted.company, wanted.conversation)
            what = f"conversation {wanted.conversation}"
        else:
            day = wanted.day or date.today()
            found = await self._archive.day(wanted.company, day)
            what = day.isoformat()
        if not found:
            where = f" in company {wanted.company}" if wanted.company else ""
            raise OverrideError(
                f"no answered turn is recorded of {what}{where}: records are kept for 30 days, from the answer on"
            )
        for company in {turn.key.company for turn in found}:
            self._versions[company] = await self._archive.settings(company)
        return found

    async def one(self, turn: RecordedTurn, siblings: Sequence[RecordedTurn]) -> dict[str, Any]:
        """One turn, compared. `siblings`: the turns of its conversation."""
        notes: list[str] = []
        settings = changed(self._settings(turn, notes), prompt=self._wanted.prompt, patch=self._wanted.patch)
        tools = await self._offered(turn, settings, notes)
        others: dict[tuple[str, str], str] = {}
        for sibling in siblings:
            if sibling is not turn:
                others |= results_of(sibling.journal)
        outcome = await again(turn, ReplayWorld(settings, tools, self._models, others, self._prices))
        return {"type": "turn", **compared(turn, outcome, self._prices, notes)}

    def _settings(self, turn: RecordedTurn, notes: list[str]) -> CompanySettings:
        versions = self._versions[turn.key.company]
        found = versions.get(turn.config_version)
        if found is not None:
            return found
        if not versions:
            raise OverrideError(f"there is no company {turn.key.company} any more")
        newest = max(versions)
        notes.append(f"settings of version {turn.config_version} are gone: version {newest} was used")
        return versions[newest].model_copy(update={"version": turn.config_version})

    async def _offered(
        self, turn: RecordedTurn, settings: CompanySettings, notes: list[str]
    ) -> tuple[OfferedTool, ...]:
        asker = turn.inputs.seen.asker
        kind = (turn.key.company, asker.role, asker.plan, asker.language)
        if kind not in self._tools:
            self._tools[kind] = await self._catalogue.offered(turn.key.company, _known(asker))
        tools = self._tools[kind] if asker.principal is not None else ()
        if self._wanted.patch is None:
            # What the settings then allowed, as the tools are described now.
            tools = tuple(tool for tool in tools if tool.name in turn.tools)
        if hash_of(tools) != turn.tools_hash:
            notes.append("the tools are not the ones that were offered then")
        return tools


def _known(asker: Asker) -> Asker:
    return asker if asker.principal is not None else replace(asker, principal="recorded")


async def run(wanted: ReplayWish) -> int:
    """Everything; the exit code."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    settings = ModelSettings()
    client: Client | None = None
    async with aiohttp.ClientSession() as session:
        try:
            chosen = chosen_model(wanted.model, settings) if wanted.model else None
            if chosen is not None and chosen.provider == "compatible":
                settings = settings.model_copy(update={"model": chosen.model})
            elif chosen is not None:
                settings = settings.model_copy(update={"base_url": None})
            models: Models = configured(settings, session, AgentSettings().model_silence_seconds)
            client = await connect(NatsSettings(), name="nexus-replay")
            replay = ReplayRun(client, wanted, OneModel(models, chosen) if chosen else models)
            turns = await replay.turns()
            say({"type": "plan", "turns": len(turns)})
            await _all(replay, turns)
        except (OverrideError, UnreachableError, RuntimeFault) as error:
            say({"type": "error", "message": str(error)})
            return 1
        finally:
            if client is not None:
                await client.close()
    return 0


async def _all(replay: ReplayRun, turns: list[RecordedTurn]) -> None:
    slots = asyncio.Semaphore(AT_ONCE)
    conversations: dict[Key, list[RecordedTurn]] = {}
    for turn in turns:
        conversations.setdefault(turn.key, []).append(turn)

    async def one(turn: RecordedTurn) -> dict[str, Any]:
        async with slots:
            return await replay.one(turn, conversations[turn.key])

    tasks = [asyncio.create_task(one(turn)) for turn in turns]
    try:
        for task in tasks:
            say(await task)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def say(line: dict[str, Any]) -> None:
    """One line on standard output."""
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Exit code 0: done; 1: an error line was printed."""
    parser = argparse.ArgumentParser(prog="agent.replay", description=__doc__)
    parser.add_argument("--company")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--conversation")
    what.add_argument("--day", type=date.fromisoformat)
    parser.add_argument("--model")
    parser.add_argument("--prompt", type=Path)
    parser.add_argument("--settings", type=Path)
    options = parser.parse_args()
    if options.conversation is not None and not is_id(options.conversation):
        parser.error("no conversation has such an id")
    try:
        wanted = ReplayWish(
            company=options.company,
            conversation=options.conversation,
            day=options.day,
            model=options.model,
            prompt=read_prompt(options.prompt) if options.prompt else None,
            patch=read_patch(options.settings) if options.settings else None,
        )
    except OverrideError as error:
        say({"type": "error", "message": str(error)})
        return 1
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(run(wanted))
    return 130
