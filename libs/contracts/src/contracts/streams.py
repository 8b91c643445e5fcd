"""The JetStream streams, as data. The runtime creates and checks them at start-up.

CHAT never sets allow_msg_schedules, allow_rollup_hdrs or allow_msg_ttl: each lets a publisher with a narrow subject
permission forge or wipe facts. deny_delete is on; purging (for a user's deletion) stays possible.
"""

from dataclasses import dataclass
from typing import Literal

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Republish:
    """Copies of stored messages are published on core NATS under `destination`, with the header Nats-Sequence."""

    source: str
    destination: str


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream. Sizes in bytes, times in seconds; 0 = no limit.

    `window`: older messages are removed by memory rather than the server, once every reader has read them.
    """

    name: str
    subjects: tuple[str, ...]
    retention: Literal["limits", "workqueue"] = "limits"
    max_bytes: int = 0
    max_age: float = 0
    window: float = 0
    max_msgs_per_subject: int = 0
    max_msg_size: int = 1024 * 1024
    discard: Literal["old", "new"] = "new"
    duplicate_window: float = 120.0
    allow_direct: bool = True
    deny_delete: bool = False
    republish: Republish | None = None


CHAT = Stream(
    name="CHAT",
    subjects=("chat.>",),
    max_bytes=8 * GIB,
    window=30 * 86_400,
    max_msg_size=256 * 1024,
    deny_delete=True,
    republish=Republish("chat.>", "live.chat.>"),
)
TURNS = Stream(
    name="TURNS",
    subjects=("turn.*.*.journal.v1", "turn.*.*.*.analysis.v1", "turn.*.*.*.client_result.v1"),
    max_msgs_per_subject=1,
    max_bytes=2 * GIB,
    max_age=7 * 86_400,
    # A turn ends within minutes, so the oldest values belong to finished turns and may make room for others.
    discard="old",
)
TOOLS = Stream(
    name="TOOLS",
    subjects=("tools.call.requested.v1.*",),
    retention="workqueue",
    max_bytes=GIB,
    max_age=3_600,
    max_msg_size=256 * 1024,
)
FACTS = Stream(
    name="FACTS",
    subjects=(
        "tools.call.completed.v1.>",
        "tools.announced.v1.>",
        "tools.withdrawn.v1.>",
        "company.config.changed.v1.>",
        "memory.updated.v1.>",
        "usage.recorded.v1.>",
        "feedback.given.v1.>",
        "conversation.updated.v1.>",
        "note.added.v1.>",
        "conversation.rated.v1.>",
        "action.decided.v1.>",
        "alert.triggered.v1.>",
        "order.filled.v1.>",
        "order.closed.v1.>",
        "turns.recorded.v1.>",
        # Without a user: with a wildcard as the last token it would overlap with turn.*.*.journal.v1 of TURNS.
        "turn.failed.v1.*.-",
        "analysis.requested.v1.>",
        "analysis.completed.v1.>",
        "knowledge.document.upserted.v1.>",
        "knowledge.document.removed.v1.>",
        "knowledge.document.failed.v1.>",
        "knowledge.run.progressed.v1.>",
        "knowledge.changed.v1.>",
    ),
    max_bytes=4 * GIB,
    max_age=30 * 86_400,
    discard="old",
)
DLQ = Stream(name="DLQ", subjects=("dlq.>",), max_bytes=GIB, max_age=30 * 86_400, discard="old")
TRACES = Stream(
    name="TRACES",
    subjects=("traces.recorded.v1.*.*.*",),
    max_bytes=GIB // 8,
    max_age=2 * 86_400,
    max_msg_size=256 * 1024,
    discard="old",
)
WEBHOOKS = Stream(
    name="WEBHOOKS",
    subjects=("webhooks.delivery.v1.*.*",),
    retention="workqueue",
    max_bytes=GIB,
    max_age=7 * 86_400,
    # An endpoint that is so far behind loses its oldest facts rather than take room from others.
    max_msgs_per_subject=20_000,
    discard="old",
)
KNOWLEDGE = Stream(
    name="KNOWLEDGE",
    subjects=("knowledge.refresh.requested.v1.*", "knowledge.file.received.v1.*"),
    retention="workqueue",
    max_bytes=GIB // 4,
    max_age=2 * 86_400,
    max_msg_size=64 * 1024,
)
UPLOADS = Stream(
    name="UPLOADS",
    # Pieces of files in transit from the gateway, which has no store, to an executor, which removes them.
    subjects=("uploads.v1.*.*.*",),
    max_bytes=GIB // 4,
    max_age=3_600,
    max_msgs_per_subject=1,
)

STREAMS: tuple[Stream, ...] = (CHAT, TURNS, TOOLS, FACTS, DLQ, TRACES, WEBHOOKS, KNOWLEDGE, UPLOADS)
