"""The stream CHAT for trimming; only memory may purge from it."""

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

PAGE = 256
ANSWER = 5.0


class TrimmedChat:
    """The operations that trimming needs."""

    def __init__(self, client: Client, log: StreamLog) -> None:
        self._inbox = ReplyInbox.of(client)
        self._direct = DirectReader(client, CHAT.name)
        self._conversations = ConversationLog(client)
        self._log = log

    async def state(self, kept: int) -> LogState | None:
        """The log now; None if it holds no more than the `kept` facts that always stay, or if the projection's
        consumer is missing, so that nothing is known to be stored."""
        # The stream is read before its consumers: one that has nothing left has read up to the end seen here.
        bounds = await self._log.refresh()
        if bounds.first_seq + kept > bounds.last_seq:
            return None
        info = await self._ask(StreamInfo, f"STREAM.INFO.{CHAT.name}")
        held, most = info["state"], info["config"]["max_bytes"]
        first, last = held["first_seq"], held["last_seq"]
        # A durable consumer relies on reading everything.
        readers = await durables(partial(self._ask, ConsumerPage), CHAT.name)
        floors = {name: last if _has_read_all(one) else floor_of(one) for name, one in readers.items()}
        if DURABLE not in floors:
            return None
        slowest = min(floors, key=lambda name: floors[name])
        fill = held["bytes"] / most if most > 0 else 0.0
        return LogState(first, last, fill, floors[slowest], slowest)

    async def first_since(self, age: timedelta, clock: LogClock) -> int:
        """The first sequence that is younger than `age`."""
        young = (await self._direct.batch_since(CHAT_ALL, await clock() - age, 1)).facts
        return young[0].seq if young else (await self._log.end()) + 1

    async def conversations(self, position: int, before: int) -> tuple[list[tuple[str, str]], int]:
        """The conversations of some facts from `position` on and before `before`, and the next position."""
        facts = (await self._direct.batch(CHAT_ALL, position, PAGE)).facts
        old = [fact for fact in facts if fact.seq < before]
        addresses = [address for fact in old if (address := parse_chat(fact.subject)) is not None]
        names = list(dict.fromkeys((one.company, one.conversation) for one in addresses))
        return names, old[-1].seq + 1 if facts and old == facts else before

    async def look(self, company: str, conversation: str) -> LoggedConversation | None:
        """None: something in it cannot be read, so it must be left alone."""
        snapshot = await self._conversations.snapshot(company, conversation)
        waiting = None
        if snapshot.unanswered:
            waiting = await self._conversations.first_visitor(company, conversation, snapshot.basis)
            if waiting is None:
                return None
        return LoggedConversation(snapshot, waiting.seq if waiting else None)

    async def cut(self, company: str, conversation: str, kind: ChatKind | None, before: int) -> int:
        """Removes facts before a sequence, of one kind or of all; returns how many."""
        if before <= 1:  # the server takes 1 for "all"
            return 0
        subject = chat(company, conversation, kind) if kind else conversation_tree(company, conversation)
        answer = await self._ask(Purged, f"STREAM.PURGE.{CHAT.name}", {"filter": subject, "seq": before})
        return answer["purged"]

    async def _ask(self, of: type[AnswerT], method: str, body: Mapping[str, object] | None = None) -> AnswerT:
        answer = await ask(self._inbox, of, method, body, deadline=ANSWER)
        if "error" in answer:
            raise BusUnavailableError(f"{method}: {error_text(answer)}")
        return answer


def _has_read_all(consumer: ConsumerInfo) -> bool:
    return consumer["num_pending"] == 0 and consumer["num_ack_pending"] == 0
