"""A conversation that a request has open: it sends a message and follows the outcome, as a websocket would."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
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
from gateway.errors import GatewayError, RateLimitedError, RefusedError, TookTooLongError, UnavailableError, not_found
from gateway.metrics import ACKNOWLEDGED_SECONDS
from runtime.bus.publisher import Appended
from runtime.observability.gen_ai import CONVERSATION
from runtime.observability.telemetry import span

log = structlog.get_logger(__name__)

PATIENCE = 240.0
"""Seconds for one exchange: more than the delay and deadline of any turn, whose end is in the log."""
USAGE_SECONDS = 0.3
"""Seconds to wait for an answer's usage, which its agent sends right after it and which may be lost."""
TOO_MANY_AGAIN = 5.0
"""Seconds after which whoever has too many requests at a time may try again."""
AGAIN = 2.0
"""Seconds between two attempts to stop an answer whose client has gone."""
COMING_BACK = 2.0
"""Seconds for a client to resume elsewhere, if its protocol allows that, before a hang-up counts as a stop."""
YOUNG = CHAT.duplicate_window / 2
"""Seconds after a conversation's start during which the log recognises every repeated message by itself, so that
memory need not be asked."""
_DOOR = "nexus.door"
ACTION_UPDATED = "action.updated"
_BEHIND = b'{"type":"%s"}' % CAUGHT_UP.encode()
_DELETED = "conversation.deleted"
"""The type of an internal frame: memory reports that the conversation was deleted."""


