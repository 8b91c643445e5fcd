"""Reads a conversation's log and its journal together."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from agent.domain.turn.journal import Journal
from agent.errors import UnreachableError
from agent.ports import AskedSnapshot, ConversationKey
from agent.turns.deps import Ports


async def log_and_journal(
    ports: Ports, key: ConversationKey, at_least: int
) -> tuple[AskedSnapshot, Journal | None, int]:
    """The snapshot no older than `at_least`, nor than the journal if there is one, and the journal with its revision;
    raises UnreachableError."""
    reading = asyncio.create_task(ports.journals.read(key))
    try:
        seen = await ports.chat.look(key, at_least)
        found, revision = await reading
    except BaseException:
        reading.cancel()
        raise
    if found is not None and found.basis > seen.view.seq:
        # Its turn's message is newer than what this replica of the log holds: by that view the turn of an older message
        # would take its place. A log that was made anew holds none.
        with suppress(UnreachableError):
            seen = await ports.chat.look(key, found.basis)
    view = seen.view
    if found is not None and view.first_unanswered < view.newest_visitor and view.newest_message in found.has_answered:
        seen = replace(seen, view=await ports.chat.behind_copies(key, view, found.has_answered))
    return seen, found, revision
