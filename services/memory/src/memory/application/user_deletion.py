"""Deleting a user: everything in every store and stream, and again a little later.

What other replicas were storing in the same moment comes to light a little later, so an erasure is a job: written down
first, carried out at once, swept once more, and only then taken off the list. A process that dies on the way, or a
store that is away, delays the rest and loses nothing of it.

A tool call that was running tells its outcome when it ends, up to a minute later: the process that swept looks for that
once more. It keeps no list of this but in its own memory, for a list would be what is left of the user.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.other_services import OtherServices
from memory.adapters.projection_floor import ProjectionFloor
from memory.domain.keys import LogPosition
from memory.erasure_ports import Erasure
from memory.errors import ProjectionBehind
from runtime.clock import Clock

FRESH = 10.0
"""Seconds to wait until everything that the log holds is in the store: what is not there yet cannot be deleted."""
AGAIN_AFTER = timedelta(seconds=5)
CALLS_END = timedelta(seconds=75)
"""By then a call that was running has ended, and its outcome is in the log (the executor gives a call 60 s)."""
SWEPT = 20
LATE = 1_000
"""Deletions that wait for calls to end, at most; the oldest is dropped."""


class UserDeletion:
    """Deletes users."""

    def __init__(
        self,
        *,
        store: MongoErasure,
        bus: StreamErasure,
        cache: CacheErasure,
        others: OtherServices,
        log: StreamLog,
        floor: ProjectionFloor,
        clock: Clock,
    ) -> None:
        self._store = store
        self._bus = bus
        self._cache = cache
        self._others = others
        self._log = log
        self._floor = floor
        self._clock = clock
        self._late: deque[Erasure] = deque(maxlen=LATE)

    async def forget(self, company: str, user: str) -> int:
        """Deletes the user; returns how many conversations there were. To be called again when it fails.

        Raises:
            ProjectionBehind, StoreUnavailable, CacheUnavailable, BusUnavailable, ServicesUnavailable.
        """
        await self._stored()
        begun = await self._store.begun(company, user)
        names = set(begun.conversations if begun else ()) | set(await self._store.conversations_of(company, user))
        job = Erasure(company, user, tuple(sorted(names)), self._clock.now(), LogPosition(0, 0))
        await self._store.begin(job)
        await self._everywhere(job)
        # From here on the names may be used anew: only what lies before this point is swept again.
        await self._store.begin(replace(job, up_to=LogPosition(self._log.era, await self._log.end())))
        return len(names)

    async def sweep(self) -> int:
        """Carries out again what was begun a while ago, and takes it off the list."""
        due: Sequence[Erasure] = await self._store.due(self._clock.now() - AGAIN_AFTER, SWEPT)
        ended = self._clock.now() - CALLS_END
        if due or (self._late and self._late[0].at <= ended):
            # Whoever has come back must be seen to have: what they have written since is not to be deleted.
            await self._stored()
        for job in due:
            if job.up_to.era == 0:
                await self._everywhere(job)
            else:
                await self._once_more(job)
            await self._store.done(job)
            self._late.append(job)
        while self._late and self._late[0].at <= ended:
            await self._after_calls(self._late[0])
            self._late.popleft()
        return len(due)

    async def _stored(self) -> None:
        """Returns once everything that the log holds is in the store; raises ProjectionBehind."""
        end = await self._log.end()
        if not await self._floor.reach(end, FRESH):
            raise ProjectionBehind(f"the projection is at {self._floor.seq} and the log ends at {end}: try again")

    async def _once_more(self, job: Erasure) -> None:
        if not await self._store.conversations_of(job.company, job.user):
            # They have not come back: what was still told of them meanwhile is of what has been deleted.
            await self._bus.erase(job.company, job.user, job.conversations)
        await self._cache.erase(job.company, job.user, job.conversations)
        await self._store.erase_late(job)

    async def _after_calls(self, job: Erasure) -> None:
        back = frozenset(await self._store.conversations_of(job.company, job.user))
        gone = replace(job, conversations=tuple(name for name in job.conversations if name not in back))
        if back:
            await self._bus.erase_told(job.company, job.user, gone.conversations)
        else:
            await self._bus.erase(job.company, job.user, gone.conversations)
        await self._store.erase_calls(gone, own=not back)

    async def _everywhere(self, job: Erasure) -> None:
        # Whoever tells facts of the user goes first, then the streams: what they no longer hold, nobody projects or
        # reads again.
        await self._others.erase(job.company, job.user)
        await self._bus.erase(job.company, job.user, job.conversations)
        await asyncio.gather(self._store.erase(job), self._cache.erase(job.company, job.user, job.conversations))
