"""Agents that die or freeze in the middle of a step. As after kill -9, they send nothing more and return no delivery;
as after SIGSTOP, they continue much later."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from agent.domain.turn.journal import Journal, TurnCall
from agent.ports import AppendOutcome, ConversationKey, Ending, Requester, TurnSnapshot
from agent.turns.deps import Ports
from contracts.conversation import Snapshot


class Killed(BaseException):
    """The process was killed. It is not an Exception, so that no handler catches it."""


@dataclass
class Death:
    """Dies at step `at` (from 0), before or after the step is done, and then sets `dead`.

    Steps are the agent's exchanges with the outside: reads of the conversation, saves, appends, tool calls.
    """

    at: int
    after: bool
    steps: list[str] = field(default_factory=list[str])
    dead: asyncio.Event = field(default_factory=asyncio.Event)

    async def step(self, name: str, work: Callable[[], Any]) -> Any:
        """Performs one step, or dies."""
        if self.dead.is_set():
            await self.happen()
        self.steps.append(name)
        is_target = len(self.steps) - 1 == self.at
        if is_target and not self.after:
            await self.happen()
        result = await work()
        if is_target and self.after:
            await self.happen()
        return result

    async def happen(self) -> None:
        """Dies now."""
        self.dead.set()
        raise Killed

    def around(self, ports: Ports) -> Ports:
        """Returns the ports, wrapped so that their calls count as steps."""
        return replace(
            ports,
            chat=_Chat(self, ports),
            journals=_Journals(self, ports),
            tools=_Tools(self, ports),
            own=_Own(self, ports),
        )


@dataclass
class Standstill(Death):
    """Freezes at the step until `thawed` is set; `dead` is set when it freezes."""

    thawed: asyncio.Event = field(default_factory=asyncio.Event)

    async def happen(self) -> None:
        """Freezes now, and returns when `thawed` is set."""
        self.dead.set()
        await self.thawed.wait()


class _Chat:
    def __init__(self, death: Death, ports: Ports) -> None:
        self._death, self._chat = death, ports.chat

    async def look(self, key: ConversationKey, at_least: int) -> TurnSnapshot:
        return await self._death.step("look", lambda: self._chat.look(key, at_least))

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        return await self._chat.behind_copies(key, view, answered)

    async def append(self, key: ConversationKey, ending: Ending, fence: int) -> AppendOutcome:
        return await self._death.step("append", lambda: self._chat.append(key, ending, fence))


class _Journals:
    def __init__(self, death: Death, ports: Ports) -> None:
        self._death, self._journals = death, ports.journals

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        return await self._journals.read(key)

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        return await self._death.step("save", lambda: self._journals.save(key, journal, revision))


class _Tools:
    def __init__(self, death: Death, ports: Ports) -> None:
        self._death, self._tools = death, ports.tools

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        return await self._death.step(
            "tool", lambda: self._tools.outcome(key, call, category, requester, turn_id, seconds)
        )


class _Own:
    def __init__(self, death: Death, ports: Ports) -> None:
        self._death, self._own = death, ports.own

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        return await self._death.step("own", lambda: self._own.outcome(key, call, requester))
