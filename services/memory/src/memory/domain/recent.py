"""The window: the end of a conversation, cached so that prompts and snapshots need no database.

A window says up to which sequence it is complete. The log never changes below that, so a window is never wrong, only
old; its reader adds what the log has after it. There is no invalidation, and no race between readers and the
projection.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.conversation_rpc import MAX_PAGES, MessageView, VisitorProfile
from contracts.events.chat import Page, VisitorMessage
from memory.domain.facts import LogFact, view

HELD = 50
"""Messages in a window: enough for a snapshot."""
NEW_VISIT_AFTER = timedelta(minutes=30)
"""Silence after which a visitor is on a new visit (the usual session length of web statistics)."""


@dataclass(frozen=True, slots=True)
class VisitorTraits:
    """What the visitor's messages show about the visitor; `last_at` is the time of the newest message."""

    profile: VisitorProfile = field(default_factory=VisitorProfile)
    last_at: datetime | None = None

    def after(self, message: VisitorMessage, at: datetime) -> "VisitorTraits":
        """The traits with one more visitor message, which is the newest so far."""
        new_visit = self.last_at is not None and at - self.last_at > NEW_VISIT_AFTER
        old = self.profile
        profile = VisitorProfile(
            page=message.page or old.page,
            funnel_stage=message.funnel_stage or old.funnel_stage,
            locale=message.locale or old.locale,
            visits=old.visits + (1 if new_visit else 0),
            pages=_pages(old.pages, message),
            name=message.name or old.name,
            email=message.email or old.email,
        )
        return VisitorTraits(profile, at)


UNSEEN = VisitorTraits()


def _pages(before: list[Page] | None, message: VisitorMessage) -> list[Page] | None:
    """The latest pages visited, each once, the one written from last."""
    known = {page.url: page for page in before or ()}
    for address in message.visited or ():
        known.setdefault(address, Page(url=address))
    if message.page is not None:
        known.pop(message.page.url, None)
        known[message.page.url] = message.page
    return list(known.values())[-MAX_PAGES:] or before


@dataclass(frozen=True, slots=True)
class RecentMessages:
    """The newest messages with seq ≤ up_to, oldest first. `whole`: there are none before them."""

    up_to: int
    messages: tuple[MessageView, ...]
    whole: bool
    seen: VisitorTraits = UNSEEN

    def extended(self, facts: Iterable[LogFact], up_to: int, held: int = HELD) -> "RecentMessages":
        """The window plus the facts in (self.up_to, up_to], in order. A repeated message changes nothing."""
        messages = list(self.messages)
        known = {message.id for message in messages}
        seen = self.seen
        for fact in facts:
            if not self.up_to < fact.seq <= up_to:
                continue
            message = view(fact)
            if message is None or message.id in known:
                continue
            known.add(message.id)
            messages.append(message)
            if isinstance(fact.data, VisitorMessage):
                seen = seen.after(fact.data, fact.at)
        whole = self.whole and len(messages) <= held
        return RecentMessages(up_to, tuple(messages[-held:]), whole, seen)

    def last(self, limit: int, up_to: int) -> tuple[MessageView, ...] | None:
        """The newest `limit` messages with seq ≤ up_to; None if the window does not reach back far enough.

        Sequences of an earlier era of the log may be above `up_to`, but those messages are always older.
        """
        messages = self.messages
        end = len(messages)
        while end and up_to < messages[end - 1].seq <= self.up_to:
            end -= 1
        if end < limit and not self.whole:
            return None
        return messages[max(0, end - limit) : end]

    def since(self, after: int, up_to: int) -> tuple[MessageView, ...]:
        """The messages with after < seq ≤ up_to, as far as the window has them (see `reaches`).

        Messages of an earlier era are older than all others and belong only if `after` is 0.
        """
        messages = self.messages
        if after:
            return tuple(message for message in messages if after < message.seq <= up_to)
        end = len(messages)
        while end and up_to < messages[end - 1].seq <= self.up_to:
            end -= 1
        return messages[:end]

    def reaches(self, after: int) -> bool:
        """Whether the window has every message with seq > after."""
        return self.whole or any(message.seq <= after for message in self.messages)


def stored_window(messages: Sequence[LogFact], up_to: int, held: int, seen: VisitorTraits | None) -> RecentMessages:
    """A window of stored messages, oldest first; one more than `held` was requested."""
    views = [message for fact in messages if (message := view(fact)) is not None]
    if seen is None:
        seen = UNSEEN
        for fact in messages:
            if isinstance(fact.data, VisitorMessage):
                seen = seen.after(fact.data, fact.at)
    return RecentMessages(up_to, tuple(views[-held:]), len(views) <= held, seen)
