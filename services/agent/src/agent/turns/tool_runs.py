"""Runs the unsettled tool calls of a turn side by side. Every call gets a result; a repeated call gets the result of
the first."""

import asyncio
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from agent.domain.client_tools import client_calls
from agent.domain.offered_tool import OfferedTool
from agent.domain.own_words import KINDS, OwnWords, refusal
from agent.domain.prompt.messages import INTERRUPTED
from agent.domain.shortcuts.steps import rule_calls
from agent.domain.tool_choice import NAME as SHOW_TOOLS
from agent.domain.tool_choice import show_tools_result
from agent.domain.tool_results import (
    answered_from_earlier,
    asked_again,
    cut_result,
    is_outcome_unknown,
    is_unrecorded,
    marked_as_repeat,
    repeats_within,
    room_for_each,
)
from agent.domain.turn.journal import Journal, TurnCall
from agent.ports import ConversationKey, Live, OwnCalls, Requester, ToolCalls
from agent.turns.handed_out import HandedOut
from contracts.json_values import object_of
from runtime.observability.gen_ai import OPERATION, SPAN_TOOL, TOOL_CALL, TOOL_NAME
from runtime.observability.logging import masked_text
from runtime.observability.telemetry import span

UNKNOWN_CATEGORY = "unknown"
"""The category of a call to a tool that the requester was not offered: the executor answers TOOL_NOT_FOUND, and records
it."""


@dataclass(frozen=True)
class CallRound:
    """The calls of a journal that have no result yet, and what they are made with.

    `seconds`: for each. `own_words`: what the user has said, who alone asks for what changes something. `completed`:
    calls of the agent's own that a model asked for, with all that they need. `begun`: calls that another driver may
    have asked for.
    """

    key: ConversationKey
    journal: Journal
    requester: Requester
    tools: Sequence[OfferedTool]
    seconds: float
    own_words: OwnWords
    completed: Mapping[str, TurnCall] = field(default_factory=dict[str, TurnCall])
    begun: Collection[str] = ()

    def tool(self, call: TurnCall) -> OfferedTool | None:
        """The one that a call names; None: the requester was not offered it."""
        return {tool.name: tool for tool in self.tools}.get(call.tool)

    def is_asked_for(self, call: TurnCall) -> bool:
        """Whether the call changes nothing, or the user has asked for what it does."""
        tool = self.tool(call)
        changes = tool.changes if tool is not None else call.tool in KINDS
        return not changes or self.own_words.ask_for(call, tool, self.journal)


async def outcomes(
    tools: ToolCalls,
    live: Live,
    asked: CallRound,
    own_steps: OwnCalls | None = None,
    handed: HandedOut | None = None,
) -> dict[str, str]:
    """Result texts by call id, for all unsettled calls; live notices go out as tools start and end.

    `own_steps` performs what the agent does by itself, of which nobody is told before the answer; `handed` has those
    that the client runs, after all others.
    """
    journal, requester = asked.journal, asked.requester
    own = {call.call_id for call in rule_calls(journal)} | set(asked.completed)
    theirs = client_calls(journal, asked.tools, own) if handed is not None else ()
    own |= {call.call_id for call in theirs}
    # What the agent does at a user's word is done each time that it is said; what a client's tool does nobody knows.
    results = {call_id: result for call_id, result in answered_from_earlier(journal).items() if call_id not in own}
    for call in journal.unsettled:
        if call.tool == SHOW_TOOLS:
            results[call.call_id] = show_tools_result(call.arguments, asked.tools)
    refused = [call.call_id for call in journal.unsettled if call.call_id not in own and not asked.is_asked_for(call)]
    results |= dict.fromkeys(refused, refusal(requester.language))
    repeats = {one: first for one, first in repeats_within(journal).items() if one not in own and one not in refused}
    wanted = [c for c in journal.unsettled if c.call_id not in results and c.call_id not in repeats and c not in theirs]
    again = asked_again(journal)
    got = await asyncio.gather(
        *(
            own_steps.outcome(asked.key, asked.completed.get(call.call_id, call), requester)
            if own_steps is not None and call.call_id in own
            else _outcome(tools, live, asked, call, again.get(call.call_id))
            for call in wanted
        )
    )
    room = room_for_each(journal)
    results.update(zip((call.call_id for call in wanted), (cut_result(result, room) for result in got), strict=True))
    if handed is not None and theirs:
        told = await handed.outcomes(journal, theirs, requester)
        results.update((call_id, cut_result(result, room)) for call_id, result in told.items())
    for call_id, first in repeats.items():
        if call_id not in results:
            results[call_id] = marked_as_repeat(results[first])
    return results


async def _outcome(tools: ToolCalls, live: Live, asked: CallRound, call: TurnCall, again: TurnCall | None) -> str:
    """`again`: the earlier call that this one repeats, of which nobody knows the outcome."""
    key, turn_id, requester, tool = asked.key, asked.journal.turn_id, asked.requester, asked.tool(call)
    begun = call.call_id in asked.begun or again is not None
    call = again or call
    notice = {"turnId": turn_id, "callId": call.call_id, "tool": call.tool}
    label = _label(tool.label if tool else call.tool, call)
    live.emit(key, "tool.started", {**notice, "label": label})
    category = tool.category if tool else UNKNOWN_CATEGORY
    attributes = {OPERATION: SPAN_TOOL, TOOL_NAME: call.tool, TOOL_CALL: call.call_id}
    with span(f"{SPAN_TOOL} {call.tool}", **attributes):
        began = time.monotonic()
        result = await tools.outcome(key, call, category, requester, turn_id, asked.seconds)
        begun = begun or is_outcome_unknown(result)
        if (
            is_outcome_unknown(result)
            and result != INTERRUPTED
            and (left := asked.seconds - (time.monotonic() - began)) > 0
        ):
            # A service that stood still for a moment can say by now what it has done; nobody likes to hear "perhaps".
            result = await tools.outcome(key, call, category, requester, turn_id, left)
        if begun and is_unrecorded(result) and (tool is None or tool.changes):
            result = INTERRUPTED  # this request has made nothing, an earlier one may have
    parsed = object_of(json.loads(result))
    cached = bool(object_of(parsed.get("metadata")).get("cached"))
    live.emit(key, "tool.finished", {**notice, "success": bool(parsed.get("success")), "cached": cached})
    return result


def _label(label: str, call: TurnCall) -> str:
    """The tool's label with what it is about: the one text argument that is no id, if there is one."""
    arguments = object_of(json.loads(call.arguments))
    texts = [value for name, value in arguments.items() if isinstance(value, str) and not name.endswith("_id")]
    if len(texts) != 1:
        return label
    # A label is read by everybody in the conversation, and a model may have put anything into its arguments.
    about = masked_text(texts[0])[:80]
    return f"{label.removesuffix('…')}: {about}" + ("…" if label.endswith("…") else "")
