"""Migrates conversations stored by an earlier release: adds the fields by which this release lists and finds them,
computed from their facts."""

from dataclasses import replace

from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.domain.conversation import InboxConversation, fold
from memory.domain.keys import BEGINNING
from memory.migrations import MigrationStep

BATCH = 50
"""Conversations migrated at a time."""
MAX_FACTS = 5_000
"""The oldest facts of one conversation that are read: more than the search fields can hold."""


def lists_step(conversations: MongoConversations, facts: MongoFacts) -> MigrationStep:

    async def migrate_batch() -> None:
        for state in await conversations.older(BATCH):
            stored = await facts.after(state.company, state.conversation, BEGINNING, state.latest, MAX_FACTS)
            refolded = fold(InboxConversation(state.company, state.conversation), stored, BEGINNING, {})
            # Fields that the older release knows stay as they are. If saving is refused, the conversation was changed
            # meanwhile, and is migrated by that change or by the next batch.
            await conversations.save(
                [
                    replace(
                        state,
                        visitor_message_at=refolded.visitor_message_at,
                        last_message_at=refolded.last_message_at,
                        claimed=refolded.claimed,
                        claimed_at=refolded.claimed_at,
                        farewell=refolded.farewell,
                        words=state.words | refolded.words,
                    )
                ]
            )

    description = "conversations are put into the inbox's lists, and found by their words"
    return MigrationStep("conversation-lists", description, conversations.count_older, migrate_batch)
