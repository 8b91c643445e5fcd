"""How a company names the facts that it wants to be told of."""

import pytest

from contracts.company import Webhook
from contracts.events.registry import EVENTS
from contracts.webhooks import WEBHOOK_EVENTS, checked_name, is_subscribed

NOT_TOLD: tuple[str, ...] = (
    "tools.announced.v1",
    "tools.withdrawn.v1",
    "turns.recorded.v1",
    "note.added.v1",
    "knowledge.document.upserted.v1",
    "knowledge.document.removed.v1",
    "knowledge.document.failed.v1",
    "knowledge.run.progressed.v1",
    "knowledge.changed.v1",
)
"""Internal event types of the streams CHAT and FACTS."""


def test_every_durable_fact_is_told_or_kept_back_on_purpose() -> None:
    durable = {event.type for event in EVENTS if event.stream in ("CHAT", "FACTS")}
    assert durable <= {*WEBHOOK_EVENTS, *NOT_TOLD}
    assert not {*WEBHOOK_EVENTS} & {*NOT_TOLD}


@pytest.mark.parametrize(
    "name",
    ["*", "MessageSent", "chat.message.visitor.v1", "message.visitor.v1", "chat.message.visitor", "message.visitor",
     "message.*", "chat.*"],
)  # fmt: skip
def test_a_visitors_message_has_many_names(name: str) -> None:
    assert checked_name(name) == name
    assert is_subscribed([name], "chat.message.visitor.v1")
    assert is_subscribed(["turn.failed", name], "chat.message.visitor.v1")


def test_no_name_means_all_and_a_name_means_no_other() -> None:
    assert all(is_subscribed([], event) for event in WEBHOOK_EVENTS)
    assert [event for event in WEBHOOK_EVENTS if is_subscribed(["turn.failed"], event)] == ["turn.failed.v1"]
    assert not is_subscribed(["MessageSent"], "chat.owner.changed.v1")
    assert not any(is_subscribed(["*"], event) for event in (*NOT_TOLD, "turn.journal.v1"))


@pytest.mark.parametrize("name", ["", "message", "messages.*", "tools.announced", "turn.journal", "message.visitor.v2"])
def test_a_name_that_means_nothing_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(ValueError, match=r"message\.visitor"):
        checked_name(name)


@pytest.mark.parametrize(
    "url",
    ["http://example.com/hook", "https://", "https://me:secret@example.com/", "https://example.com/#part",
     "https://example.com/a b", "https://exämple.com/", "ftp://example.com"],
)  # fmt: skip
def test_an_endpoint_is_an_https_address(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        Webhook(url=url, secret="12345678")


def test_an_endpoint_on_this_machine_may_be_http() -> None:
    assert Webhook(url="http://127.0.0.1:8000/hook", secret="12345678").events == []
