"""Reads and purges the stream CHAT for trimming; only memory may purge it."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from nats.aio.client import Client

from contracts.channels import CHAT_ALL, ChatKind, chat, conversation_tree, parse_chat
from contracts.streams import CHAT
from memory.adapters.chat_consumer import DURABLE
from memory.adapters.chat_log import StreamLog
from memory.adapters.durables import durables
from memory.domain.log_window import LoggedConversation, LogState
from memory.errors import BusUnavailableError
from memory.ports import LogClock
from runtime.bus.direct import DirectReader
from runtime.bus.jetstream_api import AnswerT, ConsumerInfo, ConsumerPage, Purged, StreamInfo, ask, error_text, floor_of
from runtime.bus.replies import ReplyInbox
from runtime.conversation import ConversationLog

PAGE_SIZE = 256
REPLY_TIMEOUT_SECONDS = 5.0
"""Deadline of one request to JetStream's API."""


class TrimmedChat:
    """The operations that trimming needs."""

    def __init__(self, client: Client, log: StreamLog) -> None:
        self._inbox = ReplyInbox.of(client)
        self._direct = DirectReader(client, CHAT.name)
        self._conversations = ConversationLog(client)
        self._log = log

    async def state(self, always_kept: int) -> LogState | None:
        """The log's current state; None if it has no more than the `always_kept` newest facts, or if the
        projection's consumer is missing, so that nothing is known to be stored."""
        # The stream is read before its consumers: one with nothing pending has read at least up to the end seen here.
        bounds = await self._log.refresh()
        if bounds.first_seq + always_kept > bounds.last_seq:
            return None
        info = await self._ask(StreamInfo, f"STREAM.INFO.{CHAT.name}")
        state, max_bytes = info["state"], info["config"]["max_bytes"]
        first, last = state["first_seq"], state["last_seq"]
        # Durable consumers rely on reading everything.
        readers = await durables(partial(self._ask, ConsumerPage), CHAT.name)
        floors = {name: last if _has_read_all(consumer) else floor_of(consumer) for name, consumer in readers.items()}
        if DURABLE not in floors:
            return None
        slowest = min(floors, key=lambda name: floors[name])
        fill = state["bytes"] / max_bytes if max_bytes > 0 else 0.0
        return LogState(first, last, fill, floors[slowest], slowest)

    async def first_since(self, age: timedelta, clock: LogClock) -> int:
        """The first sequence of a fact younger than `age`."""
        facts = (await self._direct.batch_since(CHAT_ALL, await clock() - age, 1)).facts
        return facts[0].seq if facts else (await self._log.end()) + 1

    async def conversations(self, position: int, before: int) -> tuple[list[tuple[str, str]], int]:
        """The conversations of a page of facts from `position` on and before `before`, and the position of the next
        page."""
        facts = (await self._direct.batch(CHAT_ALL, position, PAGE_SIZE)).facts
        older_facts = [fact for fact in facts if fact.seq < before]
        addresses = [address for fact in older_facts if (address := parse_chat(fact.subject)) is not None]
        names = list(dict.fromkeys((address.company, address.conversation) for address in addresses))
        return names, older_facts[-1].seq + 1 if facts and older_facts == facts else before

    async def read(self, company: str, conversation: str) -> LoggedConversation | None:
        """Reads a conversation; None if something in it cannot be read, so that it must be left alone."""
        snapshot = await self._conversations.snapshot(company, conversation)
        first_unanswered = None
        if snapshot.unanswered:
            first_unanswered = await self._conversations.first_visitor(company, conversation, snapshot.basis)
            if first_unanswered is None:
                return None
        return LoggedConversation(snapshot, first_unanswered.seq if first_unanswered else None)

    async def purge(self, company: str, conversation: str, kind: ChatKind | None, before: int) -> int:
        """Removes facts before a sequence, of one kind or of all; returns how many."""
        if before <= 1:  # the server treats 1 as "all"
            return 0
        subject = chat(company, conversation, kind) if kind else conversation_tree(company, conversation)
        answer = await self._ask(Purged, f"STREAM.PURGE.{CHAT.name}", {"filter": subject, "seq": before})
        return answer["purged"]

    async def _ask(self, reply_type: type[AnswerT], method: str, body: Mapping[str, object] | None = None) -> AnswerT:
        answer = await ask(self._inbox, reply_type, method, body, deadline=REPLY_TIMEOUT_SECONDS)
        if "error" in answer:
            raise BusUnavailableError(f"{method}: {error_text(answer)}")
        return answer


def _has_read_all(consumer: ConsumerInfo) -> bool:
    return consumer["num_pending"] == 0 and consumer["num_ack_pending"] == 0
