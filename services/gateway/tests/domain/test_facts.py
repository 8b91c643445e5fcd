from typing import Any

import orjson
import pytest

from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, message_view, snapshot_of
from gateway.domain import server_frames

TIME = "2026-01-02T03:04:05.678Z"


def fact(kind: ChatKind, seq: int, **data: Any) -> Fact:
    return Fact.of(kind, seq, {"id": "e", "time": TIME, "data": data})


def test_a_message_is_told_without_what_the_log_keeps_beside_it() -> None:
    told = fact(
        ChatKind.VISITOR,
        3,
        messageId="m",
        clientMessageId="k",
        text="hi",
        principal="secret.jws",
        role="user",
        locale="es",
        page={"url": "https://a/"},
    )
    assert message_view(told) == {
        "id": "m",
        "seq": 3,
        "role": "user",
        "text": "hi",
        "citations": [],
        "actions": [],
        "charts": [],
        "clientMessageId": "k",
        "createdAt": TIME,
    }


@pytest.mark.parametrize(
    ("kind", "role"),
    [(ChatKind.ASSISTANT, "assistant"), (ChatKind.OPERATOR, "operator"), (ChatKind.SYSTEM, "system")],
)
def test_the_author_is_the_subject_whatever_the_data_says(kind: ChatKind, role: str) -> None:
    view = message_view(fact(kind, 1, messageId="m", text="t", role="visitor"))
    assert view is not None
    assert view["role"] == role


@pytest.mark.parametrize("data", [{}, {"text": "no id"}, {"messageId": "m", "text": 7}])
def test_a_malformed_message_is_told_to_nobody(data: dict[str, Any]) -> None:
    assert server_frames.fact_frame("c", fact(ChatKind.VISITOR, 1, **data)) is None
    assert server_frames.fact_frame("c", Fact.of(ChatKind.OWNER, 1, {"data": "no object"})) is None


def test_every_durable_fact_tells_its_sequence() -> None:
    owner = server_frames.fact_frame("c", fact(ChatKind.OWNER, 7, owner={"kind": "waiting"}))
    cancel = server_frames.fact_frame("c", fact(ChatKind.CANCEL, 8, turnId="t", reason="user"))
    assert owner is not None
    assert cancel is not None
    assert orjson.loads(owner) == {
        "v": 1,
        "type": "owner.changed",
        "conversationId": "c",
        "owner": {"kind": "waiting"},
        "seq": 7,
        "createdAt": "2026-01-02T03:04:05.678Z",
    }
    assert orjson.loads(cancel) == {
        "v": 1,
        "type": "run.cancelled",
        "conversationId": "c",
        "turnId": "t",
        "reason": "user",
        "createdAt": "2026-01-02T03:04:05.678Z",
        "seq": 8,
    }


def test_a_snapshot_settles_by_basis_and_by_the_operators_own_place() -> None:
    facts = [
        fact(ChatKind.VISITOR, 10, text="?"),
        fact(ChatKind.ASSISTANT, 12, basis=4),
        fact(ChatKind.SYSTEM, 13, basis=6),
        fact(ChatKind.CANCEL, 14, basis=5),
    ]
    snapshot = snapshot_of(facts)
    assert snapshot.basis == 6
    assert snapshot.unanswered
    facts.append(fact(ChatKind.OPERATOR, 15, text="I am here"))
    assert not snapshot_of(facts).unanswered


def test_nobody_named_is_the_ai() -> None:
    assert Snapshot().owner_data == {"kind": "ai"}
    assert Snapshot().owner_seq == 0
