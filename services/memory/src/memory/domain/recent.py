"""The window: the cached end of a conversation, so that prompts and snapshots need no database.

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

WINDOW_SIZE = 50
"""Messages in a window: enough for a snapshot."""
NEW_VISIT_AFTER = timedelta(minutes=30)
"""Silence after which a message begins a new visit (the usual session length of web statistics)."""


@dataclass(frozen=True, slots=True)
class VisitorTraits:
    """What a visitor's messages show about the visitor; `last_at` is the time of the newest message."""

    profile: VisitorProfile = field(default_factory=VisitorProfile)
    last_at: datetime | None = None

    def after(self, message: VisitorMessage, at: datetime) -> "VisitorTraits":
        """Returns the traits with one more visitor message, which is the newest so far."""
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
    """Returns the latest pages visited, each once, ending with the one that the message was written on."""
    known = {page.url: page for page in before or ()}
    for address in message.visited or ():
        known.setdefault(address, Page(url=address))
    if message.page is not None:
        known.pop(message.page.url, None)
        known[message.page.url] = message.page
    return list(known.values())[-MAX_PAGES:] or before


@dataclass(frozen=True, slots=True)
class RecentMessages:
    """The newest messages with seq ≤ up_to, oldest first. `is_complete`: there are no earlier ones."""

    up_to: int
    messages: tuple[MessageView, ...]
    is_complete: bool
    visitor_traits: VisitorTraits = UNSEEN

    def extended(self, facts: Iterable[LogFact], up_to: int, limit: int = WINDOW_SIZE) -> "RecentMessages":
        """Returns the window with the facts in (self.up_to, up_to], in order. A repeated message changes nothing."""
        messages = list(self.messages)
        known_ids = {message.id for message in messages}
        traits = self.visitor_traits
        for fact in facts:
            if not self.up_to < fact.seq <= up_to:
                continue
            message = view(fact)
            if message is None or message.id in known_ids:
                continue
            known_ids.add(message.id)
            messages.append(message)
            if isinstance(fact.data, VisitorMessage):
                traits = traits.after(fact.data, fact.at)
        is_complete = self.is_complete and len(messages) <= limit
        return RecentMessages(up_to, tuple(messages[-limit:]), is_complete, traits)

    def last(self, limit: int, up_to: int) -> tuple[MessageView, ...] | None:
        """Returns the newest `limit` messages with seq ≤ up_to; None if the window does not reach back far enough.

        Messages of an earlier era of the log may have sequences above `up_to`, but are always older.
        """
        messages = self.messages
        end = len(messages)
        while end and up_to < messages[end - 1].seq <= self.up_to:
            end -= 1
        if end < limit and not self.is_complete:
            return None
        return messages[max(0, end - limit) : end]

    def since(self, after: int, up_to: int) -> tuple[MessageView, ...]:
        """Returns the messages with after < seq ≤ up_to, as far as the window has them (see `reaches`).

        Messages of an earlier era are older than all others and are included only if `after` is 0.
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
        return self.is_complete or any(message.seq <= after for message in self.messages)


def stored_window(messages: Sequence[LogFact], up_to: int, limit: int, traits: VisitorTraits | None) -> RecentMessages:
    """Returns a window of stored messages, oldest first, of which one more than `limit` was requested."""
    views = [message for fact in messages if (message := view(fact)) is not None]
    if traits is None:
        traits = UNSEEN
        for fact in messages:
            if isinstance(fact.data, VisitorMessage):
                traits = traits.after(fact.data, fact.at)
    return RecentMessages(up_to, tuple(views[-limit:]), len(views) <= limit, traits)
