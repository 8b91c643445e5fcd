"""Reads, corrects, extends and forgets what is remembered about users, without lost updates."""

import asyncio
import random
from collections.abc import Callable
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog

from contracts.errors import NexusError
from contracts.memory_rpc import LongTermMemory, MemoryPatchRequest, MemoryReply, fact_id
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.mongo_memories import MongoMemories
from memory.domain.fact_changes import all_forgotten, update, with_forgotten_words, without_history
from memory.domain.keys import LogPosition
from memory.domain.remembered import Remembered, with_patch
from memory.errors import ConflictError, MovedError, StoreUnavailableError
from runtime.calls.deadlines import caller_has_gone
from runtime.clock import Clock

ATTEMPTS = 60
"""How often storing a memory is tried while others change it too."""
MAX_PAUSE_SECONDS = 0.05
"""The longest pause between two attempts."""
LOOKUP_SECONDS = 8.0
"""How long to find out whether a change was stored if the store did not answer."""
LOOKUP_INTERVAL_SECONDS = 0.2
"""Pause between two lookups of a change."""
PUBLISH_TIMEOUT_SECONDS = 2.0
"""Deadline for publishing that a memory has changed; without that event it is read slightly later."""
NO_VERSION = "none"
"""The version of a memory that is not stored."""

_log = structlog.get_logger(__name__)

Change = Callable[[Remembered], Remembered]


class Memories:
    """The long-term memory of every user."""

    def __init__(self, *, store: MongoMemories, announcements: BusAnnouncements, clock: Clock) -> None:
        self._store = store
        self._announcements = announcements
        self._clock = clock
        # Changes of one user are made one after another here; only those of other replicas can interfere.
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def held(self, company: str, user: str) -> Remembered:
        """The user's memory together with what was forgotten; raises StoreUnavailableError."""
        return (await self._store.load(company, user)).state

    async def read(self, company: str, user: str) -> tuple[LongTermMemory, str]:
        """The user's memory, and its version for a correction; raises StoreUnavailableError."""
        stored = await self._store.load(company, user)
        return stored.state.dated_view(), stored.version or NO_VERSION

    async def correct(self, request: MemoryPatchRequest) -> MemoryReply:
        """Applies the user's own merge patch, and returns the memory after it.

        Raises:
            BadFieldsError, ConflictError, MovedError, StoreUnavailableError.
        """
        request_id, digest = request.request_id, request.body
        mark = f"{request_id} {digest}" if request_id and digest else request_id

        def correction(state: Remembered) -> Remembered:
            if digest and any(entry.startswith(f"{request_id} ") for entry in state.applied_requests):
                raise ConflictError("Idempotency-Key: it was used for another correction; choose a new one")
            now = self._clock.now()
            changed_state = without_history(with_patch(state, request.patch, now), request.past or (), now)
            for old, new in (request.corrects or {}).items():
                changed_state = update(changed_state, fact_id(old), new, now).state
            if request.about:
                changed_state = with_forgotten_words(changed_state, (request.about,), now)
            return changed_state.with_request(mark) if mark else changed_state

        _, after = await self.change(
            request.company_id, request.user_id, correction, base_version=request.over, request=mark
        )
        return MemoryReply(memory=after.dated_view())

    async def forget(self, company: str, user: str, said_up_to: LogPosition | None = None) -> bool:
        """Forgets everything; returns whether there was anything. `said_up_to`: the log's end if the user has written
        anything: nothing that was said up to there is learned afterwards.

        Raises:
            StoreUnavailableError.
        """
        if said_up_to is not None:
            before, _ = await self.change(
                company, user, lambda state: all_forgotten(state, said_up_to, self._clock.now())
            )
            return bool(changed_fields(before.memory, LongTermMemory()))
        deleted = await self._store.delete(company, user)
        if deleted:
            await self._publish(company, user, [], None)
        return deleted

    async def change(
        self,
        company: str,
        user: str,
        change: Change,
        *,
        turn: str | None = None,
        base_version: str | None = None,
        request: str | None = None,
    ) -> tuple[Remembered, Remembered]:
        """Changes a memory; returns it as it was before and after.

        `change` is repeated on the stored memory until no other writer interferes; if it returns the same object,
        nothing is stored. If the store does not answer a write, it is looked up by its own version. `request`: a
        correction that was applied before changes nothing.

        Raises:
            StoreUnavailableError: nothing was stored, or that could not be determined.
            MovedError: the stored version is not `base_version`.
            What `change` raises.
        """
        lock = self._locks.setdefault((company, user), asyncio.Lock())
        async with lock:
            version = uuid4().hex
            before = Remembered()
            give_up_at = 0.0
            for attempt in range(ATTEMPTS):
                try:
                    stored = await self._store.load(company, user)
                except StoreUnavailableError:
                    if self._clock.monotonic() >= give_up_at:
                        raise
                    await asyncio.sleep(LOOKUP_INTERVAL_SECONDS)
                    continue
                if stored.version == version:
                    await self._publish_changes(company, user, before, stored.state, turn)
                    return before, stored.state
                if request is not None and request in stored.state.applied_requests:
                    return stored.state, stored.state
                if base_version is not None and base_version != (stored.version or NO_VERSION):
                    raise MovedError("what is remembered has changed meanwhile: read it again, then patch")
                if caller_has_gone():
                    raise StoreUnavailableError("the caller has stopped waiting for the change")
                # A long message is compared with hundreds of facts: other callers are served meanwhile.
                changed = await asyncio.to_thread(change, stored.state)
                if changed is stored.state:
                    return stored.state, changed
                try:
                    saved = await self._store.save(company, user, changed, stored.version, version)
                except StoreUnavailableError:
                    # The write may have been applied, or may be in a moment: with the same version it cannot be applied
                    # twice.
                    before, give_up_at = stored.state, give_up_at or self._clock.monotonic() + LOOKUP_SECONDS
                    if self._clock.monotonic() >= give_up_at:
                        raise
                else:
                    if saved:
                        await self._publish_changes(company, user, stored.state, changed, turn)
                        return stored.state, changed
                await asyncio.sleep(random.uniform(0, min(MAX_PAUSE_SECONDS, 0.002 * 2**attempt)))
        raise StoreUnavailableError(f"the memory of {company}/{user} kept changing while it was stored: try again")

    async def _publish_changes(
        self, company: str, user: str, before: Remembered, after: Remembered, turn: str | None
    ) -> None:
        if fields := changed_fields(before.memory, after.memory):
            await self._publish(company, user, fields, turn)

    async def _publish(self, company: str, user: str, fields: list[str], turn: str | None) -> None:
        # The event is only a hint to read again: if it cannot be published now, the change stays stored.
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT_SECONDS):
                await self._announcements.memory_updated(company, user, fields, turn)
        except (TimeoutError, NexusError) as error:
            _log.warning("a changed memory was not told", company=company, error=str(error))


def changed_fields(before: LongTermMemory, after: LongTermMemory) -> list[str]:
    """The wire names of the fields that differ, apart from the time of the change."""
    old, new = before.to_wire(), after.to_wire()
    return sorted(name for name in {*old, *new} - {"updatedAt"} if old.get(name) != new.get(name))
