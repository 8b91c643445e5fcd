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
"""Deadline in seconds of a decision about an order: the market-adapter books the order before it answers."""
MEMORY_SECONDS = 3.0
"""Deadline in seconds of one request to memory."""
OWN_DECIDE_SECONDS = 35.0
"""Deadline in seconds of a decision about a company's own tool, which is called before the answer."""
CHANGE_SECONDS = 10.0
"""Deadline in seconds of a change of remembered facts, including the requests that find out whether it was made."""
RETRY_PAUSE_SECONDS = 0.25
"""Seconds between two such requests."""
MIN_REQUEST_SECONDS = 0.05
"""Shortest deadline in seconds of a request, even when the time is up."""
UNKNOWN_OUTCOME_CODES = (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
MAX_NOTES = 50
MAX_OLDER_NOTES = 200
USER_WORDED_FIELDS = ("userNotes", "preferences", "olderNotes")
"""Fields of a memory that contain facts in the user's words."""
_LISTS = ("user_notes", "preferences", "older_notes")
MAX_ATTEMPTS = 10
"""Attempts to change a memory that others change at the same time."""
MAX_SHOWN_SUPERSEDED = 5


@dataclass(frozen=True, slots=True)
class MemoryPatch:
    """A change of the memory's `version`; an empty one changes nothing. `patch`: a merge patch. `outcome`: the result
    of the step. `about`: the user's words that name what to forget. `past`: entries of the history to forget.
    `corrects`: facts, each with the words that correct it."""

    patch: dict[str, Any]
    version: str | None
    outcome: dict[str, Any]
    about: str | None = None
    past: list[str] = field(default_factory=list[str])
    corrects: dict[str, str] = field(default_factory=dict[str, str])


def _page(memory: memory_rpc.LongTermMemory, after: int) -> dict[str, Any]:
    """Returns the part of a memory that a chat answer shows: SHOWN facts after the first `after`. It is no export."""
    facts = [*memory.user_notes, *memory.preferences, *memory.older_notes]
    shown_facts = facts[after : after + MAX_FACTS_SHOWN]
    lists = {name: [fact for fact in getattr(memory, name) if fact in shown_facts] for name in _LISTS}
    hidden_facts = {*facts} - {*shown_facts}
    shown = memory.model_copy(
        update={
            **lists,
            "since": {fact: since for fact, since in memory.since.items() if fact not in hidden_facts},
            "frequent_questions": memory.frequent_questions[:MAX_FACTS_SHOWN],
            "superseded": memory.superseded[:MAX_SHOWN_SUPERSEDED],
        }
    )
    return {"memory": shown.to_wire(), "after": after, "more": len(facts[after + MAX_FACTS_SHOWN :])}


def without_note(reply: memory_rpc.MemoryReply, note: str) -> MemoryPatch:
    """Returns the change that removes a note and restores the facts that the note had replaced; an empty change if
    there is no such note."""
    wire = reply.memory.to_wire()
    patch = {
        name: [entry for entry in wire[name] if entry.casefold() != note.casefold()] for name in USER_WORDED_FIELDS
    }
    patch = {name: remaining for name, remaining in patch.items() if len(remaining) < len(wire[name])}
    if not patch:
        return MemoryPatch({}, reply.version, {"forgotten": []})
    restored = [
        entry.value for entry in reply.memory.superseded if entry.by == note and entry.field in USER_WORDED_FIELDS
    ]
    notes: list[str] = patch.get("userNotes", reply.memory.user_notes)
    restored = restored[: MAX_NOTES - len(notes)]
    if restored:
        patch["userNotes"] = [*restored, *notes]
    return MemoryPatch(patch, reply.version, {"forgotten": [note], "restored": restored, "facts": True})


class _UnansweredError(Exception):
    """A change was attempted, but got no answer. `outcome`: the outcome if the change was made; None if the change was
    never requested."""

    def __init__(self, outcome: dict[str, Any] | None, cause: RpcError) -> None:
        super().__init__(str(cause))
        self.outcome = outcome
        self.cause = cause


def _outcome_unknown() -> RpcError:
    return RpcError(UNKNOWN, "whether it was done cannot be told now", retryable=True)


def _request_seconds(deadline: float) -> float:
    """Returns the time limit in seconds of a request that must end by `deadline` (loop time)."""
    return max(min(MEMORY_SECONDS, deadline - asyncio.get_running_loop().time()), MIN_REQUEST_SECONDS)


class BusOwnCalls:
    """Sends requests to the market-adapter and memory. Every step may be repeated: only the first decision counts."""

    def __init__(self, rpc: RpcClient, hand_offs: HandOffs) -> None:
        self._rpc = rpc
        self._hand_offs = hand_offs

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        """Returns the result as JSON text; of a failed step, the error's code and message."""
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
        user_ref = memory_rpc.UserRef(company_id=company, user_id=user)
        if tool == FORGET and arguments.get("everything"):
            await self._forget(user_ref)
            return {"everything": True}
        if tool == READ:
            memory = (await self._rpc.call(memory_rpc.MEMORY_GET, user_ref, deadline=MEMORY_SECONDS)).memory
            return _page(memory, int(arguments.get("after") or 0))
        if tool == REMEMBER:
            note = str(arguments["note"])[:500]
            replaced_fact: str | None = arguments.get("instead")

            async def patch_with_note(seconds: float) -> MemoryPatch:
                reply = await self._rpc.call(memory_rpc.MEMORY_GET, user_ref, deadline=seconds)
                if replaced_fact is not None:
                    return MemoryPatch({}, reply.version, {"note": note}, corrects={replaced_fact: note})
                others = [other for other in reply.memory.user_notes if other.casefold() != note.casefold()]
                notes = [note, *others]
                patch = {"userNotes": notes[:MAX_NOTES]}
                older = [*notes[MAX_NOTES:], *reply.memory.older_notes]
                if len(notes) > MAX_NOTES:
                    patch["olderNotes"] = older[:MAX_OLDER_NOTES]
                return MemoryPatch(patch, reply.version, {"note": note, "displaced": older[MAX_OLDER_NOTES:]})

            return await self._change(user_ref, patch_with_note, call.call_id)

        if note := str(arguments.get("note") or ""):

            async def patch_without_note(seconds: float) -> MemoryPatch:
                reply = await self._rpc.call(memory_rpc.MEMORY_GET, user_ref, deadline=seconds)
                return without_note(reply, note)

            return await self._change(user_ref, patch_without_note, call.call_id)

        about = str(arguments["about"])[:500]
        symbols = list(dict.fromkeys([*symbols_in(about), *symbols_in(about.upper())]))
        meant_request = memory_rpc.MeantRequest(company_id=company, user_id=user, about=about, symbols=symbols)

        async def patch_without_matches(seconds: float) -> MemoryPatch:
            matches = await self._rpc.call(memory_rpc.MEMORY_MEANT, meant_request, deadline=seconds)
            # Notes, unlike styles and favourites, can be restored from their words alone.
            facts = matches.patch.keys() <= set(USER_WORDED_FIELDS)
            outcome = {"forgotten": matches.texts, "several": matches.several, "facts": facts and bool(matches.patch)}
            by_id = any(memory_rpc.fact_id(text) == about for text in matches.texts)
            return MemoryPatch(matches.patch, matches.version, outcome, None if by_id else about, past=matches.past)

        return await self._change(user_ref, patch_without_matches, call.call_id)

    async def _forget(self, user_ref: memory_rpc.UserRef) -> None:
        """Repeats the request until its outcome is known: forgetting twice does no harm."""
        deadline = asyncio.get_running_loop().time() + CHANGE_SECONDS
        while True:
            try:
                await self._rpc.call(memory_rpc.MEMORY_DELETE, user_ref, deadline=_request_seconds(deadline))
            except RpcError as error:
                if error.code not in UNKNOWN_OUTCOME_CODES:
                    raise
                if asyncio.get_running_loop().time() + RETRY_PAUSE_SECONDS >= deadline:
                    raise _outcome_unknown() from error
                await asyncio.sleep(RETRY_PAUSE_SECONDS)
            else:
                return

    async def _change(
        self,
        user_ref: memory_rpc.UserRef,
        make_patch: Callable[[float], Awaitable[MemoryPatch]],
        call_id: str,
    ) -> dict[str, Any]:
        """Changes the memory and returns the outcome. The change is stored only over the version from which it was
        made, because lists are replaced as a whole and facts learned meanwhile must not be lost. A change without an
        answer is requested again under the same id; it takes effect once."""
        deadline = asyncio.get_running_loop().time() + CHANGE_SECONDS
        sent_outcome: dict[str, Any] | None = None
        for _ in range(MAX_ATTEMPTS):
            try:
                outcome = await self._try_change(user_ref, make_patch, call_id, deadline)
            except _UnansweredError as error:
                sent_outcome = error.outcome or sent_outcome
                if asyncio.get_running_loop().time() + RETRY_PAUSE_SECONDS >= deadline:
                    raise (error.cause if sent_outcome is None else _outcome_unknown()) from error
                await asyncio.sleep(RETRY_PAUSE_SECONDS)
                continue
            if outcome is not None:
                return sent_outcome or outcome
        raise RpcError(ErrorCode.UNAVAILABLE, "what is remembered kept changing: try again", retryable=True)

    async def _try_change(
        self,
        user_ref: memory_rpc.UserRef,
        make_patch: Callable[[float], Awaitable[MemoryPatch]],
        call_id: str,
        deadline: float,
    ) -> dict[str, Any] | None:
        """Makes one attempt until `deadline` and returns its outcome; None if something else was stored meanwhile.
        Raises RpcError, _UnansweredError."""
        outcome: dict[str, Any] | None = None
        try:
            change = await make_patch(_request_seconds(deadline))
            if not (change.patch or change.past or change.corrects):
                return change.outcome
            request = memory_rpc.MemoryPatchRequest(
                company_id=user_ref.company_id,
                user_id=user_ref.user_id,
                patch=change.patch,
                over=change.version,
                request_id=call_id,
                about=change.about,
                past=change.past or None,
                corrects=change.corrects or None,
            )
            outcome = change.outcome
            await self._rpc.call(memory_rpc.MEMORY_PATCH, request, deadline=_request_seconds(deadline))
        except RpcError as error:
            if error.code == ErrorCode.PRECONDITION_FAILED:
                return None
            if error.code in UNKNOWN_OUTCOME_CODES:
                raise _UnansweredError(outcome, error) from error
            raise
        return outcome

    async def _decide(self, key: ConversationKey, user: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns the action after the decision, or the waiting actions if the user's words do not say which one."""
        action, content_hash = arguments.get("actionId"), arguments.get("contentHash")
        if not arguments.get("named"):
            waiting = await self._waiting_actions(key, user, asked_action=action)
            is_unclear = len(waiting) > 1 and (action is None or action in {other.id for other in waiting})
            if is_unclear or (action is None and not waiting):
                return {"pending": [other.to_wire() for other in waiting]}
            if action is None:
                action, content_hash = waiting[0].id, waiting[0].details.get("contentHash")
        request = market_rpc.ActionDecideRequest.model_validate(
            {
                "company_id": key.company,
                "user_id": user,
                "action_id": action,
                "decision": arguments["decision"],
                "content_hash": content_hash,
            }
        )
        is_own = request.action_id.startswith(ACTION_PREFIX)
        method, seconds = (
            (OWN_ACTION_DECIDE, OWN_DECIDE_SECONDS) if is_own else (market_rpc.ACTION_DECIDE, DECIDE_SECONDS)
        )
        reply = await self._rpc.call(method, request, deadline=seconds)
        decision_result = {"action": reply.action.to_wire()}
        if not arguments.get("oneOf"):
            return decision_result
        # The other actions still wait, and the user's next yes or no may be about them.
        remaining = [
            other
            for other in await self._waiting_actions(key, user, asked_action=reply.action.id)
            if other.id != reply.action.id
        ]
        return {**decision_result, "rest": [other.to_wire() for other in remaining]}

    async def _waiting_actions(self, key: ConversationKey, user: str, asked_action: str | None) -> list[Action]:
        """Returns the actions of this conversation that wait for the user's confirmation, including `asked_action`; if
        there are none, all that wait."""
        user_ref = memory_rpc.UserRef(company_id=key.company, user_id=user)
        actions = (await self._rpc.call(market_rpc.ACTIONS_PENDING, user_ref, deadline=DECIDE_SECONDS)).actions
        waiting = [action for action in actions if action.state is ActionState.PENDING]
        in_conversation = [
            action
            for action in waiting
            if action.id == asked_action or action.details.get("conversationId") == key.conversation
        ]
        return in_conversation if in_conversation or asked_action else waiting
