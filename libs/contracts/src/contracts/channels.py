"""Subjects: every address on the bus is built and parsed here. Every id is checked first."""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from contracts.ids import NOBODY, check_company, check_id


class ChatKind(StrEnum):
    """The kinds of facts in a conversation's log; the value is the end of the subject."""

    VISITOR = "message.visitor.v1"
    ASSISTANT = "message.assistant.v1"
    OPERATOR = "message.operator.v1"
    SYSTEM = "message.system.v1"
    OWNER = "owner.changed.v1"
    CANCEL = "run.cancelled.v1"

    @property
    def short(self) -> str:
        """The kind's short name in a Nats-Msg-Id and in derived ids."""
        return _SHORT[self]

    @property
    def event_type(self) -> str:
        """The CloudEvents type, e.g. chat.message.visitor.v1."""
        return f"chat.{self}"


_SHORT = {
    ChatKind.VISITOR: "visitor",
    ChatKind.ASSISTANT: "assistant",
    ChatKind.OPERATOR: "operator",
    ChatKind.SYSTEM: "system",
    ChatKind.OWNER: "owner",
    ChatKind.CANCEL: "cancel",
}
MESSAGE_KINDS = (ChatKind.VISITOR, ChatKind.ASSISTANT, ChatKind.OPERATOR, ChatKind.SYSTEM)


class LiveTurnKind(StrEnum):
    """Kinds of live signs of a running turn, for gateways that have its conversation open; they may be lost and are
    never stored."""

    RUN_STARTED = "run.started"
    TOOL_STARTED = "tool.started"
    TOOL_FINISHED = "tool.finished"
    MESSAGE_DELTA = "message.delta"
    RUN_FINISHED = "run.finished"
    RUN_ERROR = "run.error"
    RUN_CANCELLED = "run.cancelled"


class PresenceKind(StrEnum):
    """Frequent signals between people (typing, read receipts), which are not stored in the log."""

    TYPING = "typing"
    RECEIPT = "receipt"


CHAT_ALL = "chat.>"
LIVE_CHAT_ALL = "live.chat.>"
TURN_TRIGGERS = (f"chat.*.*.{ChatKind.VISITOR}", f"chat.*.*.{ChatKind.OWNER}")
"""The CHAT facts that start turns: visitor messages, and changes of owner, by which conversations are given back to the
AI."""
ANALYSIS_REQUESTS = "analysis.requested.v1.*.*"
TOOL_REQUESTS = "tools.call.requested.v1.*"
MARKET_CLOCK = "live.market.clock.v1"
"""Replicas of the market-adapter notify each other here that the sample market's clock has moved. The message is
empty."""
TRACE_PARTS = "traces.recorded.v1.>"
TRACES_WANTED = "live.traces.wanted.v1"
"""Asks services to send the spans that they have gathered, because somebody wants to read traces now. The message is
empty."""
WEBHOOK_DELIVERIES = "webhooks.delivery.v1.*.*"


def chat(company: str, conversation: str, kind: ChatKind) -> str:
    """Returns the subject for one kind of fact of a conversation."""
    return f"chat.{check_company(company)}.{check_id(conversation, 'conversation')}.{kind}"


def conversation_tree(company: str, conversation: str) -> str:
    """Returns the filter for all facts of a conversation. Fences use exactly this filter."""
    return f"chat.{check_company(company)}.{check_id(conversation, 'conversation')}.>"


def chat_msg_id(company: str, conversation: str, kind: ChatKind, identity: str) -> str:
    """Returns the Nats-Msg-Id of a chat fact. Deduplication is stream-wide, so the conversation is part of it."""
    return f"{company}.{conversation}.{kind.short}.{identity}"


@dataclass(frozen=True, slots=True)
class ChatAddress:
    """The parts of a CHAT subject (or of its live copy)."""

    company: str
    conversation: str
    kind: ChatKind


@lru_cache(4096)
def parse_chat(subject: str) -> ChatAddress | None:
    """Parses ``[live.]chat.<company>.<conversation>.<kind>``; returns None for any other subject."""
    parts = subject.removeprefix("live.").split(".", 3)
    if len(parts) != 4 or parts[0] != "chat":
        return None
    try:
        return ChatAddress(check_company(parts[1]), check_id(parts[2]), ChatKind(parts[3]))
    except ValueError:
        return None


def journal(company: str, conversation: str) -> str:
    """Returns the subject of a conversation's journal, in TURNS."""
    return f"turn.{check_company(company)}.{check_id(conversation, 'conversation')}.journal.v1"


def analysis(company: str, user: str, analysis_id: str) -> str:
    """Returns the subject of an analysis, in TURNS. It contains the user, so that others cannot read it and a deletion
    can purge all of a user's analyses."""
    return f"turn.{check_company(company)}.{check_id(user, 'user')}.{check_id(analysis_id, 'analysis')}.analysis.v1"