class Thread:
    """A caller's conversation while it is open here. Made by Threads.open."""

    def __init__(
        self,
        chat: Chat,
        open_here: set["Thread"],
        place: ConversationPlace,
        address: str,
        locale: str | None,
        door: str,
        after: int | None,
    ) -> None:
        self.place = place
        self.seq = 0
        """The newest fact when it was opened."""
        self._asked = 0
        self._said = ""
        self.young_until = float("-inf")
        """The time by the event loop's clock until which it counts as young (see YOUNG)."""
        self._chat = chat
        self._open_here = open_here
        self._after = after
        self._handed_on = False
        self._address = address
        self._locale = locale
        self._door = door
        self._frames = FrameQueue()
        self._attachment: Attachment | None = None
        self._opening: asyncio.Task[None] | None = None
        self._reading: Exchange | None = None
        self._begun: list[Event] = []
        self._decided: list[Action] = []
        self._rules = AnswerRules(enabled=False)
        self._patience: asyncio.TimerHandle | None = None
        self._owner: Owner | None = None
        """The owner of the conversation, if it is followed from now on."""

    async def __aenter__(self) -> Self:
        """Follows the conversation.

        Raises:
            RefusedError: FORBIDDEN, this role has no conversations; NOT_FOUND, no such company.
            RateLimitedError: too many at a time.
            UnavailableError: it cannot be read now.
        """
        chat, caller = self._chat, self.place.caller
        if not caller.writes_as_visitor:
            raise RefusedError(ErrorCode.FORBIDDEN, f"the role {caller.role} has no conversations")
        settings = await chat.companies.get(caller.company)
        if settings is None:
            raise not_found("company")
        self._rules = AnswerRules.of(settings)
        if not chat.limits.enter_subject(caller.company, caller.subject):
            raise RateLimitedError("too many requests at a time: wait for one to end", TOO_MANY_AGAIN)
        self._open_here.add(self)
        try:
            if self._after is None:
                await self._begin()
            else:
                self._follow(self._after)
        except BaseException:
            await self.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._handed_on:
            await self.end()

    def hand_on(self) -> Self:
        """Keeps the thread open after the `async with` statement, until its new holder ends it."""
        self._handed_on = True
        return self

    async def end(self) -> None:
        """Follows it no longer."""
        self._stop_waiting()
        self._open_here.discard(self)
        self._chat.limits.leave_subject(self.place.company, self.place.caller.subject)
        await self._close()

    @property
    def question(self) -> MessageView | None:
        """The message that is followed, once it has been read: open the thread before it (`after=sequence - 1`)."""
        return self._reading.question if self._reading is not None else None

    async def send(self, message: SentMessage, wishes: Wishes | None = None) -> Appended:
        """Appends the caller's message. The same id is the same message and is stored once. `wishes`: how the client
        wants it answered.

        Raises:
            RateLimitedError, UnavailableError: as for a websocket; for its files, what Files.take_in raises.
        """
        place, chat, client_message_id = self.place, self._chat, message.identity
        self._said = message.text
        if self._opening is not None:
            await asyncio.shield(self._opening)
        begun = self.seq > 0
        with ACKNOWLEDGED_SECONDS.time(), span("chat.message", **{CONVERSATION: place.conversation, _DOOR: self._door}):
            older = begun and asyncio.get_running_loop().time() >= self.young_until
            stored = await chat.commands.find_sent(place, client_message_id) if older else None
            if stored is None:
                try:
                    stored = await self._store(message, wishes, begun=begun)
                except RateLimitedError:
                    # Nobody is refused what is there already.
                    again = await chat.commands.find_sent(place, client_message_id) if begun and not older else None
                    if again is None:
                        raise
                    stored = again
            log.debug("chat.stored", seq=stored.seq, duplicate=stored.duplicate, door=self._door)
        self._asked = stored.seq
        if stored.duplicate and stored.seq <= self.seq:
            # What came of it is behind the place where this was opened.
            await self._close()
            self._frames, self._reading, self._owner = FrameQueue(), None, None
            self._follow(stored.seq - 1)
        elif self._attachment is not None:
            chat.hub.known_of(place.company, place.conversation).sent = 0 if stored.duplicate else stored.seq
            chat.expect(self._attachment, stored.seq)
        return stored

    async def _store(self, message: SentMessage, wishes: Wishes | None, *, begun: bool) -> Appended:
        place, chat, locale = self.place, self._chat, self._locale
        chat.limits.message(f"{place.company}/{place.caller.subject}", self._address, opens_conversation=not begun)
        # Of a message that the log turns out to hold already they are named by none, and gone within a day.
        language = await chat.companies.language_for(place.company, locale, message.text) if message.files else "en"
        taken = [await chat.files.take_in(place, one.name, one.body(), language) for one in message.files]
        draft = MessageDraft(
            message.identity, message.text, locale, wishes=wishes, door=self._door, files=taken or None
        )
        return await chat.commands.send_as_visitor(place, draft)

    def follow(self, asked: int, *, patient: bool = False) -> None:
        """Begins with the outcome of the visitor message at sequence `asked`, which `heard` tells; after `now` it
        continues from there. `patient`: waits for the reply of a person who has the conversation, and not for usage."""
        exchange = self._exchange(asked, patient=patient)
        self.wait_at_most(PATIENCE)
        self._begun = [] if self._owner is None else [*exchange.begin(self._owner)]

    async def next_events(self) -> list[Event]:
        """After `follow`: the next events, those that have arrived together, in order; `Ended` is the last one. Empty:
        there are no more.

        Raises:
            UnavailableError: it cannot be followed from here any more; open the thread again.
            TookTooLongError: there was no outcome.
            RefusedError: NOT_FOUND, the conversation was deleted meanwhile.
        """
        exchange, told, self._begun = self._reading, self._begun, []
        if exchange is None or (exchange.ended and not told):
            return []
        while not exchange.ended:
            if (frame := self._frames.next()) is not None:
                if frame["type"] == _DELETED:
                    await self._check_there()
                told += exchange.read(frame)
            elif told:
                return told
            else:
                await self._frames.arrived()
        if not exchange.patient:
            await self._add_usage(told, exchange)
        return told

    def wait_at_most(self, seconds: float) -> None:
        """Limits how long `heard` goes on from now, before it raises TookTooLongError."""
        self._stop_waiting()
        too_long = TookTooLongError("nobody has answered: ask again")
        self._patience = asyncio.get_running_loop().call_later(seconds, self._frames.fail, too_long)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()

    async def now(self, asked: int, *, patient: bool = False) -> list[Event]:
        """The events so far, without waiting; after `Ended` (if it has ended) what people have said since. Call it
        once."""
        exchange = self._exchange(asked, patient=patient)
        told: list[Event] = []
        async with asyncio.timeout(PATIENCE):
            while not exchange.live:
                frame = await self._next()
                told += exchange.read(frame)
                if frame["type"] == ACTION_UPDATED:
                    self._decided.append(Action.model_validate(frame["action"]))
        return told

    async def decisions(self) -> AsyncGenerator[Action]:
        """After `now`: decisions in the conversation, by any client. Raises what `heard` does."""
        for action in self._decided:
            yield action
        while True:
            frame = await self._next()
            if frame["type"] == ACTION_UPDATED:
                yield Action.model_validate(frame["action"])

    async def cancel(self, asked: int) -> None:
        """Stops the answer to the visitor message at `asked`; raises NOT_FOUND if it is answered."""
        turn = turn_id(self.place.company, self.place.conversation, asked)
        await self._chat.commands.cancel(self.place, turn)

    def abandon(self, asked: int) -> None:
        """Stops the answer for a client that has gone, in a protocol that has no other way to cancel."""
        self._chat.in_background(self._stop(asked))

    async def read_on(self, asked: int) -> None:
        """Tells a gateway whose client left during an answer that it continues here (`taken_up`), and all gateways
        that what they know of its last message (`just_sent`) is out of date."""
        place, chat, attachment = self.place, self._chat, self._attachment
        chat.hub.known_of(place.company, place.conversation).sent = 0
        if attachment is not None:
            data = turn.Receipt(actor=place.caller.role, up_to_seq=asked)
            with suppress(GatewayError):
                await chat.bus.presence(place.company, place.conversation, PresenceKind.RECEIPT, data, attachment.id)

    def leave(self, asked: int) -> None:
        """Ends the thread when its client has gone, and stops the answer unless somebody resumes it."""

        async def wait() -> None:
            try:
                if not await self._taken_up():
                    await self._stop(asked)
            finally:
                await self.end()

        self._stop_waiting()
        self._chat.in_background(wait())

    async def _taken_up(self) -> bool:
        """Whether somebody resumes soon, at any gateway. A gateway that drains stops nothing."""
        try:
            async with asyncio.timeout(COMING_BACK):
                while True:
                    frame = await self._next()
                    if frame["type"] == PresenceKind.RECEIPT and frame.get("actor") == self.place.caller.role:
                        return True
        except TimeoutError:
            return False
        except GatewayError:
            return True
        return False

    async def error_in_words(self, error: GatewayError) -> str:
        """Says what went wrong, in the language that the client names, else in the message's, else in the company's."""
        companies = self._chat.companies
        return in_language(error.message, await companies.language_for(self.place.company, self._locale, self._said))

    # ------------------------------------------------------------------ inside and for Threads

    async def _begin(self) -> None:
        """Follows the conversation from now on; raises UnavailableError."""
        snapshot = await self._chat.recovery.join(self._attach())
        self.seq, self._owner = snapshot.seq, Owner.model_validate(snapshot.owner_data)
        known = self._chat.hub.known_of(self.place.company, self.place.conversation)
        known.whose = self.place.caller.subject
        if self.seq == 0:
            known.empty_at = asyncio.get_running_loop().time()
            known.has_actions = False
        self.young_until = known.empty_at + YOUNG

    def _follow(self, after: int) -> None:
        """Starts to follow after the fact `after`; errors are told to the reader."""
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
        """The next frame; raises the error that ended them, and NOT_FOUND: the conversation was deleted."""
        while (frame := self._frames.next()) is None or frame["type"] == _DELETED:
            await (self._frames.arrived() if frame is None else self._check_there())
        return frame

    async def _check_there(self) -> None:
        snapshot = await self._chat.log.snapshot(self.place.company, self.place.conversation)
        if snapshot.newest_visitor < self._asked:
            raise RefusedError(ErrorCode.NOT_FOUND, "the conversation was deleted: begin another one")

    def _exchange(self, asked: int, *, patient: bool) -> Exchange:
        self._asked = asked
        if self._reading is None:
            self._reading = Exchange(self.place.company, self.place.conversation, asked, self._rules, patient=patient)
        return self._reading

    async def _stop(self, asked: int) -> None:
        """Stops the answer for a client that will not ask again: until the log accepts it, or there is nothing to
        stop."""
        with suppress(RefusedError, TimeoutError):  # it has ended, as every answer has by then
            async with asyncio.timeout(PATIENCE):
                while True:
                    with suppress(UnavailableError):  # the bus is away: asked again below
                        return await self.cancel(asked)
                    await asyncio.sleep(AGAIN)

    async def _add_usage(self, told: list[Event], exchange: Exchange) -> None:
        """Adds the answer's usage before the end; its agent sends it right after the answer. Not what was reported
        before, or long ago."""
        place, end = next((place, event) for place, event in enumerate(told) if isinstance(event, Ended))
        if end.outcome is ExchangeEnd.ANSWERED and not exchange.counted and exchange.live:
            self.wait_at_most(USAGE_SECONDS)
            with suppress(TookTooLongError):
                while (usage := exchange.usage(await self._next())) is None:
                    pass
                told.insert(place, usage)

    async def _join(self, attachment: Attachment, frames: FrameQueue, after: int) -> None:
        recovery = self._chat.recovery
        try:
            await recovery.open(attachment, Cursor(epoch=await recovery.epoch(), seq=after))
            frames.push(_BEHIND)
        except GatewayError as error:
            frames.fail(error)
