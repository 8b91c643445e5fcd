"""Conversations that are followed: the log up to a sequence without reading it, and nothing at all after a gap."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from agent.adapters.followed import MAX_CONVERSATIONS, MAX_FACTS, FollowedConversations
from agent.ports import ConversationKey
from contracts.channels import ChatKind, chat
from contracts.conversation import Fact, Snapshot, snapshot_of
from runtime.bus.direct import StoredFact
from runtime.recent import DEFAULT_TTL_SECONDS

NEW, OLD = (f"{seconds * 1000:012x}{0:020x}_{0:022x}" for seconds in (990, 500))
"""Conversations begun some seconds before the first fact of a feed, and long before."""
HERE, THERE = ConversationKey("acme", "c1"), ConversationKey("acme", "c2")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Feed:
    """The log and its live copy."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.followed = FollowedConversations(self.clock)
        self.seq = 1_000
        self.last: dict[ConversationKey, dict[ChatKind, Fact]] = {}

    def fact(self, key: ConversationKey, kind: ChatKind, *, heard: bool = True, fits: bool = True, **data: Any) -> int:
        self.seq += 1
        event = {"data": data}
        stored = StoredFact(self.seq, chat(*key, kind), orjson.dumps(event), "2026-01-01T00:00:00Z")
        fact = Fact.of(kind, self.seq, event, float(self.seq)) if fits else None
        if fact is not None:
            self.last.setdefault(key, {})[kind] = fact
        if heard:
            self.followed.note_sequence(self.seq)
            if self.followed.needs(key, kind):
                self.followed.take(key, stored, fact)
        return self.seq

    def read(self, key: ConversationKey) -> None:
        """The log is read, and what follows it told."""
        view = snapshot_of(self.last[key].values())
        if view.unanswered:
            view = replace(view, first_unanswered=view.newest_visitor, first_unanswered_at=view.newest_visitor_at)
        self.followed.store_snapshot(key, view)

    async def told(self, key: ConversationKey, at_least: int = 0) -> Snapshot | None:
        return await self.followed.snapshot(key, at_least)


@pytest.fixture
def feed() -> Feed:
    return Feed()


async def test_what_was_read_once_is_known_from_then_on(feed: Feed) -> None:
    first = feed.fact(HERE, ChatKind.VISITOR)
    assert await feed.told(HERE) is None
    feed.read(HERE)
    answer = feed.fact(HERE, ChatKind.ASSISTANT, basis=first, turnId="t1")
    feed.fact(THERE, ChatKind.VISITOR)
    second = feed.fact(HERE, ChatKind.VISITOR)
    third = feed.fact(HERE, ChatKind.VISITOR)
    told = await feed.told(HERE, third)
    assert told is not None
    assert told == replace(
        snapshot_of(feed.last[HERE].values()), first_unanswered=second, first_unanswered_at=float(second)
    )
    assert (told.seq, told.last[ChatKind.ASSISTANT].seq) == (third, answer)
    assert [one.seq for one in feed.followed.facts(HERE, first - 1, second) or ()] == [first, answer, second]
    assert feed.followed.facts(HERE, first - 2, second) is None
    assert feed.followed.facts(HERE, first, third + 1) is None


async def test_a_fact_that_was_not_heard_makes_all_be_forgotten(feed: Feed) -> None:
    feed.fact(HERE, ChatKind.VISITOR)
    feed.read(HERE)
    feed.fact(HERE, ChatKind.OWNER, heard=False, owner={"kind": "human"})
    assert (await feed.told(HERE)) is not None  # nothing shows yet; the fence does
    feed.fact(THERE, ChatKind.VISITOR)
    assert await feed.told(HERE) is None
    assert feed.followed.facts(HERE, 0, feed.seq) is None
    assert feed.followed.last_ended_turn(HERE) is None


async def test_what_is_newer_than_the_feed_is_waited_for_a_moment_and_then_read(feed: Feed) -> None:
    seq = feed.fact(HERE, ChatKind.VISITOR)
    feed.read(HERE)
    assert await feed.told(HERE, seq + 1) is None
    assert await feed.told(HERE, seq) is not None


async def test_a_read_that_is_older_than_what_was_heard_is_made_up_to_it(feed: Feed) -> None:
    feed.fact(HERE, ChatKind.VISITOR)
    old = {HERE: dict(feed.last[HERE])}
    second = feed.fact(HERE, ChatKind.VISITOR)
    feed.fact(HERE, ChatKind.OWNER, owner={"kind": "human"})
    feed.last, newest = old, feed.last
    feed.read(HERE)
    told = await feed.told(HERE)
    assert told is not None
    assert told.last == newest[HERE]
    assert told.newest_visitor == second


