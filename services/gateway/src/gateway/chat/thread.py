"""A conversation opened for one request, which sends a message and follows its outcome as a websocket would."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

import structlog

from contracts.channels import PresenceKind
from contracts.conversation import AnswerRules
from contracts.conversation_rpc import MessageView
from contracts.errors import ErrorCode
from contracts.events import turn
from contracts.events.chat import Action, Owner, Wishes
from contracts.ids import turn_id
from contracts.streams import CHAT
from contracts.ws import Cursor
from gateway.chat.commands import ConversationPlace, MessageDraft
from gateway.chat.customers import has_account
from gateway.chat.exchange import CAUGHT_UP, Ended, Event, Exchange, ExchangeEnd
from gateway.chat.frames import FrameQueue
from gateway.chat.hub import Attachment
from gateway.chat.sent_messages import SentMessage
from gateway.chat.session import Chat
from gateway.domain.close_codes import CloseCode
from gateway.domain.error_language import in_language
from gateway.errors import GatewayError, RateLimitedError, RefusedError, TookTooLongError, UnavailableError, found
from gateway.metrics import ACKNOWLEDGED_SECONDS
from runtime.bus.publisher import Appended
from runtime.observability.gen_ai import CONVERSATION
from runtime.observability.telemetry import span

log = structlog.get_logger(__name__)

EXCHANGE_SECONDS = 240.0
"""Deadline in seconds of one exchange: more than the delay and deadline of any turn, whose end is in the log, and
less than clients wait for a whole answer (node's fetch 300 s, OpenAI's 600)."""
USAGE_SECONDS = 0.3
"""Seconds to wait for an answer's usage, which the agent sends right after the answer and which may be lost."""
RETRY_AFTER_SECONDS = 5.0
"""Seconds after which a caller with too many concurrent requests may try again."""
STOP_RETRY_SECONDS = 2.0
"""Seconds between two attempts to stop an answer whose client has gone."""
RESUME_SECONDS = 2.0
"""Seconds within which a disconnected client may resume, if its protocol allows that; then its answer is stopped."""
YOUNG_SECONDS = CHAT.duplicate_window / 2
"""Seconds from a conversation's start in which the log itself recognises every repeat, so that memory is not asked."""
_DOOR_ATTRIBUTE = "nexus.door"
ACTION_UPDATED = "action.updated"
_CAUGHT_UP_FRAME = b'{"type":"%s"}' % CAUGHT_UP.encode()
_DELETED = "conversation.deleted"
"""The type of an internal frame: the conversation was deleted, as memory reports."""


