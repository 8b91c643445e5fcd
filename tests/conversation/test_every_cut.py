"""Whoever opens a conversation sees what somebody sees who was there all the time, wherever the cut lies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from hypothesis import example, given, settings

from contracts.channels import ChatAddress
from contracts.conversation import Fact, snapshot_of
from gateway.chat.hub import EpochSnapshot
from gateway.domain import server_frames
from memory.application.inbox import conversation_view
from memory.domain.conversation import InboxConversation, Person, fold
from memory.domain.facts import LogFact as ProjectedFact
from memory.domain.facts import decode, view
from memory.domain.keys import LogPosition
from tests.conversation.logs import ADDRESS, EVERY_KIND, LOGS, at, log_of

Log = Sequence[tuple[ChatAddress, int, bytes]]
NOWHERE = LogPosition(1, 0)
EVERYTHING = log_of(EVERY_KIND)


def facts_of(log: Log) -> list[Fact]:
    """The log as the gateway and the agent read it."""
    return [Fact.of(address.kind, seq, orjson.loads(raw), at(seq).timestamp()) for address, seq, raw in log]


def projected(log: Log) -> list[ProjectedFact]:
    """The log as memory reads it."""
    return [decode(address, LogPosition(1, seq), at(seq), raw) for address, seq, raw in log]


@dataclass
class Client:
    """What a client of the websocket shows."""

    messages: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    owner: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def takes(self, frame: bytes) -> None:
        """One frame, as the contract of the websocket says."""
        told = orjson.loads(frame)
        match told["type"]:
            case "welcome" | "owner.changed":
                self.owner = told["owner"]
            case "snapshot":
                self.messages = {message["id"]: message for message in told["messages"]}
            case "message.created":
                self.messages[told["message"]["id"]] = told["message"]
            case "run.cancelled":
                pass
            case other:
                raise AssertionError(other)


def opened(log: Log) -> Client:
    """A client that opens the conversation now: memory tells the messages, the log's snapshot the owner."""
    now = snapshot_of(facts_of(log))
    messages = [message.to_wire() for fact in projected(log) if (message := view(fact)) is not None]
    client = Client()
    client.takes(
        server_frames.welcome(
            ADDRESS[1],
            epoch="e",
            seq=now.seq,
            recovered=True,
            heartbeat_ms=1,
            owner=now.owner_data,
            active_turn=None,
        )
    )
    client.takes(server_frames.snapshot(ADDRESS[1], messages=messages, epoch="e", seq=now.seq))
    return client


@settings(deadline=None)
@given(LOGS)
@example(EVERYTHING)
def test_a_websocket_that_stays_shows_what_a_new_one_shows(log: Log) -> None:
    fresh = opened(log)
    for cut in range(len(log) + 1):
        client = opened(log[:cut])
        for fact in facts_of(log[cut:]):
            frame = server_frames.fact_frame(ADDRESS[1], fact)
            assert frame is not None
            client.takes(frame)
        assert client == fresh


def state_of(facts: Sequence[ProjectedFact], state: InboxConversation | None = None) -> InboxConversation:
    """The projection's state after these facts."""
    verified = {fact.event_id: Person(f"person-{fact.seq}", "visitor") for fact in facts}
    return fold(state or InboxConversation(*ADDRESS), facts, NOWHERE, verified)


@settings(deadline=None)
@given(LOGS)
@example(EVERYTHING)
def test_the_projection_and_the_inbox_are_the_same_however_the_log_was_read(log: Log) -> None:
    facts = projected(log)
    fresh = state_of(facts)
    for cut in range(len(log) + 1):
        state = state_of(facts[cut:], state_of(facts[:cut]))
        assert state == fresh
        if facts:
            assert conversation_view(state) == conversation_view(fresh)


@settings(deadline=None)
@given(LOGS)
@example(EVERYTHING)
def test_a_snapshot_and_the_facts_after_it_are_the_snapshot_of_all(log: Log) -> None:
    facts = facts_of(log)
    fresh = snapshot_of(facts)
    for cut in range(len(log) + 1):
        before = snapshot_of(facts[:cut])
        later = snapshot_of([*before.last.values(), *facts[cut:]], before.seq)
        assert (later, dict(later.last)) == (fresh, dict(fresh.last))


@settings(deadline=None)
@given(LOGS)
@example(EVERYTHING)
def test_the_projection_says_what_the_snapshot_says(log: Log) -> None:
    now, state = snapshot_of(facts_of(log)), state_of(projected(log))
    assert state.ownership.owner.kind is now.owner
    assert state.ownership.position.seq == now.owner_seq
    assert state.visitor_traits_position.seq == now.newest_visitor
    assert state.replied.seq == now.replied
    assert state.latest.seq == now.seq


@settings(deadline=None)
@given(LOGS)
@example(EVERYTHING)
def test_how_a_conversation_stands_is_kept_true_by_what_comes(log: Log) -> None:
    facts = facts_of(log)
    for cut in range(len(facts) + 1):
        standing = EpochSnapshot(snapshot_of(facts[:cut]), "e")
        for fact in facts[max(cut - 1, 0) :]:  # one of them comes again
            standing = standing.with_facts([fact])
        assert standing.snapshot == snapshot_of(facts)