async def test_a_read_that_began_before_it_was_listened_to_is_not_trusted(feed: Feed) -> None:
    feed.fact(HERE, ChatKind.VISITOR, heard=False)
    view = snapshot_of(feed.last[HERE].values())
    feed.fact(HERE, ChatKind.VISITOR)
    feed.followed.store_snapshot(HERE, view)
    assert await feed.told(HERE) is None


@pytest.mark.parametrize(("conversation", "whole"), [(NEW, True), (OLD, False), ("c1", False)])
async def test_a_new_conversation_whose_first_message_was_heard_is_known_whole(
    feed: Feed, conversation: str, whole: bool
) -> None:
    here = ConversationKey("acme", conversation)
    first = feed.fact(here, ChatKind.VISITOR)
    assert feed.followed.may_begin_with(here, first) is whole
    assert feed.followed.facts(here, 0, first) is None
    feed.read(here)
    assert not feed.followed.may_begin_with(here, first)
    answer = feed.fact(here, ChatKind.ASSISTANT, basis=first, turnId="t1")
    known = feed.followed.facts(here, 0, answer)
    assert (known and [one.seq for one in known]) == ([first, answer] if whole else None)
    for _ in range(MAX_FACTS):
        feed.fact(here, ChatKind.VISITOR)
    assert feed.followed.facts(here, 0, feed.seq) is None


@pytest.mark.parametrize("kind", [ChatKind.VISITOR, ChatKind.OPERATOR])
async def test_a_conversation_that_held_something_before_is_not_known_whole(feed: Feed, kind: ChatKind) -> None:
    here = ConversationKey("acme", NEW)
    before = feed.fact(here, kind, heard=False)
    feed.followed.note_sequence(before)
    first = feed.fact(here, ChatKind.VISITOR)
    view = snapshot_of(feed.last[here].values())
    waits = before if kind is ChatKind.VISITOR else first
    feed.followed.store_snapshot(here, replace(view, first_unanswered=waits, first_unanswered_at=float(waits)))
    assert feed.followed.facts(here, 0, first) is None


async def test_a_misfit_counts_for_the_fence_and_for_nothing_else(feed: Feed) -> None:
    first = feed.fact(HERE, ChatKind.VISITOR)
    feed.read(HERE)
    misfit = feed.fact(HERE, ChatKind.ASSISTANT, fits=False)
    told = await feed.told(HERE)
    assert told is not None
    assert (told.seq, list(told.last), told.first_unanswered) == (misfit, [ChatKind.VISITOR], first)


async def test_the_last_turn_is_known_while_nobody_else_can_have_driven_one(feed: Feed) -> None:
    first = feed.fact(HERE, ChatKind.VISITOR)
    feed.read(HERE)
    assert feed.followed.last_ended_turn(HERE) is None
    feed.fact(HERE, ChatKind.ASSISTANT, basis=first, turnId="t1")
    assert feed.followed.last_ended_turn(HERE) == "t1"
    feed.fact(HERE, ChatKind.VISITOR)
    assert feed.followed.last_ended_turn(HERE) == "t1"
    feed.fact(HERE, ChatKind.VISITOR)
    assert feed.followed.last_ended_turn(HERE) is None


async def test_what_is_kept_is_bounded(feed: Feed) -> None:
    feed.fact(HERE, ChatKind.VISITOR)
    feed.read(HERE)
    for _ in range(2 * MAX_FACTS):
        feed.fact(HERE, ChatKind.OWNER, owner={"kind": "ai"})
    assert len(feed.followed.facts(HERE, feed.seq - MAX_FACTS, feed.seq) or ()) == MAX_FACTS
    assert feed.followed.facts(HERE, feed.seq - MAX_FACTS - 1, feed.seq) is None
    feed.clock.now += DEFAULT_TTL_SECONDS + 1
    feed.fact(ConversationKey("acme", "other"), ChatKind.VISITOR)
    assert feed.followed.facts(HERE, feed.seq - MAX_FACTS, feed.seq) is None
    assert await feed.told(HERE) is None
    feed.fact(HERE, ChatKind.VISITOR)
    feed.read(HERE)
    for number in range(MAX_CONVERSATIONS):
        feed.fact(ConversationKey("acme", f"other-{number}"), ChatKind.VISITOR)
    assert await feed.told(HERE) is None