@dataclass(eq=False, repr=False)
class Thread:
    """A caller's conversation while it is open here. Made by Threads.open."""

    _chat: Chat
    _open_here: set["Thread"]
    place: ConversationPlace
    _address: str
    _locale: str | None
    _door: str
    _after: int | None
    seq: int = 0
    """The sequence of the newest fact when the thread was opened."""
    young_until: float = float("-inf")
    """The end of the time in which the log recognises repeats (YOUNG_SECONDS), by the event loop's clock."""
    _question_seq: int = 0
    _question_text: str = ""
    _is_detached: bool = False
    _frames: FrameQueue = field(default_factory=FrameQueue)
    _attachment: Attachment | None = None
    _opening: asyncio.Task[None] | None = None
    _exchange: Exchange | None = None
    _first_events: list[Event] = field(default_factory=list[Event])
    _decisions: list[Action] = field(default_factory=list[Action])
    _rules: AnswerRules = field(default_factory=lambda: AnswerRules(enabled=False))
    _timeout: asyncio.TimerHandle | None = None
    _owner: Owner | None = None
    """The owner of the conversation when it was joined; None if it is followed from an earlier fact."""

    async def __aenter__(self) -> Self:
        """Follows the conversation.

        Raises:
            RefusedError: FORBIDDEN, this role has no conversations; NOT_FOUND, there is no such company.
            RateLimitedError: the caller has too many requests at a time.
            UnavailableError: the conversation cannot be read now.
        """
        chat, caller = self._chat, self.place.caller
        if not caller.writes_as_visitor:
            raise RefusedError(ErrorCode.FORBIDDEN, f"the role {caller.role} has no conversations")
        self._rules = AnswerRules.of(found(await chat.companies.get(caller.company), "company"))
        if not chat.limits.enter_subject(caller.company, caller.subject):
            raise RateLimitedError("too many requests at a time: wait for one to end", RETRY_AFTER_SECONDS)
        self._open_here.add(self)
        try:
            if self._after is None:
                await self._join_now()
            else:
                self._follow_after(self._after)
        except BaseException:
            await self.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._is_detached:
            await self.end()

    def detach(self) -> Self:
        """Keeps the thread open after the `async with` statement, until somebody calls `end`."""
        self._is_detached = True
        return self

    async def end(self) -> None:
        """Stops following the conversation."""
        self._stop_waiting()
        self._open_here.discard(self)
        self._chat.limits.leave_subject(self.place.company, self.place.caller.subject)
        await self._close()

    @property
    def question(self) -> MessageView | None:
        """The message whose outcome is followed; None until it has been read, for which the thread must be opened
        before it (`after=sequence - 1`)."""
        return self._exchange.question if self._exchange is not None else None

    async def send(self, message: SentMessage, wishes: Wishes | None = None) -> Appended:
        """Appends the caller's message; a message with the same id is stored once. `wishes`: how the client wants it
        answered.

        Raises:
            RateLimitedError, UnavailableError: as for a websocket; for its files, what Files.upload raises.
        """
        place, chat, client_message_id = self.place, self._chat, message.identity
        self._question_text = message.text
        if self._opening is not None:
            await asyncio.shield(self._opening)
        has_messages = self.seq > 0
        with (
            ACKNOWLEDGED_SECONDS.time(),
            span("chat.message", **{CONVERSATION: place.conversation, _DOOR_ATTRIBUTE: self._door}),
        ):
            is_old = has_messages and asyncio.get_running_loop().time() >= self.young_until
            stored = await chat.commands.find_sent(place, client_message_id) if is_old else None
            if stored is None:
                try:
                    stored = await self._store(message, wishes, has_messages=has_messages)
                except RateLimitedError:
                    # A message that is stored already is not refused.
                    earlier = (
                        await chat.commands.find_sent(place, client_message_id) if has_messages and not is_old else None
                    )
                    if earlier is None:
                        raise
                    stored = earlier
            log.debug("chat.stored", seq=stored.seq, duplicate=stored.duplicate, door=self._door)
        self._question_seq = stored.seq
        if stored.duplicate and stored.seq <= self.seq:
            # Its outcome may be before the point from which the thread follows.
            await self._close()
            self._frames, self._exchange, self._owner = FrameQueue(), None, None
            self._follow_after(stored.seq - 1)
        elif self._attachment is not None:
            chat.hub.hints(place.company, place.conversation).newest_sent_seq = 0 if stored.duplicate else stored.seq
            chat.expect_fact(self._attachment, stored.seq)
        return stored

    async def _store(self, message: SentMessage, wishes: Wishes | None, *, has_messages: bool) -> Appended:
        place, chat, locale = self.place, self._chat, self._locale
        chat.limits.count_message(
            f"{place.company}/{place.caller.subject}", self._address, opens_conversation=not has_messages
        )
        # If the log turns out to have the message already, no message names these files; they are deleted in a day.
        language = await chat.companies.language_for(place.company, locale, message.text) if message.files else "en"
        files = [await chat.files.upload(place, file.name, file.body(), language) for file in message.files]
        draft = MessageDraft(
            message.identity, message.text, locale, wishes=wishes, door=self._door, files=files or None
        )
        return await chat.commands.send_as_visitor(place, draft)

    def follow(self, question_seq: int, *, await_person: bool = False) -> None:
        """Starts to follow the outcome of the visitor message at `question_seq`, or continues after `events_so_far`.
        `await_person`: waits for the reply of a person who has the conversation, and not for usage."""
        exchange = self._open_exchange(question_seq, await_person=await_person)
        self.wait_at_most(EXCHANGE_SECONDS)
        self._first_events = [] if self._owner is None else [*exchange.begin(self._owner)]

    async def next_events(self) -> list[Event]:
        """After `follow`: waits for the next events and returns those that have arrived together, in order. `Ended` is
        the last one; an empty list means that there are no more.

        Raises:
            UnavailableError: the conversation can no longer be followed from here; open the thread again.
            TookTooLongError: there was no outcome in time.
            RefusedError: NOT_FOUND, the conversation was deleted meanwhile.
        """
        exchange, events, self._first_events = self._exchange, self._first_events, []
        if exchange is None or (exchange.has_ended and not events):
            return []
        while not exchange.has_ended:
            if (frame := self._frames.next()) is not None:
                if frame["type"] == _DELETED:
                    await self._check_question_exists()
                events += exchange.read(frame)
            elif events:
                return events
            else:
                await self._frames.arrived()
        if not exchange.await_person:
            await self._add_usage(events, exchange)
        return events

    def wait_at_most(self, seconds: float) -> None:
        """Makes `next_events` raise TookTooLongError after this time from now."""
        self._stop_waiting()
        too_long = TookTooLongError("nobody has answered: ask again")
        self._timeout = asyncio.get_running_loop().call_later(seconds, self._frames.fail, too_long)

    def _stop_waiting(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()

    async def events_so_far(self, question_seq: int, *, await_person: bool = False) -> list[Event]:
        """The events so far, without waiting for more; after `Ended`, if it has ended, the messages of people since.
        To be called once."""
        exchange = self._open_exchange(question_seq, await_person=await_person)
        events: list[Event] = []
        async with asyncio.timeout(EXCHANGE_SECONDS):
            while not exchange.is_live:
                frame = await self._next()
                events += exchange.read(frame)
                if frame["type"] == ACTION_UPDATED:
                    self._decisions.append(Action.model_validate(frame["action"]))
        return events

    async def decisions(self) -> AsyncGenerator[Action]:
        """After `events_so_far`: yields decisions in the conversation by any client. Raises what `next_events` does."""
        for action in self._decisions:
            yield action
        while True:
            frame = await self._next()
            if frame["type"] == ACTION_UPDATED:
                yield Action.model_validate(frame["action"])

    async def cancel(self, question_seq: int) -> None:
        """Stops the answer to the visitor message at `question_seq`; raises NOT_FOUND if it is answered already."""
        turn = turn_id(self.place.company, self.place.conversation, question_seq)
        await self._chat.commands.cancel(self.place, turn)

    def stop_in_background(self, question_seq: int) -> None:
        """Stops the answer when the client has disconnected, for protocols that have no other way to cancel."""
        self._chat.in_background(self._stop_answer(question_seq))

    async def announce_resume(self, question_seq: int) -> None:
        """Tells the gateway from which the client disconnected during an answer that it continues here
        (`_is_resumed`), and all gateways that `was_just_sent` no longer holds for the last message."""
        place, chat, attachment = self.place, self._chat, self._attachment
        chat.hub.hints(place.company, place.conversation).newest_sent_seq = 0
        if attachment is not None:
            receipt = turn.Receipt(actor=place.caller.role, up_to_seq=question_seq)
            with suppress(GatewayError):
                await chat.bus.publish_presence(
                    place.company, place.conversation, PresenceKind.RECEIPT, receipt, attachment.id
                )

    def handle_client_gone(self, question_seq: int) -> None:
        """Ends the thread after its client has disconnected, and stops the answer unless somebody resumes it."""

        async def stop_unless_resumed() -> None:
            try:
                if not await self._is_resumed():
                    await self._stop_answer(question_seq)
            finally:
                await self.end()

        self._stop_waiting()
        self._chat.in_background(stop_unless_resumed())

    async def _is_resumed(self) -> bool:
        """Whether somebody resumes soon, at any gateway. Also true if this gateway drains, which stops no answer."""
        try:
            async with asyncio.timeout(RESUME_SECONDS):
                while True:
                    frame = await self._next()
                    if frame["type"] == PresenceKind.RECEIPT and frame.get("actor") == self.place.caller.role:
                        return True
        except TimeoutError:
            return False
        except GatewayError:
            return True
        return False

    async def error_text(self, error: GatewayError) -> str:
        """The error's text in the language that the client names, else the message's, else the company's."""
        companies = self._chat.companies
        return in_language(
            error.message, await companies.language_for(self.place.company, self._locale, self._question_text)
        )

    # ------------------------------------------------------------------ inside and for Threads

    async def _join_now(self) -> None:
        """Follows the conversation from now on; raises UnavailableError."""
        snapshot = await self._chat.recovery.join(self._attach())
        self.seq, self._owner = snapshot.seq, Owner.model_validate(snapshot.owner_data)
        hints = self._chat.hub.hints(self.place.company, self.place.conversation)
        hints.person = self.place.caller.subject
        if self.seq == 0:
            hints.seen_empty_at = asyncio.get_running_loop().time()
            hints.may_have_actions = False
        self.young_until = hints.seen_empty_at + YOUNG_SECONDS

    def _follow_after(self, after: int) -> None:
        """Starts to follow from the fact after `after`; errors are raised to the reader."""
        self._opening = asyncio.create_task(self._join(self._attach(), self._frames, after))

    def _attach(self) -> Attachment:
        place, frames = self.place, self._frames
        self._chat.customers.watch(place.company, place.conversation, frames.push)
        customer = place.caller.subject if has_account(place.caller) else None
        self._attachment = Attachment(frames, place.company, place.conversation, customer)
        return self._attachment

    async def _close(self) -> None:
        self._chat.customers.unwatch(self.place.company, self.place.conversation, self._frames.push)
        if self._opening is not None:
            self._opening.cancel()
            with suppress(asyncio.CancelledError):
                await self._opening
        if self._attachment is not None:
            await self._chat.hub.leave(self._attachment, linger=True)

    def terminate(self, code: CloseCode) -> None:
        self._frames.terminate(code)

    def deleted(self) -> None:
        """The conversation was deleted: the reader checks whether its message is still there."""
        self._frames.push(b'{"type":"%s"}' % _DELETED.encode())

    async def _next(self) -> dict[str, object]:
        """Waits for the next frame; raises the error that ended them, or NOT_FOUND if the conversation was deleted."""
        while (frame := self._frames.next()) is None or frame["type"] == _DELETED:
            await (self._frames.arrived() if frame is None else self._check_question_exists())
        return frame

    async def _check_question_exists(self) -> None:
        snapshot = await self._chat.log.snapshot(self.place.company, self.place.conversation)
        if snapshot.newest_visitor < self._question_seq:
            raise RefusedError(ErrorCode.NOT_FOUND, "the conversation was deleted: begin another one")

    def _open_exchange(self, question_seq: int, *, await_person: bool) -> Exchange:
        self._question_seq = question_seq
        if self._exchange is None:
            self._exchange = Exchange(
                self.place.company, self.place.conversation, question_seq, self._rules, await_person=await_person
            )
        return self._exchange

    async def _stop_answer(self, question_seq: int) -> None:
        """Tries until the log accepts the stop or there is nothing to stop: the client will not ask again."""
        with suppress(RefusedError, TimeoutError):  # the answer has ended, as every answer has by then
            async with asyncio.timeout(EXCHANGE_SECONDS):
                while True:
                    with suppress(UnavailableError):  # tried again below
                        return await self.cancel(question_seq)
                    await asyncio.sleep(STOP_RETRY_SECONDS)

    async def _add_usage(self, events: list[Event], exchange: Exchange) -> None:
        """Inserts the answer's usage before its end, after a brief wait; not if reported before, or not live."""
        index, end = next((index, event) for index, event in enumerate(events) if isinstance(event, Ended))
        if end.outcome is ExchangeEnd.ANSWERED and not exchange.has_usage and exchange.is_live:
            self.wait_at_most(USAGE_SECONDS)
            with suppress(TookTooLongError):
                while (usage := exchange.usage(await self._next())) is None:
                    pass
                events.insert(index, usage)

    async def _join(self, attachment: Attachment, frames: FrameQueue, after: int) -> None:
        recovery = self._chat.recovery
        try:
            await recovery.open(attachment, Cursor(epoch=await recovery.epoch(), seq=after))
            frames.push(_CAUGHT_UP_FRAME)
        except GatewayError as error:
            frames.fail(error)
