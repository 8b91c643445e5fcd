from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.adapters.chat_log import JetStreamChatLog
from agent.adapters.followed import FollowedConversations
from agent.ports import ConversationKey
from contracts.channels import ChatKind
from contracts.conversation import Fact, snapshot_of
from contracts.ids import uuid7

ORDER = "Paper order prepared: Buy 2 MSFT at market. Nothing is placed without your yes."


def said(kind: ChatKind, seq: int, **data: Any) -> Fact:
    event = {"specversion": "1.0", "id": uuid7(), "source": "/test", "type": kind.event_type, "data": data}
    return Fact.of(kind, seq, event)


@pytest.mark.parametrize(
    ("answer", "text", "language"),
    [
        (ORDER, "no", "en"),
        ("Orden simulada preparada. No se envía nada sin tu sí.", "no", "es"),
        (ORDER, "mejor compra 3 AAPL", "es"),
        ("AAPL 3", "no", "es"),
        (None, "no", "es"),
    ],
)
async def test_a_word_without_a_language_is_in_that_of_the_answer_before_it(
    answer: str | None, text: str, language: str
) -> None:
    message = {"messageId": uuid7(), "clientMessageId": uuid7(), "text": text, "locale": "es"}
    facts = [said(ChatKind.VISITOR, 3, **message)]
    if answer is not None:
        facts.append(said(ChatKind.ASSISTANT, 2, text=answer, basis=1))

    async def snapshot(key: ConversationKey, at_least: int) -> object:
        return snapshot_of(facts, 3)

    followed = cast("FollowedConversations", SimpleNamespace(snapshot=snapshot))
    unused: Any = None
    log = JetStreamChatLog(unused, unused, unused, followed)
    assert (await log.look(ConversationKey("acme", "c1"), 3)).requester.language == language