def analyses_of(company: str, user: str) -> str:
    """Returns the filter for all analyses of a user, for purging."""
    return f"turn.{check_company(company)}.{check_id(user, 'user')}.*.analysis.v1"


def client_result(company: str, conversation: str, call: str) -> str:
    """Returns the subject of a handed call's result, in TURNS."""
    return (
        f"turn.{check_company(company)}.{check_id(conversation, 'conversation')}.{check_id(call, 'call')}"
        ".client_result.v1"
    )


def client_results_of(company: str, conversation: str) -> str:
    """Returns the filter for all results of a conversation's handed calls, for purging."""
    return f"turn.{check_company(company)}.{check_id(conversation, 'conversation')}.*.client_result.v1"


def analysis_msg_id(company: str, user: str, analysis_id: str) -> str:
    """Returns the Nats-Msg-Id of an analysis request or its outcome; deduplication is stream-wide."""
    return f"{company}.{user}.analysis.{analysis_id}"


def tool_request(category: str) -> str:
    """Returns the subject for tool calls of a category, in TOOLS."""
    return f"tools.call.requested.v1.{check_id(category, 'category')}"


def fact(event_type: str, company: str, user: str | None) -> str:
    """Returns a FACTS subject: the type, then company and user (``-`` if the fact belongs to no user)."""
    return f"{event_type}.{check_company(company)}.{check_id(user, 'user') if user else NOBODY}"


def company_of(subject: str) -> str:
    """Returns the company in a FACTS subject (see `fact`)."""
    return subject.split(".")[-2]


def live_turn(company: str, conversation: str, kind: LiveTurnKind) -> str:
    """Returns the subject on which the driving agent publishes a turn's progress."""
    return f"live.turn.{check_company(company)}.{check_id(conversation, 'conversation')}.{kind}.v1"


def live_presence(company: str, conversation: str, kind: PresenceKind) -> str:
    """Returns the subject for typing or read receipts of a conversation."""
    return f"live.presence.{check_company(company)}.{check_id(conversation, 'conversation')}.{kind.value}.v1"


def trace_part(company: str | None, part: str) -> str:
    """Returns the subject for spans of a company's traces, in TRACES (company None: spans of no company); `part` is new
    for each message."""
    return f"traces.recorded.v1.{NOBODY}.{check_company(company) if company else NOBODY}.{check_id(part, 'part')}"


def knowledge_work(event_type: str, company: str) -> str:
    """Returns the subject for work on a company's knowledge, in KNOWLEDGE."""
    return f"{event_type}.{check_company(company)}"


def upload_piece(company: str, upload: str, piece: int) -> str:
    """Returns the subject of one piece of a file, in UPLOADS; the first is 0."""
    return f"uploads.v1.{check_company(company)}.{check_id(upload, 'upload')}.{piece}"


def upload(company: str, upload_id: str) -> str:
    """Returns the filter for all pieces of a file, for purging."""
    return f"uploads.v1.{check_company(company)}.{check_id(upload_id, 'upload')}.*"


def webhook_delivery(company: str, endpoint: str) -> str:
    """Returns the subject of a fact's delivery to one endpoint of a company, in WEBHOOKS."""
    return f"webhooks.delivery.v1.{check_company(company)}.{check_id(endpoint, 'endpoint')}"


def parse_webhook_delivery(subject: str) -> tuple[str, str] | None:
    """Returns company and endpoint of a WEBHOOKS subject; None for any other subject."""
    parts = subject.removeprefix("webhooks.delivery.v1.").split(".")
    return (parts[0], parts[1]) if len(parts) == 2 else None


def dead_letter(service: str, stream: str, letter: str) -> str:
    """Returns the subject of a dead letter, in DLQ."""
    return f"dlq.{service}.{stream}.{check_id(letter, 'letter')}"


_PARAMETERS = {
    "company": "the company: 1 to 64 of a-z 0-9 -",
    "conversation": "the conversation: 1 to 64 of A-Z a-z 0-9 _ -",
    "user": "the user that the fact belongs to, or -",
    "category": "the tool's category",
    "part": "a new id",
    "analysis": "the analysis: 1 to 64 of A-Z a-z 0-9 _ -",
    "tool": "a tool's name; an announced one is called on its callSubject instead",
    "call": "the call: 1 to 64 of A-Z a-z 0-9 _ -",
}


def parameters_of(address: str) -> dict[str, str]:
    """Returns the ids in an address template such as ``chat.{company}.{conversation}.>``, each with its allowed
    form."""
    return {name: text for name, text in _PARAMETERS.items() if f"{{{name}}}" in address}
