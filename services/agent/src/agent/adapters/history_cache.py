"""Caches what this agent has read of conversations. An entry is valid for ever up to its sequence, because the log
never changes below it.

A reader who needs a later sequence adds the newer facts of the log. Losing an entry only costs a request to memory, so
the entries are few, bounded and short-lived, and a deleted conversation does not stay here.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from agent.domain.context.compression import PromptMessage
from agent.ports import ConversationKey, PromptHistory
from contracts.channels import ChatKind
from contracts.conversation import Fact
from contracts.conversation_rpc import HistoryReply
from contracts.events.chat import Role
from contracts.files import FileRef
from runtime.recent import Recent

MESSAGES = 20
"""The number of messages in the prompt's fifth layer."""
KEPT_WINDOWS = 4_096
KEPT_CHARACTERS = 16 * 1024 * 1024
_MINE = {Role.ASSISTANT: True, Role.OPERATOR: True, Role.VISITOR: False, Role.USER: False}
_SPOKEN = {ChatKind.VISITOR: False, ChatKind.ASSISTANT: True, ChatKind.OPERATOR: True}


@dataclass(frozen=True, slots=True)
class HistoryWindow:
    """The history up to a sequence; `ids` are its messages', so that a late copy of one is not said twice."""

    up_to: int
    history: PromptHistory
    ids: tuple[str, ...] = ()

    def extended(self, facts: Iterable[Fact], up_to: int) -> "HistoryWindow":
        """The window with every fact of (self.up_to, up_to], in order."""
        messages, ids = list(self.history.messages), list(self.ids)
        history = self.history
        for fact in facts:
            mine = _SPOKEN.get(fact.kind)
            name = fact.data.get("messageId")
            if mine is None or name in ids:
                continue
            messages.append(PromptMessage(mine, str(fact.data["text"]), fact.seq, _files(fact.data)))
            ids.append(str(name))
            if not mine:
                history = _told(history, fact.data)
        history = replace(history, messages=tuple(messages[-MESSAGES:]))
        return HistoryWindow(up_to, history, tuple(ids[-MESSAGES:]))


NOTHING = HistoryWindow(0, PromptHistory(()))


def answered(reply: HistoryReply, up_to: int) -> HistoryWindow:
    """Memory's answer as a window."""
    heard = [message for message in reply.messages if message.role in _MINE]
    visitor = reply.visitor
    history = PromptHistory(
        messages=tuple(PromptMessage(_MINE[one.role], one.text, one.seq, tuple(one.files or ())) for one in heard),
        visits=visitor.visits,
        page_url=visitor.page.url if visitor.page else None,
        page_title=visitor.page.title if visitor.page else None,
        funnel_stage=visitor.funnel_stage,
    )
    return HistoryWindow(up_to, history, tuple(message.id for message in heard))


def recent_windows(clock: Callable[[], float] = time.monotonic) -> Recent[ConversationKey, HistoryWindow]:
    return Recent(KEPT_WINDOWS, largest=KEPT_CHARACTERS, size=_characters, clock=clock)


def _characters(window: HistoryWindow) -> int:
    return sum([len(message.text) for message in window.history.messages])


def _files(data: Mapping[str, Any]) -> tuple[FileRef, ...]:
    try:
        return tuple(FileRef.model_validate(one) for one in data.get("files") or ())
    except (TypeError, ValueError):
        return ()  # of another publisher: nobody could read them


def _told(history: PromptHistory, data: Mapping[str, Any]) -> PromptHistory:
    """Adds to the history what a visitor's message says about the visitor."""
    page, stage = data.get("page"), data.get("funnelStage")
    if isinstance(page, dict):
        seen = cast("Mapping[str, Any]", page)
        history = replace(history, page_url=seen.get("url"), page_title=seen.get("title"))
    return replace(history, funnel_stage=stage) if isinstance(stage, str) else history
