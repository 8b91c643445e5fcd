"""Subjects: every address on the bus is built and parsed here. Every id is checked first."""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from contracts.ids import NOBODY, check_company, check_id


class ChatKind(StrEnum):
    """The kinds of facts in a conversation's log; the value is the tail of the subject."""

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
    """Progress of a running turn, for gateways that have its conversation open; may be lost, is never stored."""

    RUN_STARTED = "run.started"
    TOOL_STARTED = "tool.started"
    TOOL_FINISHED = "tool.finished"
    MESSAGE_DELTA = "message.delta"
    RUN_FINISHED = "run.finished"
    RUN_ERROR = "run.error"
    RUN_CANCELLED = "run.cancelled"


class PresenceKind(StrEnum):
    """Frequent signals between people (typing, read receipts), kept out of the log."""

    TYPING = "typing"
    RECEIPT = "receipt"


CHAT_ALL = "chat.>"
LIVE_CHAT_ALL = "live.chat.>"
TURN_TRIGGERS = (f"chat.*.*.{ChatKind.VISITOR}", f"chat.*.*.{ChatKind.OWNER}")
"""The CHAT facts that the agents' turn consumer takes: visitor messages, and conversations given back to the AI."""
ANALYSIS_REQUESTS = "analysis.requested.v1.*.*"
TOOL_REQUESTS = "tools.call.requested.v1.*"
MARKET_CLOCK = "live.market.clock.v1"
"""Replicas of the market-adapter tell each other here that the sample market's clock has moved. The message is
empty."""
TRACE_PARTS = "traces.recorded.v1.>"
TRACES_WANTED = "live.traces.wanted.v1"
"""Somebody wants to read traces now: services send what they have gathered. The message is empty."""
WEBHOOK_DELIVERIES = "webhooks.delivery.v1.*.*"


def chat(company: str, conversation: str, kind: ChatKind) -> str:
    """The subject of one kind of fact of one conversation."""
    return f"chat.{check_company(company)}.{check_id(conversation, 'conversation')}.{kind}"


def conversation_tree(company: str, conversation: str) -> str:
    """Every fact of one conversation. Fences use exactly this filter."""
    return f"chat.{check_company(company)}.{check_id(conversation, 'conversation')}.>"


def chat_msg_id(company: str, conversation: str, kind: ChatKind, identity: str) -> str:
    """The Nats-Msg-Id of a chat fact. Deduplication is stream-wide, so the conversation is part of it."""
    return f"{company}.{conversation}.{kind.short}.{identity}"


@dataclass(frozen=True, slots=True)
class ChatAddress:
    """The parts of a CHAT subject (or of its live copy)."""

    company: str
    conversation: str
    kind: ChatKind


@lru_cache(4096)
def parse_chat(subject: str) -> ChatAddress | None:
    """The parts of ``[live.]chat.<company>.<conversation>.<kind>``; None if it is another subject."""
    parts = subject.removeprefix("live.").split(".", 3)
    if len(parts) != 4 or parts[0] != "chat":
        return None
    try:
        return ChatAddress(check_company(parts[1]), check_id(parts[2]), ChatKind(parts[3]))
    except ValueError:
        return None


def journal(company: str, conversation: str) -> str:
    """The subject of a conversation's journal, in TURNS."""
    return f"turn.{check_company(company)}.{check_id(conversation, 'conversation')}.journal.v1"


def analysis(company: str, user: str, analysis_id: str) -> str:
    """The subject of an analysis, in TURNS. It contains the user, so that others cannot read it and a deletion can
    purge all of a user's analyses."""
    return f"turn.{check_company(company)}.{check_id(user, 'user')}.{check_id(analysis_id, 'analysis')}.analysis.v1"


def analyses_of(company: str, user: str) -> str:
    """All analyses of one user, for purging."""
    return f"turn.{check_company(company)}.{check_id(user, 'user')}.*.analysis.v1"


def client_result(company: str, conversation: str, call: str) -> str:
    """The subject of the result of a handed call, in TURNS."""
    return (
        f"turn.{check_company(company)}.{check_id(conversation, 'conversation')}.{check_id(call, 'call')}"
        ".client_result.v1"
    )


def client_results_of(company: str, conversation: str) -> str:
    """All results of handed calls of one conversation, for purging."""
    return f"turn.{check_company(company)}.{check_id(conversation, 'conversation')}.*.client_result.v1"


def analysis_msg_id(company: str, user: str, analysis_id: str) -> str:
    """The Nats-Msg-Id of a request or its outcome; deduplication is stream-wide."""
    return f"{company}.{user}.analysis.{analysis_id}"


def tool_request(category: str) -> str:
    """The subject for tool calls of a category, in TOOLS."""
    return f"tools.call.requested.v1.{check_id(category, 'category')}"


def fact(event_type: str, company: str, user: str | None) -> str:
    """A FACTS subject: the type, then company and user (``-`` if the fact belongs to no user)."""
    return f"{event_type}.{check_company(company)}.{check_id(user, 'user') if user else NOBODY}"


def company_of(subject: str) -> str:
    """The company in a FACTS subject (see `fact`)."""
    return subject.split(".")[-2]


def live_turn(company: str, conversation: str, kind: LiveTurnKind) -> str:
    """The subject on which the driving agent publishes a turn's progress."""
    return f"live.turn.{check_company(company)}.{check_id(conversation, 'conversation')}.{kind}.v1"


def live_presence(company: str, conversation: str, kind: PresenceKind) -> str:
    """Typing and read receipts of a conversation."""
    return f"live.presence.{check_company(company)}.{check_id(conversation, 'conversation')}.{kind.value}.v1"


def trace_part(company: str | None, part: str) -> str:
    """The subject for spans of a company's traces in TRACES (company None: of no company); `part` is new for each
    message."""
    return f"traces.recorded.v1.{NOBODY}.{check_company(company) if company else NOBODY}.{check_id(part, 'part')}"


def knowledge_work(event_type: str, company: str) -> str:
    """The subject for work on a company's knowledge, in KNOWLEDGE."""
    return f"{event_type}.{check_company(company)}"


def upload_piece(company: str, upload: str, piece: int) -> str:
    """The subject of one piece of a file, in UPLOADS; the first is 0."""
    return f"uploads.v1.{check_company(company)}.{check_id(upload, 'upload')}.{piece}"


def upload(company: str, upload_id: str) -> str:
    """All pieces of a file, for purging."""
    return f"uploads.v1.{check_company(company)}.{check_id(upload_id, 'upload')}.*"


def webhook_delivery(company: str, endpoint: str) -> str:
    """The subject of a fact's delivery to one endpoint of a company, in WEBHOOKS."""
    return f"webhooks.delivery.v1.{check_company(company)}.{check_id(endpoint, 'endpoint')}"


def parse_webhook_delivery(subject: str) -> tuple[str, str] | None:
    """Company and endpoint of a WEBHOOKS subject; None if it is another subject."""
    parts = subject.removeprefix("webhooks.delivery.v1.").split(".")
    return (parts[0], parts[1]) if len(parts) == 2 else None


def dead_letter(service: str, stream: str, letter: str) -> str:
    """The subject of a message that a service could not handle, in DLQ; there is one for each `letter`."""
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
    """The ids in an address template such as ``chat.{company}.{conversation}.>``, each with its allowed form."""
    return {name: text for name, text in _PARAMETERS.items() if f"{{{name}}}" in address}
