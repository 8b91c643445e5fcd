"""Performs the agent's own steps in the name of the user in the signed principal (ports.OwnCalls)."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import structlog

from agent.adapters.hand_offs import HandOffs
from agent.domain.hand_over import NAME
from agent.domain.shortcuts.memory_text import MAX_FACTS_SHOWN
from agent.domain.shortcuts.steps import DECIDE, FORGET, READ, REMEMBER, UNKNOWN
from agent.domain.text_features import symbols_in
from agent.domain.turn.journal import TurnCall
from agent.ports import ConversationKey, Requester
from contracts import market_rpc, memory_rpc
from contracts.errors import ErrorCode
from contracts.events.chat import Action, ActionState
from contracts.own_tools import ACTION_PREFIX
from contracts.tools_rpc import OWN_ACTION_DECIDE
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DECIDE_SECONDS = 8.0
"""Deadline of a yes or no, in seconds: the market-adapter books the order before it answers."""
MEMORY_SECONDS = 3.0
"""Deadline for memory to read or change what it knows of a user, in seconds."""
OWN_DECIDE_SECONDS = 35.0
"""The same of a company's own tool, whose call is made before it is answered."""
CHANGE_SECONDS = 10.0
"""Deadline of a change of remembered facts, in seconds, with looking up whether it was made."""
PAUSE = 0.25
"""Seconds between two questions whether it was."""
LEAST_SECONDS = 0.05
"""Seconds that a question has when the time is up."""
UNKNOWN_AFTER = (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
MOST_NOTES = 50
MOST_OLDER = 200
OWN_WORDS = ("userNotes", "preferences", "olderNotes")
"""Fields of a memory that hold facts in the user's words."""
_LISTS = ("user_notes", "preferences", "older_notes")
ATTEMPTS = 10
"""Tries at changing a memory that others are changing too."""
SHOWN_PAST = 5


@dataclass(frozen=True, slots=True)
class MemoryPatch:
    """A change to a memory, made from `version` of it; an empty one changes nothing. `patch`: a merge patch; `outcome`:
    what the step's outcome says about it; `about`: the words of the user that name what is forgotten; `past`: what is
    forgotten of the history; `corrects`: facts, each with the words that correct it."""

    patch: dict[str, Any]
    version: str | None
    outcome: dict[str, Any]
    about: str | None = None
    past: list[str] = field(default_factory=list[str])
    corrects: dict[str, str] = field(default_factory=dict[str, str])


def _page(memory: memory_rpc.LongTermMemory, after: int) -> dict[str, Any]:
    """Returns the page of a memory that a chat answer shows: the facts after the first so many. It is not an export."""
    every = [*memory.user_notes, *memory.preferences, *memory.older_notes]
    told = every[after : after + MAX_FACTS_SHOWN]
    lists = {name: [one for one in getattr(memory, name) if one in told] for name in _LISTS}
    left_out = {*every} - {*told}
    shown = memory.model_copy(
        update={
            **lists,
            "since": {fact: at for fact, at in memory.since.items() if fact not in left_out},
            "frequent_questions": memory.frequent_questions[:MAX_FACTS_SHOWN],
            "superseded": memory.superseded[:SHOWN_PAST],
        }
    )
    return {"memory": shown.to_wire(), "after": after, "more": len(every[after + MAX_FACTS_SHOWN :])}


def without_note(held: memory_rpc.MemoryReply, note: str) -> MemoryPatch:
    """The change that removes a note and brings back what the note had ended; an empty change if there is no such
    note."""
    wire = held.memory.to_wire()
    patch = {name: [one for one in wire[name] if one.casefold() != note.casefold()] for name in OWN_WORDS}
    patch = {name: kept for name, kept in patch.items() if len(kept) < len(wire[name])}
    if not patch:
        return MemoryPatch({}, held.version, {"forgotten": []})
    ended = [one.value for one in held.memory.superseded if one.by == note and one.field in OWN_WORDS]
    notes: list[str] = patch.get("userNotes", held.memory.user_notes)
    ended = ended[: MOST_NOTES - len(notes)]
    if ended:
        patch["userNotes"] = [*ended, *notes]
    return MemoryPatch(patch, held.version, {"forgotten": [note], "restored": ended, "facts": True})


class _UnansweredError(Exception):
    """An attempt at a change that got no answer. `outcome`: the outcome if it was made; None: it was never
    requested."""

    def __init__(self, outcome: dict[str, Any] | None, cause: RpcError) -> None:
        super().__init__(str(cause))
        self.outcome = outcome
        self.cause = cause


def _unknown() -> RpcError:
    return RpcError(UNKNOWN, "whether it was done cannot be told now", retryable=True)


def _seconds(end: float) -> float:
    """The time limit of one of several requests that must all be over by `end` (of the loop's clock)."""
    return max(min(MEMORY_SECONDS, end - asyncio.get_running_loop().time()), LEAST_SECONDS)


class BusOwnCalls:
    """Asks the market-adapter and memory. Every step may be performed again: the first decision stands."""

    def __init__(self, rpc: RpcClient, hand_offs: HandOffs) -> None:
        self._rpc = rpc
        self._hand_offs = hand_offs

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        """The result as JSON text; an error's code and message when it failed."""
        if call.tool == NAME:
            return await self._hand_offs.hand_over(key, call)
        arguments: dict[str, Any] = json.loads(call.arguments)
        try:
            if requester.user is None or requester.role != "user":
                raise RpcError(ErrorCode.UNAUTHORIZED, "nobody is signed in")
            data = await self._perform(key, requester.user, call, arguments)
        except RpcError as error:
            log.warning("own_step.failed", tool=call.tool, call_id=call.call_id, code=error.code)
            return json.dumps({"success": False, "error": {"code": error.code, "message": str(error)}})
        return json.dumps({"success": True, "data": data}, ensure_ascii=False)

    async def _perform(
        self, key: ConversationKey, user: str, call: TurnCall, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        company, tool = key.company, call.tool
        if tool == DECIDE:
            return await self._decide(key, user, arguments)
        who = memory_rpc.UserRef(company_id=company, user_id=user)
        if tool == FORGET and arguments.get("everything"):
            await self._forget(who)
            return {"everything": True}
        if tool == READ:
            memory = (await self._rpc.call(memory_rpc.MEMORY_GET, who, deadline=MEMORY_SECONDS)).memory
            return _page(memory, int(arguments.get("after") or 0))
        if tool == REMEMBER:
            note = str(arguments["note"])[:500]
            instead: str | None = arguments.get("instead")

            async def noted(seconds: float) -> MemoryPatch:
                held = await self._rpc.call(memory_rpc.MEMORY_GET, who, deadline=seconds)
                if instead is not None:
                    return MemoryPatch({}, held.version, {"note": note}, corrects={instead: note})
                others = [other for other in held.memory.user_notes if other.casefold() != note.casefold()]
                notes = [note, *others]
                patch = {"userNotes": notes[:MOST_NOTES]}
                if pushed_out := notes[MOST_NOTES:]:
                    patch["olderNotes"] = [*pushed_out, *held.memory.older_notes][:MOST_OLDER]
                return MemoryPatch(patch, held.version, {"note": note})

            return await self._change(who, noted, call.call_id)

        if note := str(arguments.get("note") or ""):

            async def not_noted(seconds: float) -> MemoryPatch:
                held = await self._rpc.call(memory_rpc.MEMORY_GET, who, deadline=seconds)
                return without_note(held, note)

            return await self._change(who, not_noted, call.call_id)

        about = str(arguments["about"])[:500]
        symbols = list(dict.fromkeys([*symbols_in(about), *symbols_in(about.upper())]))
        words = memory_rpc.MeantRequest(company_id=company, user_id=user, about=about, symbols=symbols)

        async def without(seconds: float) -> MemoryPatch:
            found = await self._rpc.call(memory_rpc.MEMORY_MEANT, words, deadline=seconds)
            # A note, unlike a style or a favourite, is remembered again by its words alone.
            facts = found.patch.keys() <= set(OWN_WORDS)
            outcome = {"forgotten": found.texts, "several": found.several, "facts": facts and not found.past}
            by_id = any(memory_rpc.fact_id(one) == about for one in found.texts)
            return MemoryPatch(found.patch, found.version, outcome, None if by_id else about, past=found.past)

        return await self._change(who, without, call.call_id)

    async def _forget(self, who: memory_rpc.UserRef) -> None:
        """Repeats the request until its outcome is known: forgetting twice does no harm."""
        end = asyncio.get_running_loop().time() + CHANGE_SECONDS
        while True:
            try:
                await self._rpc.call(memory_rpc.MEMORY_DELETE, who, deadline=_seconds(end))
            except RpcError as error:
                if error.code not in UNKNOWN_AFTER:
                    raise
                if asyncio.get_running_loop().time() + PAUSE >= end:
                    raise _unknown() from error
                await asyncio.sleep(PAUSE)
            else:
                return

    async def _change(
        self,
        who: memory_rpc.UserRef,
        look: Callable[[float], Awaitable[MemoryPatch]],
        call_id: str,
    ) -> dict[str, Any]:
        """Changes the memory and returns the outcome. The change is stored only over the version that it was made
        from, since lists are replaced whole and what was learned meanwhile must not be lost. A change without an
        answer is requested again under its own id; it takes effect once."""
        end = asyncio.get_running_loop().time() + CHANGE_SECONDS
        sent: dict[str, Any] | None = None
        for _ in range(ATTEMPTS):
            try:
                outcome = await self._changed(who, look, call_id, end)
            except _UnansweredError as error:
                sent = error.outcome or sent
                if asyncio.get_running_loop().time() + PAUSE >= end:
                    raise (error.cause if sent is None else _unknown()) from error
                await asyncio.sleep(PAUSE)
                continue
            if outcome is not None:
                return sent or outcome
        raise RpcError(ErrorCode.UNAVAILABLE, "what is remembered kept changing: try again", retryable=True)

    async def _changed(
        self,
        who: memory_rpc.UserRef,
        look: Callable[[float], Awaitable[MemoryPatch]],
        call_id: str,
        end: float,
    ) -> dict[str, Any] | None:
        """The outcome of one try, over by `end`; None: something else was stored meanwhile. Raises RpcError,
        _Unanswered."""
        outcome: dict[str, Any] | None = None
        try:
            change = await look(_seconds(end))
            if not (change.patch or change.past or change.corrects):
                return change.outcome
            request = memory_rpc.MemoryPatchRequest(
                company_id=who.company_id,
                user_id=who.user_id,
                patch=change.patch,
                over=change.version,
                request_id=call_id,
                about=change.about,
                past=change.past or None,
                corrects=change.corrects or None,
            )
            outcome = change.outcome
            await self._rpc.call(memory_rpc.MEMORY_PATCH, request, deadline=_seconds(end))
        except RpcError as error:
            if error.code == ErrorCode.PRECONDITION_FAILED:
                return None
            if error.code in UNKNOWN_AFTER:
                raise _UnansweredError(outcome, error) from error
            raise
        return outcome

    async def _decide(self, key: ConversationKey, user: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The action after the decision, or the waiting actions if the user's words do not say which one they mean."""
        action, digest = arguments.get("actionId"), arguments.get("contentHash")
        if not arguments.get("named"):
            waiting = await self._waiting(key, user, asked=action)
            unclear = len(waiting) > 1 if action is None else len(waiting) > 1 and action in {one.id for one in waiting}
            if unclear or (action is None and not waiting):
                return {"pending": [one.to_wire() for one in waiting]}
            if action is None:
                action, digest = waiting[0].id, waiting[0].details.get("contentHash")
        request = market_rpc.ActionDecideRequest.model_validate(
            {
                "company_id": key.company,
                "user_id": user,
                "action_id": action,
                "decision": arguments["decision"],
                "content_hash": digest,
            }
        )
        own = request.action_id.startswith(ACTION_PREFIX)
        method, seconds = (OWN_ACTION_DECIDE, OWN_DECIDE_SECONDS) if own else (market_rpc.ACTION_DECIDE, DECIDE_SECONDS)
        reply = await self._rpc.call(method, request, deadline=seconds)
        decided = {"action": reply.action.to_wire()}
        if not arguments.get("oneOf"):
            return decided
        # One of several: the others go on waiting, and the next yes or no may be about them.
        rest = [one for one in await self._waiting(key, user, asked=reply.action.id) if one.id != reply.action.id]
        return {**decided, "rest": [one.to_wire() for one in rest]}

    async def _waiting(self, key: ConversationKey, user: str, asked: str | None) -> list[Action]:
        """Returns the actions that wait for the user's confirmation in this conversation, including those asked about
        there; if there are none, those that wait anywhere."""
        who = memory_rpc.UserRef(company_id=key.company, user_id=user)
        actions = (await self._rpc.call(market_rpc.ACTIONS_PENDING, who, deadline=DECIDE_SECONDS)).actions
        waiting = [action for action in actions if action.state is ActionState.PENDING]
        here = [one for one in waiting if one.id == asked or one.details.get("conversationId") == key.conversation]
        return here if here or asked else waiting
