"""Reads, corrects, forgets and learns what is remembered of users, without lost updates."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog

from contracts.errors import NexusError
from contracts.memory_rpc import LongTermMemory, fact_id
from memory.adapters.announcements import BusAnnouncements
from memory.domain.fact_changes import all_forgotten, update, with_forgotten_words, without_history
from memory.domain.keys import LogPosition
from memory.domain.remembered import Remembered, with_patch
from memory.errors import CorrectionReusedError, MemoryMovedError, StoreUnavailableError
from memory.ports import MemoryStore
from runtime.calls.deadlines import caller_has_gone
from runtime.clock import Clock

ATTEMPTS = 60
"""Tries to store a memory that others change too."""
LONGEST_PAUSE = 0.05
"""The longest pause between two tries, in seconds."""
LOOKING_UP = 8.0
"""Seconds for checking whether a change was stored, if the store did not answer."""
LOOK_AGAIN = 0.2
TELLING = 2.0
"""Seconds for publishing that a memory has changed; without that it is read slightly later."""
NOTHING = "none"
"""The version of a memory that is not stored."""

_log = structlog.get_logger(__name__)

Change = Callable[[Remembered], Remembered]


class Memories:
    """The long-term memory of every user."""

    def __init__(self, *, store: MemoryStore, announcements: BusAnnouncements, clock: Clock) -> None:
        self._store = store
        self._announcements = announcements
        self._clock = clock
        # Updates of one user stand in line here; only other replicas' can still come in between.
        self._lines: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def get(self, company: str, user: str) -> LongTermMemory:
        """The user's memory; raises StoreUnavailableError."""
        return (await self._store.load(company, user)).state.dated_view()

    async def held(self, company: str, user: str) -> Remembered:
        """The user's memory together with what was forgotten; raises StoreUnavailableError."""
        return (await self._store.load(company, user)).state

    async def read(self, company: str, user: str) -> tuple[LongTermMemory, str]:
        """The user's memory, and its version for a correction; raises StoreUnavailableError."""
        held = await self._store.load(company, user)
        return held.state.dated_view(), held.version or NOTHING

    async def correct(
        self,
        company: str,
        user: str,
        patch: dict[str, object],
        *,
        over: str | None = None,
        request: str | None = None,
        body: str | None = None,
        about: str | None = None,
        past: Sequence[str] = (),
        corrects: Mapping[str, str] | None = None,
    ) -> LongTermMemory:
        """The memory after the user's own merge patch. `over`: the version that the patch was made from, if it was.
        `request`: its id; a patch that is in it already changes nothing. `body`: digest of what came under that id.
        `about`: what it forgets, in the user's words. `past`: what of the history it forgets.
        `corrects`: facts, each with what takes its place.

        Raises:
            BadMemoryError, CorrectionReusedError, MemoryMovedError, StoreUnavailableError.
        """
        mark = f"{request} {body}" if request and body else request

        def correction(state: Remembered) -> Remembered:
            if body and any(one.startswith(f"{request} ") for one in state.applied_requests):
                raise CorrectionReusedError("Idempotency-Key: it was used for another correction; choose a new one")
            now = self._clock.now()
            after = without_history(with_patch(state, patch, now), past, now)
            for old, new in (corrects or {}).items():
                changed = update(after, fact_id(old), new, now)
                after = changed.state if changed else after
            if about:
                after = with_forgotten_words(after, (about,), now)
            return after.with_request(mark) if mark else after

        _, after = await self.change(company, user, correction, over=over, request=mark)
        return after.dated_view()

    async def forget(self, company: str, user: str, said: LogPosition | None = None) -> bool:
        """Forgets everything; True if there was something. `said`: the log's end, if the user has said anything:
        nothing said up to there is learned afterwards.

        Raises:
            StoreUnavailableError.
        """
        if said is not None:
            before, _ = await self.change(company, user, lambda held: all_forgotten(held, said, self._clock.now()))
            return bool(changed_fields(before.memory, LongTermMemory()))
        gone = await self._store.delete(company, user)
        if gone:
            await self._tell(company, user, [], None)
        return gone

    async def change(
        self,
        company: str,
        user: str,
        change: Change,
        *,
        turn: str | None = None,
        over: str | None = None,
        request: str | None = None,
    ) -> tuple[Remembered, Remembered]:
        """The memory before and after. `change` is repeated on the stored memory until no other writer interferes; if
        it returns the same object, nothing is stored. A write without an answer is looked up by its own version.

        Raises:
            StoreUnavailableError: nothing was stored, or that could not be determined; what `change` raises.
            MemoryMovedError: what is stored is not `over`.
        """
        line = self._lines.setdefault((company, user), asyncio.Lock())
        async with line:
            version = uuid4().hex
            before = Remembered()
            until = 0.0
            for attempt in range(ATTEMPTS):
                try:
                    held = await self._store.load(company, user)
                except StoreUnavailableError:
                    if self._clock.monotonic() >= until:
                        raise
                    await asyncio.sleep(LOOK_AGAIN)
                    continue
                if held.version == version:
                    await self._tell_changes(company, user, before, held.state, turn)
                    return before, held.state
                if request is not None and request in held.state.applied_requests:
                    return held.state, held.state
                if over is not None and over != (held.version or NOTHING):
                    raise MemoryMovedError("what is remembered has changed meanwhile: read it again, then patch")
                if caller_has_gone():
                    raise StoreUnavailableError("the caller has stopped waiting for the change")
                after = change(held.state)
                if after is held.state:
                    return held.state, after
                try:
                    saved = await self._store.save(company, user, after, held.version, version)
                except StoreUnavailableError:
                    # It may be stored, or be stored in a moment: under the same version it cannot be stored twice.
                    before, until = held.state, until or self._clock.monotonic() + LOOKING_UP
                    if self._clock.monotonic() >= until:
                        raise
                else:
                    if saved:
                        await self._tell_changes(company, user, held.state, after, turn)
                        return held.state, after
                await asyncio.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.002 * 2**attempt)))
        raise StoreUnavailableError(f"the memory of {company}/{user} kept changing while it was stored: try again")

    async def _tell_changes(
        self, company: str, user: str, before: Remembered, after: Remembered, turn: str | None
    ) -> None:
        if fields := changed_fields(before.memory, after.memory):
            await self._tell(company, user, fields, turn)

    async def _tell(self, company: str, user: str, fields: list[str], turn: str | None) -> None:
        # A hint to read again, no more: that it cannot be given now must not undo what is stored.
        try:
            async with asyncio.timeout(TELLING):
                await self._announcements.memory_updated(company, user, fields, turn)
        except (TimeoutError, NexusError) as error:
            _log.warning("a changed memory was not told", company=company, error=str(error))


def changed_fields(before: LongTermMemory, after: LongTermMemory) -> list[str]:
    """The wire names of the fields that differ, apart from the time of the change."""
    old, new = before.to_wire(), after.to_wire()
    return sorted(name for name in {*old, *new} - {"updatedAt"} if old.get(name) != new.get(name))
