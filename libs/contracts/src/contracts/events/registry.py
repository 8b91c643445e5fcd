"""Every event: its type, stream, publisher, consumers and data. A version never changes; new ones are added."""

from dataclasses import dataclass

from pydantic import BaseModel

from contracts.events import analysis, chat, desk, fact, knowledge, market, memory, record, tool, trace, turn


@dataclass(frozen=True, slots=True)
class EventType:
    """One event in one version. `stream` None: core NATS, may be lost."""

    data: type[BaseModel]
    type: str
    subject: str
    stream: str | None
    owners: tuple[str, ...]
    consumers: tuple[str, ...]

    @property
    def name(self) -> str:
        """The type without its version."""
        return self.type.rpartition(".")[0]

    @property
    def version(self) -> str:
        """The version: v1, v2 …"""
        return self.type.rpartition(".")[2]


_CHAT = "chat.{company}.{conversation}."
_LIVE = "live.turn.{company}.{conversation}."
_PRESENCE = "live.presence.{company}.{conversation}."
_COMPANY_AND_USER = ".{company}.{user}"


def _chat(tail: str, data: type[BaseModel], owners: tuple[str, ...]) -> EventType:
    return EventType(data, f"chat.{tail}", _CHAT + tail, "CHAT", owners, ("agent", "memory", "gateway"))


def _live(tail: str, data: type[BaseModel]) -> EventType:
    return EventType(data, f"live.turn.{tail}", _LIVE + tail, None, ("agent",), ("gateway",))


def _presence(tail: str, data: type[BaseModel]) -> EventType:
    return EventType(data, f"live.presence.{tail}", _PRESENCE + tail, None, ("gateway",), ("gateway",))


def _fact(kind: str, data: type[BaseModel], owners: tuple[str, ...], consumers: tuple[str, ...]) -> EventType:
    return EventType(data, kind, kind + _COMPANY_AND_USER, "FACTS", owners, consumers)


def _knowledge(kind: str, data: type[BaseModel], owners: tuple[str, ...]) -> EventType:
    """Returns an event type for work on companies' knowledge, which the executors share."""
    return EventType(data, kind, kind + ".{company}", "KNOWLEDGE", owners, ("tool-executor",))


EVENTS: tuple[EventType, ...] = (
    _chat("message.visitor.v1", chat.VisitorMessage, ("gateway", "other services")),
    _chat("message.assistant.v1", chat.AssistantMessage, ("agent",)),
    _chat("message.operator.v1", chat.OperatorMessage, ("gateway",)),
    _chat("message.system.v1", chat.SystemMessage, ("agent", "memory")),
    _chat("owner.changed.v1", chat.OwnerChanged, ("gateway", "memory", "agent")),
    _chat("run.cancelled.v1", chat.RunCancelled, ("gateway",)),
    EventType(
        turn.TurnJournal,
        "turn.journal.v1",
        "turn.{company}.{conversation}.journal.v1",
        "TURNS",
        ("agent",),
        ("agent", "gateway"),
    ),
    EventType(
        turn.ClientResult,
        "turn.client_result.v1",
        "turn.{company}.{conversation}.{call}.client_result.v1",
        "TURNS",
        ("gateway",),
        ("agent",),
    ),
    EventType(
        tool.ToolCallRequested,
        "tools.call.requested.v1",
        "tools.call.requested.v1.{category}",
        "TOOLS",
        ("agent", "gateway", "other services"),
        ("tool-executor",),
    ),
    _fact("tools.call.completed.v1", tool.ToolCallCompleted, ("tool-executor",), ("memory", "agent", "gateway")),
    _fact("tools.announced.v1", tool.ToolsAnnounced, ("other services",), ("tool-executor",)),
    _fact("tools.withdrawn.v1", tool.ToolsWithdrawn, ("other services",), ("tool-executor",)),
    _fact("company.config.changed.v1", fact.CompanyConfigChanged, ("memory",), ("agent", "gateway", "tool-executor")),
    _fact("feedback.given.v1", fact.FeedbackGiven, ("gateway",), ("memory",)),
    _fact("conversation.updated.v1", desk.ConversationUpdated, ("memory",), ("memory", "gateway")),
    _fact("note.added.v1", desk.NoteAdded, ("memory",), ("memory", "gateway")),
    _fact("conversation.rated.v1", fact.ConversationRated, ("gateway",), ("memory", "gateway")),
    _fact("memory.updated.v1", memory.MemoryUpdated, ("memory",), ("agent", "gateway")),
    _fact("usage.recorded.v1", fact.UsageRecorded, ("agent",), ("memory",)),
    _fact("turns.recorded.v1", record.TurnRecorded, ("agent",), ("nexus replay",)),
    EventType(turn.TurnFailed, "turn.failed.v1", "turn.failed.v1.{company}.-", "FACTS", ("agent",), ("memory",)),
    _fact("order.filled.v1", market.OrderFilled, ("market-adapter",), ("gateway", "tool-executor", "memory")),
    _fact("order.closed.v1", market.OrderClosed, ("market-adapter",), ("gateway", "tool-executor", "memory")),
    _fact("alert.triggered.v1", market.AlertTriggered, ("market-adapter",), ("gateway", "memory")),
    _fact(
        "action.decided.v1",
        market.ActionDecided,
        ("market-adapter", "tool-executor"),
        ("gateway", "tool-executor", "memory"),
    ),
    EventType(
        trace.TraceRecorded,
        "traces.recorded.v1",
        "traces.recorded.v1.-.{company}.{part}",
        "TRACES",
        ("gateway", "agent", "tool-executor", "memory", "market-adapter"),
        ("nexus trace",),
    ),
    _fact("analysis.requested.v1", analysis.AnalysisRequested, ("gateway", "agent", "other services"), ("agent",)),
    _fact("analysis.completed.v1", analysis.AnalysisCompleted, ("agent",), ("gateway", "agent", "other services")),
    EventType(
        analysis.AnalysisRecord,
        "turn.analysis.v1",
        "turn.{company}.{user}.{analysis}.analysis.v1",
        "TURNS",
        ("gateway", "agent"),
        ("agent", "gateway"),
    ),
    _fact(
        "knowledge.document.upserted.v1", knowledge.DocumentUpserted, ("tool-executor", "other services"), ("memory",)
    ),
    _fact("knowledge.document.removed.v1", knowledge.DocumentRemoved, ("other services",), ("memory",)),
    _fact("knowledge.document.failed.v1", knowledge.DocumentFailed, ("tool-executor",), ("memory",)),
    _fact("knowledge.run.progressed.v1", knowledge.RunProgressed, ("tool-executor",), ("memory",)),
    _fact("knowledge.changed.v1", knowledge.KnowledgeChanged, ("memory",), ("memory",)),
    _knowledge(
        "knowledge.refresh.requested.v1", knowledge.RefreshRequested, ("memory", "tool-executor", "other services")
    ),
    _knowledge("knowledge.file.received.v1", knowledge.FileReceived, ("memory",)),
    _live("run.started.v1", turn.RunStarted),
    _live("tool.started.v1", turn.ToolStarted),
    _live("tool.finished.v1", turn.ToolFinished),
    _live("message.delta.v1", turn.MessageDelta),
    _live("run.finished.v1", turn.RunFinished),
    _live("run.error.v1", turn.RunError),
    _live("run.cancelled.v1", turn.RunStopped),
    _presence("typing.v1", turn.Typing),
    _presence("receipt.v1", turn.Receipt),
)

BY_TYPE: dict[str, EventType] = {event.type: event for event in EVENTS}
