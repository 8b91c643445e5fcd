"""What memory keeps of conversations is counted when they have gone: only those of the last minutes are there."""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from contracts.channels import ChatKind
from contracts.events.chat import VisitorMessage
from memory.adapters.cached_windows import CachedWindows
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.signed_principals import PrincipalCheck
from memory.application.projection import Projection
from memory.domain.conversation import InboxConversation
from memory.domain.facts import LogFact
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.recent import UNSEEN, RecentMessages
from runtime.recent import DEFAULT_TTL_SECONDS
from runtime.testing.clock import FakeClock

MANY = 100


class Stores:
    """They take everything, and know nothing."""

    async def add(self, facts: Sequence[LogFact]) -> set[LogPosition]:
        return set()

    async def load(self, keys: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], InboxConversation]:
        return {}

    async def save(self, states: Sequence[InboxConversation]) -> Sequence[InboxConversation]:
        return [replace(state, version=state.version + 1) for state in states]

    async def position(self) -> LogPosition:
        return BEGINNING

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        return None

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None:
        pass  # it is kept by what stands before it


def fact(seq: int) -> LogFact:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = VisitorMessage(message_id=f"m{seq}", client_message_id=f"m{seq}", text="hola")
    return LogFact("acme", f"c{seq}", ChatKind.VISITOR, LogPosition(1, seq), f"e{seq}", at, at, said, b"")


def there(kind: type[object]) -> int:
    gc.collect()
    return sum(type(object) is kind for object in gc.get_objects())


async def test_conversations_that_have_gone_are_not_kept() -> None:
    clock, stores = FakeClock(), Stores()
    projection = Projection(
        facts=cast("MongoFacts", stores),
        conversations=cast("MongoConversations", stores),
        settled=stores.position,
        principals=cast("PrincipalCheck", None),
        clock=clock.monotonic,
    )
    windows = CachedWindows(stores, clock.monotonic)
    states, read = there(InboxConversation), there(RecentMessages)
    for seq in range(1, MANY + 1):
        await projection.project([fact(seq)])
        windows.keep(1, "acme", f"c{seq}", RecentMessages(seq, (), is_complete=True, visitor_traits=UNSEEN))
        await clock.advance(DEFAULT_TTL_SECONDS / 10)
    assert (there(InboxConversation) - states, there(RecentMessages) - read) == (11, 11)
