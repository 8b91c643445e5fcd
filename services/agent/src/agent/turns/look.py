"""Reads a conversation's log and its journal together."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from agent.domain.turn.journal import Journal
from agent.errors import UnreachableError
from agent.ports import ConversationKey, TurnSnapshot
from agent.turns.deps import Ports


async def read_log_and_journal(
    ports: Ports, key: ConversationKey, at_least: int
) -> tuple[TurnSnapshot, Journal | None, int]:
    """Returns the snapshot, the journal (None if there is none) and the journal's revision. The snapshot is at least as
    new as the sequence `at_least` and as the journal's basis. Raises UnreachableError."""
    read_task = asyncio.create_task(ports.journals.read(key))
    try:
        snapshot = await ports.chat.look(key, at_least)
        journal, revision = await read_task
    except BaseException:
        read_task.cancel()
        raise
    if journal is not None and journal.basis > snapshot.view.seq:
        # The turn's message is newer than this replica of the log: decided on this snapshot, the turn of an older
        # message would replace the journal's. A log that was recreated never reaches the basis.
        with suppress(UnreachableError):
            snapshot = await ports.chat.look(key, journal.basis)
    view = snapshot.view
    if (
        journal is not None
        and view.first_unanswered < view.newest_visitor
        and view.newest_message in journal.has_answered
    ):
        snapshot = replace(snapshot, view=await ports.chat.behind_copies(key, view, journal.has_answered))
    return snapshot, journal, revision
