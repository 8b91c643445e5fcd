"""`python -m agent.replay`: reads records from the bus, replays the turns, and prints one JSON object a line.

First {"type": "plan", "turns": N}, then {"type": "turn", …} for each turn, in the order of the records (with --cases
{"type": "case", …}); or one {"type": "error", "message": …} and exit code 1.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import aiohttp
import structlog
from nats.aio.client import Client

from agent.adapters.catalogue import ExecutorCatalogue
from agent.adapters.model_router import configured_router
from agent.errors import UnreachableError
from agent.ports import ConversationKey
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn_archive import TurnArchive
from agent.replay.made_case import case_of
from agent.replay.overrides import OverrideError, chosen_model, read_patch, read_prompt, single_model
from agent.replay.replayer import Changes, Replayer
from agent.settings import ModelSettings
from contracts.ids import is_id
from runtime.bus.connection import connect
from runtime.calls.rpc import RpcClient
from runtime.errors import RuntimeLibraryError
from runtime.settings import NatsSettings

MAX_PARALLEL_REPLAYS = 4


@dataclass(frozen=True)
class ReplayOptions:
    """The turns to replay, and the changes. `company`: None for any."""

    company: str | None
    conversation: str | None
    day: date | None
    model: str | None
    prompt: str | None
    patch: dict[str, object] | None
    cases: bool = False
    """Writes each turn as a case of `nexus eval` instead of running it again."""


async def _turns(archive: TurnArchive, options: ReplayOptions) -> list[RecordedTurn]:
    """Returns the turns that the options select; raises OverrideError if there are none."""
    if options.conversation is not None:
        turns = await archive.conversation(options.company, options.conversation)
        selection = f"conversation {options.conversation}"
    else:
        day = options.day or date.today()
        turns = await archive.day(options.company, day)
        selection = day.isoformat()
    if not turns:
        in_company = f" in company {options.company}" if options.company else ""
        raise OverrideError(
            f"no answered turn is recorded of {selection}{in_company}: records are kept for 30 days, from the answer on"
        )
    return turns


async def run(options: ReplayOptions) -> int:
    """Runs the program and returns its exit code."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    settings = ModelSettings()
    client: Client | None = None
    async with aiohttp.ClientSession() as session:
        try:
            models = (
                single_model(chosen_model(options.model, settings), settings, session)
                if options.model
                else configured_router(settings, session)
            )
            client = await connect(NatsSettings(), name="nexus-replay")
            archive, changes = TurnArchive(client), Changes(options.prompt, options.patch)
            turns = await _turns(archive, options)
            say({"type": "plan", "turns": len(turns)})
            if options.cases:
                _print_cases(turns)
            else:
                catalogue = ExecutorCatalogue(RpcClient(client))
                await _print_replays(Replayer(archive, catalogue, models, changes), turns)
        except (OverrideError, UnreachableError, RuntimeLibraryError) as error:
            say({"type": "error", "message": str(error)})
            return 1
        finally:
            if client is not None:
                await client.close()
    return 0


def _print_cases(turns: list[RecordedTurn]) -> None:
    for turn in turns:
        case = case_of(turn)
        if case is not None:
            say({"type": "case", "turnId": turn.journal.turn_id, "name": case.name, "toml": case.toml})


async def _print_replays(replayer: Replayer, turns: list[RecordedTurn]) -> None:
    slots = asyncio.Semaphore(MAX_PARALLEL_REPLAYS)
    conversations: dict[ConversationKey, list[RecordedTurn]] = {}
    for turn in turns:
        conversations.setdefault(turn.key, []).append(turn)

    async def replay(turn: RecordedTurn) -> dict[str, object]:
        async with slots:
            return {"type": "turn", **await replayer.replay_and_compare(turn, conversations[turn.key])}

    tasks = [asyncio.create_task(replay(turn)) for turn in turns]
    try:
        for task in tasks:
            say(await task)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def say(line: dict[str, object]) -> None:
    """Prints a line on standard output."""
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Returns the exit code: 0 for done, 1 if an error line was printed."""
    parser = argparse.ArgumentParser(prog="agent.replay", description=__doc__)
    parser.add_argument("--company")
    selection = parser.add_mutually_exclusive_group(required=True)
    selection.add_argument("--conversation")
    selection.add_argument("--day", type=date.fromisoformat)
    parser.add_argument("--model")
    parser.add_argument("--prompt", type=Path)
    parser.add_argument("--settings", type=Path)
    parser.add_argument("--cases", action="store_true")
    options = parser.parse_args()
    if options.conversation is not None and not is_id(options.conversation):
        parser.error("no conversation has such an id")
    try:
        replay_options = ReplayOptions(
            company=options.company,
            conversation=options.conversation,
            day=options.day,
            model=options.model,
            prompt=read_prompt(options.prompt) if options.prompt else None,
            patch=read_patch(options.settings) if options.settings else None,
            cases=options.cases,
        )
    except OverrideError as error:
        say({"type": "error", "message": str(error)})
        return 1
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(run(replay_options))
    return 130
