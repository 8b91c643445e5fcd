"""What is remembered of users: read, corrected, forgotten and learned, with no update lost."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog

from contracts.errors import NexusError
from contracts.memory_rpc import LongTermMemory, fact_id
from memory.adapters.announcements import BusAnnouncements
from memory.domain.fact_changes import all_forgotten, forgetting, update, without_past
from memory.domain.keys import LogPosition
from memory.domain.remembered import Remembered, corrected
from memory.errors import CorrectionReused, MemoryMoved, StoreUnavailable
from memory.ports import MemoryStore
from runtime.clock import Clock
from runtime.deadlines import passed

ATTEMPTS = 60
"""Tries to store a memory that others are changing too."""
LONGEST_PAUSE = 0.05
"""Seconds between two of these tries, at most."""
LOOKING_UP = 8.0
"""Seconds for which it is looked up whether a change is stored that the store did not answer for."""
LOOK_AGAIN = 0.2
TELLING = 2.0
"""Seconds for telling that a memory has changed; untold it is read a little later."""
NOTHING = "none"
"""The version of a memory of which nothing is stored."""

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
        """What is remembered; raises StoreUnavailable."""
        return (await self._store.load(company, user)).state.told()

    async def held(self, company: str, user: str) -> Remembered:
        """What is remembered and what was forgotten; raises StoreUnavailable."""
        return (await self._store.load(company, user)).state

    async def read(self, company: str, user: str) -> tuple[LongTermMemory, str]:
        """What is remembered, and the version of it that a correction may name; raises StoreUnavailable."""
        held = await self._store.load(company, user)
        return held.state.told(), held.version or NOTHING

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
            BadMemoryError, CorrectionReused, MemoryMoved, StoreUnavailable.
        """
        mark = f"{request} {body}" if request and body else request

        def correction(state: Remembered) -> Remembered:
            if body and any(one.startswith(f"{request} ") for one in state.done):
                raise CorrectionReused("Idempotency-Key: it was used for another correction; choose a new one")
            now = self._clock.now()
            after = without_past(corrected(state, patch, now), past, now)
            for old, new in (corrects or {}).items():
                changed = update(after, fact_id(old), new, now)
                after = changed.state if changed else after
            if about:
                after = forgetting(after, (about,), now)
            return after.corrected_by(mark) if mark else after

        _, after = await self.change(company, user, correction, over=over, request=mark)
        return after.told()

    async def forget(self, company: str, user: str, said: LogPosition | None = None) -> bool:
        """Forgets everything; True when there was something. `said`: where the log ends, if the user has said anything:
        what was said up to there is not learned afterwards.

        Raises:
            StoreUnavailable.
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
        """Before and after; `change` is tried on what is stored until nobody came in between. The same object back
        means that there is nothing to store. A write without an answer is looked up: it has a version of its own.

        Raises:
            StoreUnavailable: nothing was stored, or even looking it up did not tell; what `change` raises.
            MemoryMoved: what is stored is not `over`.
        """
        line = self._lines.setdefault((company, user), asyncio.Lock())
        async with line:
            version = uuid4().hex
            before = Remembered()
            until = 0.0
            for attempt in range(ATTEMPTS):
                try:
                    held = await self._store.load(company, user)
                except StoreUnavailable:
                    if self._clock.monotonic() >= until:
                        raise
                    await asyncio.sleep(LOOK_AGAIN)
                    continue
                if held.version == version:
                    await self._tell_changes(company, user, before, held.state, turn)
                    return before, held.state
                if request is not None and request in held.state.done:
                    return held.state, held.state
                if over is not None and over != (held.version or NOTHING):
                    raise MemoryMoved("what is remembered has changed meanwhile: read it again, then patch")
                if passed():
                    raise StoreUnavailable("whoever asked for the change has gone")
                after = change(held.state)
                if after is held.state:
                    return held.state, after
                try:
                    saved = await self._store.save(company, user, after, held.version, version)
                except StoreUnavailable:
                    # It may be stored, or be stored in a moment: under the same version it cannot be stored twice.
                    before, until = held.state, until or self._clock.monotonic() + LOOKING_UP
                    if self._clock.monotonic() >= until:
                        raise
                else:
                    if saved:
                        await self._tell_changes(company, user, held.state, after, turn)
                        return held.state, after
                await asyncio.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.002 * 2**attempt)))
        raise StoreUnavailable(f"the memory of {company}/{user} kept changing while it was stored: try again")

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
    """The names, as on the wire, of what differs; the time of the change is no difference."""
    old, new = before.to_wire(), after.to_wire()
    return sorted(name for name in {*old, *new} - {"updatedAt"} if old.get(name) != new.get(name))
