"""What is recorded of a turn keeps the names that it has had: records live longer than a release."""

import json
from typing import Any

from agent.domain.shortcuts.shown_actions import ShownAction
from agent.ports import ConversationKey, PromptHistory, Requester, TurnSnapshot
from agent.record.turn import PROVEN, Inputs, inputs_from_json, inputs_to_json
from contracts.channels import ChatKind
from contracts.conversation import Fact, snapshot_of
from contracts.events.chat import OwnerKind

FACTS = (
    Fact(ChatKind.ASSISTANT, 3, 9.0, basis=2),
    Fact(ChatKind.OWNER, 4, 10.0, owner=OwnerKind.AI, event={"data": {"owner": {"kind": "ai"}}}),
    Fact(ChatKind.VISITOR, 5, 11.5, event={"data": {"text": "buy two AAPL"}}),
)
ASKER = Requester(principal="a.signed.proof", role="user", plan="pro", user="ann", language="en")
INPUTS = Inputs(
    TurnSnapshot(snapshot_of(FACTS), ASKER, "buy two AAPL", (ShownAction("a1", "buy", "hash"),)), PromptHistory(())
)
RECORDED: dict[str, Any] = {
    "seen": {
        "view": {
            "n": 5,
            "newest_visitor": 5,
            "newest_visitor_at": 11.5,
            "basis": 2,
            "owner": "ai",
            "first_unanswered_at": None,
            "owner_since": 4,
            "first_unanswered": 0,
        },
        "asker": {
            "principal": PROVEN,
            "role": "user",
            "plan": "pro",
            "user": "ann",
            "language": "en",
            "page_url": None,
            "page_title": None,
            "funnel_stage": None,
            "prompt": None,
        },
        "fence_filter": "chat.acme.c1.>",
        "text": "buy two AAPL",
        "asked": [{"id": "a1", "summary": "buy", "content_hash": "hash", "symbol": ""}],
    },
    "history": {"messages": [], "visits": 1, "page_url": None, "page_title": None, "funnel_stage": None},
    "context": None,
}


def test_a_record_is_written_as_records_have_been_to_the_letter() -> None:
    written = inputs_to_json(INPUTS, ConversationKey("acme", "c1"))
    assert written.decode() == json.dumps(RECORDED, separators=(",", ":"))


def test_what_was_recorded_is_read_as_it_was() -> None:
    read = inputs_from_json(RECORDED)
    assert read.seen.view == INPUTS.seen.view
    assert (read.seen.text, read.seen.asked, read.history) == (INPUTS.seen.text, INPUTS.seen.asked, INPUTS.history)


def test_a_record_from_before_the_first_unanswered_message_was_kept_is_read_too() -> None:
    view = {name: value for name, value in RECORDED["seen"]["view"].items() if name != "first_unanswered"}
    assert inputs_from_json({**RECORDED, "seen": {**RECORDED["seen"], "view": view}}).seen.view == INPUTS.seen.view
