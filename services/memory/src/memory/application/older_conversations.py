"""Migrates conversations stored by an earlier release: adds what this release lists and finds them by, from their
own facts."""

from dataclasses import replace

from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.domain.conversation import InboxConversation, fold
from memory.domain.keys import BEGINNING
from memory.migrations import MigrationStep

MOST = 50
"""Conversations migrated at a time."""
MOST_FACTS = 5_000
"""The oldest facts of one that are read, more than the search fields can hold."""


def listed(conversations: MongoConversations, facts: MongoFacts) -> MigrationStep:

    async def some() -> None:
        for state in await conversations.older(MOST):
            stored = await facts.after(state.company, state.conversation, BEGINNING, state.latest, MOST_FACTS)
            fresh = fold(InboxConversation(state.company, state.conversation), stored, BEGINNING, {})
            # Of what the older release knows nothing is touched. One that is changed meanwhile has been written by this
            # release: it is asked about again, or is done.
            await conversations.save(
                [
                    replace(
                        state,
                        visitor_message_at=fresh.visitor_message_at,
                        last_message_at=fresh.last_message_at,
                        claimed=fresh.claimed,
                        claimed_at=fresh.claimed_at,
                        farewell=fresh.farewell,
                        words=state.words | fresh.words,
                    )
                ]
            )

    what = "conversations are put into the inbox's lists, and found by their words"
    return MigrationStep("conversation-lists", what, conversations.left, some)
