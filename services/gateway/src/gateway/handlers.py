"""Handlers of client frames: one thin function for each type."""

from __future__ import annotations

from dataclasses import replace

import structlog

from contracts import ws
from contracts.channels import ChatKind, PresenceKind
from contracts.conversation import Snapshot
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events import turn
from gateway.chat.commands import ConversationPlace, MessageDraft, message_id
from gateway.chat.customers import has_account
from gateway.chat.hub import Attachment
from gateway.chat.session import ClientSession, Handler
from gateway.domain import server_frames
from gateway.errors import RefusedError, not_found
from gateway.metrics import ACKNOWLEDGED_SECONDS
from gateway.ports import TokenCaller
from runtime.bus.publisher import Appended
from runtime.observability.gen_ai import CONVERSATION
from runtime.observability.telemetry import span

log = structlog.get_logger(__name__)

TYPING_MS = 5_000


async def _ping(session: ClientSession, _: TokenCaller, frame: ws.Ping) -> None:
    session.push(server_frames.pong(frame.conversation_id or session.home))


async def _send(session: ClientSession, caller: TokenCaller, frame: ws.MessageSend) -> None:
    attachment = session.attachment(frame)
    place = ConversationPlace(caller, attachment.conversation)
    identity = message_id(place, frame.client_message_id)
    attachment.expect_message(identity, frame.client_message_id)
    try:
        with ACKNOWLEDGED_SECONDS.time(), span("chat.message", **{CONVERSATION: place.conversation}):
            stored = await session.chat.commands.find_sent(place, frame.client_message_id) if frame.retry else None
            if stored is None:
                stored = await _store(session, place, frame)
            log.debug("chat.stored", seq=stored.seq, duplicate=stored.duplicate)
    except Exception:
        if attachment.stop_expecting(identity):
            raise
        # The acknowledgement was lost, but the message itself has arrived on the live feed.
        session.started.add(attachment.conversation)
        return
    session.started.add(attachment.conversation)
    if session.previous is not None and place.conversation == session.home:
        session.chat.in_background(_report_follow_up(session, place, session.previous))
        session.previous = None
    attachment.acknowledge(identity, stored.seq, duplicate=stored.duplicate)
    session.chat.expect_fact(attachment, stored.seq)


async def _report_follow_up(session: ClientSession, place: ConversationPlace, previous: str) -> None:
    """Reports the conversation that this one follows; if that fails, it is reported with the next message."""
    if not await session.chat.topics.report_follow_up(place.caller, place.conversation, previous):
        session.previous = previous


async def _store(session: ClientSession, place: ConversationPlace, frame: ws.MessageSend) -> Appended:
    caller, commands = place.caller, session.chat.commands
    session.page = frame.page or session.page
    files = await session.chat.files.file_refs(place, frame.files)
    draft = MessageDraft(frame.client_message_id, frame.text, session.locale, session.page, door="chat", files=files)
    draft = replace(draft, visited=frame.visited, seen_seq=frame.seen_seq)
    if caller.is_operator:
        return await commands.send_as_operator(place, draft)
    session.chat.limits.count_message(
        f"{caller.company}/{caller.subject}",
        session.address,
        opens_conversation=place.conversation not in session.started,
    )
    return await commands.send_as_visitor(place, draft)


async def _typing(session: ClientSession, caller: TokenCaller, frame: ws.Typing) -> None:
    data = turn.Typing(actor=_actor(caller), expires_in_ms=TYPING_MS, name=_shown_name(caller))
    await _publish_presence(session, caller, session.attachment(frame), PresenceKind.TYPING, data)


async def _receipt(session: ClientSession, caller: TokenCaller, frame: ws.Receipt) -> None:
    data = turn.Receipt(actor=_actor(caller), up_to_seq=frame.up_to_seq, name=_shown_name(caller))
    await _publish_presence(session, caller, session.attachment(frame), PresenceKind.RECEIPT, data)


async def _publish_presence(
    session: ClientSession, caller: TokenCaller, attachment: Attachment, kind: PresenceKind, data: Wire
) -> None:
    if caller.is_operator:
        # In the background, so that the client's next frames do not wait for it.
        read_seq = data.up_to_seq if isinstance(data, turn.Receipt) else None
        session.chat.in_background(session.chat.looks.note(caller, attachment.conversation, read_seq))
    await session.chat.bus.publish_presence(attachment.company, attachment.conversation, kind, data, attachment.id)


def _actor(caller: TokenCaller) -> str:
    return "operator" if caller.is_operator else caller.role


def _shown_name(caller: TokenCaller) -> str | None:
    return caller.name if caller.is_operator else None


async def _cancel(session: ClientSession, caller: TokenCaller, frame: ws.RunCancel) -> None:
    await session.chat.commands.cancel(_place(session, caller, frame), frame.turn_id)


