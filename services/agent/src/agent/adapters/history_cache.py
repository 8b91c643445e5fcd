"""Caches the histories that this agent has read. An entry stays valid up to its sequence, because the log never changes
below it.

For a later sequence the newer facts of the log are added. Losing an entry only costs a request to memory, so the
entries are few and short-lived, and a deleted conversation does not stay here.
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

PROMPT_MESSAGES = 20
"""Messages of the conversation in the prompt (the fifth layer)."""
MAX_WINDOWS = 4_096
MAX_CHARS = 16 * 1024 * 1024
_IS_ASSISTANTS = {Role.ASSISTANT: True, Role.OPERATOR: True, Role.VISITOR: False, Role.USER: False}
_IS_ASSISTANTS_BY_KIND = {ChatKind.VISITOR: False, ChatKind.ASSISTANT: True, ChatKind.OPERATOR: True}


@dataclass(frozen=True, slots=True)
class HistoryWindow:
    """The history up to the sequence `up_to`. `ids`: its messages' ids, by which late copies are recognised."""

    up_to: int
    history: PromptHistory
    ids: tuple[str, ...] = ()

    def extended(self, facts: Iterable[Fact], up_to: int) -> "HistoryWindow":
        """Returns the window extended by the facts of (self.up_to, up_to], which come in order."""
        messages, ids = list(self.history.messages), list(self.ids)
        history = self.history
        for fact in facts:
            is_assistants = _IS_ASSISTANTS_BY_KIND.get(fact.kind)
            message_id = fact.data.get("messageId")
            if is_assistants is None or message_id in ids:
                continue
            messages.append(PromptMessage(is_assistants, str(fact.data["text"]), fact.seq, _files(fact.data)))
            ids.append(str(message_id))
            if not is_assistants:
                history = _with_visitor_data(history, fact.data)
        history = replace(history, messages=tuple(messages[-PROMPT_MESSAGES:]))
        return HistoryWindow(up_to, history, tuple(ids[-PROMPT_MESSAGES:]))


EMPTY_WINDOW = HistoryWindow(0, PromptHistory(()))


def window_of(reply: HistoryReply, up_to: int) -> HistoryWindow:
    """Returns memory's answer as a window."""
    messages = [message for message in reply.messages if message.role in _IS_ASSISTANTS]
    visitor = reply.visitor
    history = PromptHistory(
        messages=tuple(
            PromptMessage(_IS_ASSISTANTS[message.role], message.text, message.seq, tuple(message.files or ()))
            for message in messages
        ),
        visits=visitor.visits,
        page_url=visitor.page.url if visitor.page else None,
        page_title=visitor.page.title if visitor.page else None,
        funnel_stage=visitor.funnel_stage,
    )
    return HistoryWindow(up_to, history, tuple(message.id for message in messages))


def recent_windows(clock: Callable[[], float] = time.monotonic) -> Recent[ConversationKey, HistoryWindow]:
    return Recent(MAX_WINDOWS, max_size=MAX_CHARS, size=_characters, clock=clock)


def _characters(window: HistoryWindow) -> int:
    return sum([len(message.text) for message in window.history.messages])


def _files(data: Mapping[str, Any]) -> tuple[FileRef, ...]:
    try:
        return tuple(FileRef.model_validate(file) for file in data.get("files") or ())
    except (TypeError, ValueError):
        return ()  # another publisher's files, which nobody could read


def _with_visitor_data(history: PromptHistory, data: Mapping[str, Any]) -> PromptHistory:
    """Returns the history with what a visitor's message says about the visitor."""
    page, stage = data.get("page"), data.get("funnelStage")
    if isinstance(page, dict):
        page_data = cast("Mapping[str, Any]", page)
        history = replace(history, page_url=page_data.get("url"), page_title=page_data.get("title"))
    return replace(history, funnel_stage=stage) if isinstance(stage, str) else history