async def _decide_action(
    session: ClientSession, caller: TokenCaller, frame: ws.ActionConfirm | ws.ActionReject
) -> None:
    session.attachment(frame)
    if not has_account(caller):
        raise not_found("action waiting for a decision")
    decision = "confirm" if isinstance(frame, ws.ActionConfirm) else "reject"
    edits = frame.edits if isinstance(frame, ws.ActionConfirm) else None
    await session.chat.customers.decide(caller, session, frame.action_id, decision, edits)


async def _feedback(session: ClientSession, caller: TokenCaller, frame: ws.Feedback) -> None:
    place = _place(session, caller, frame)
    await session.chat.commands.give_feedback(place, frame.message_id, frame.rating, frame.reason)


async def _rate(session: ClientSession, caller: TokenCaller, frame: ws.ConversationRate) -> None:
    place = _place(session, caller, frame)
    if caller.is_operator:
        raise RefusedError(ErrorCode.FORBIDDEN, "only the visitor or customer it belongs to can rate a conversation")
    await session.chat.commands.rate(place, frame.score, frame.comment)


async def _handoff(session: ClientSession, caller: TokenCaller, frame: ws.HandoffRequest) -> None:
    place = _place(session, caller, frame)
    _push_unchanged_owner(session, frame, await session.chat.commands.ask_for_person(place, session.locale))


async def _take(session: ClientSession, caller: TokenCaller, frame: ws.OwnerTake) -> None:
    place = await _watched_place(session, caller, frame)
    _push_unchanged_owner(session, frame, await session.chat.commands.take(place, frame.seen_seq))


async def _release(session: ClientSession, caller: TokenCaller, frame: ws.OwnerRelease) -> None:
    place = await _watched_place(session, caller, frame)
    _push_unchanged_owner(session, frame, await session.chat.commands.release(place))


def _push_unchanged_owner(session: ClientSession, frame: ws.ClientFrame, unchanged: Snapshot | None) -> None:
    """Sends the current owner to the client if nothing had to change, since then no fact reports it. Facts that the
    client has missed are sent first."""
    if unchanged is None:
        return
    attachment = session.attachment(frame)
    if unchanged.owner_seq > attachment.feed.cursor:
        session.chat.in_background(session.chat.recovery.resync(attachment))
        return
    fact = unchanged.last.get(ChatKind.OWNER)
    fact_frame = server_frames.fact_frame(attachment.conversation, fact) if fact is not None else None
    owner_frame = server_frames.owner_changed(attachment.conversation, unchanged.owner_data, unchanged.owner_seq)
    session.push(fact_frame or owner_frame)


async def _watch(session: ClientSession, caller: TokenCaller, frame: ws.ConversationWatch) -> None:
    _operators_only(caller)
    if frame.conversation_id is None:
        raise RefusedError(ErrorCode.BAD_FIELD, "conversationId: say which conversation to watch")
    await _watch_conversation(session, caller, frame.conversation_id, frame.since)


async def _watch_inbox(session: ClientSession, caller: TokenCaller, _: ws.InboxWatch) -> None:
    _operators_only(caller)
    if not session.closed:
        await session.chat.inboxes.watch(caller, session)


async def _watched_place(
    session: ClientSession, caller: TokenCaller, frame: ws.OwnerTake | ws.OwnerRelease
) -> ConversationPlace:
    """The conversation that a human agent takes or releases; it is opened if they do not watch it yet."""
    _operators_only(caller)
    if frame.conversation_id is not None and not session.follows(frame.conversation_id):
        await _watch_conversation(session, caller, frame.conversation_id, None)
    return _place(session, caller, frame)


async def _watch_conversation(
    session: ClientSession, caller: TokenCaller, conversation: str, since: ws.Cursor | None
) -> None:
    await session.chat.access.check_watchable(caller, conversation)
    await session.follow(caller, conversation, since)


def _place(session: ClientSession, caller: TokenCaller, frame: ws.ClientFrame) -> ConversationPlace:
    return ConversationPlace(caller, session.attachment(frame).conversation)


def _operators_only(caller: TokenCaller) -> None:
    if not caller.is_operator:
        raise RefusedError(ErrorCode.FORBIDDEN, "this is for human agents")


HANDLERS: dict[type[ws.ClientFrame], Handler] = {
    ws.Ping: _ping,
    ws.MessageSend: _send,
    ws.Typing: _typing,
    ws.Receipt: _receipt,
    ws.RunCancel: _cancel,
    ws.ActionConfirm: _decide_action,
    ws.ActionReject: _decide_action,
    ws.Feedback: _feedback,
    ws.ConversationRate: _rate,
    ws.HandoffRequest: _handoff,
    ws.OwnerTake: _take,
    ws.OwnerRelease: _release,
    ws.ConversationWatch: _watch,
    ws.InboxWatch: _watch_inbox,
}
