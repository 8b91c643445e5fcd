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
"""Category of a call to a tool that the requester was not offered. The executor answers it with TOOL_NOT_FOUND and
records it."""


@dataclass(frozen=True)
class CallRound:
    """The calls of a journal that have no result yet, and what is needed to make them.

    `seconds`: the time limit of each call. `own_words`: the user's own words; only they can ask for a change.
    `completed`: calls that a model requested and the agent performs by itself, with their full arguments. `begun`: ids
    of calls that another driver may already have sent.
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
        """Returns the tool that a call names; None if the requester was not offered it."""
        return {tool.name: tool for tool in self.tools}.get(call.tool)

    def is_asked_for(self, call: TurnCall) -> bool:
        """Whether the call changes nothing, or the user has asked for what it does."""
        tool = self.tool(call)
        changes = tool.changes if tool is not None else call.tool in KINDS
        return not changes or self.own_words.ask_for(call, tool, self.journal)


async def run_calls(
    tools: ToolCalls,
    live: Live,
    round_: CallRound,
    own_steps: OwnCalls | None = None,
    handed_out: HandedOut | None = None,
) -> dict[str, str]:
    """Runs all unsettled calls and returns their result texts by call id; sends live notices as tools start and end.

    `own_steps` performs the agent's own calls, without notices. `handed_out` hands the client's calls to the client
    after all others have finished.
    """
    journal, requester = round_.journal, round_.requester
    agent_call_ids = {call.call_id for call in rule_calls(journal)} | set(round_.completed)
    handed_calls = client_calls(journal, round_.tools, agent_call_ids) if handed_out is not None else ()
    agent_call_ids |= {call.call_id for call in handed_calls}
    # The agent's own calls and the client's are never answered from earlier results: what a user asks for is done each
    # time, and the effects of a client's tool are unknown.
    results = {
        call_id: result for call_id, result in answered_from_earlier(journal).items() if call_id not in agent_call_ids
    }
    for call in journal.unsettled:
        if call.call_id not in agent_call_ids and not round_.is_asked_for(call):
            results[call.call_id] = refusal(requester.language)
        elif call.tool == SHOW_TOOLS:
            results[call.call_id] = show_tools_result(call.arguments, round_.tools)
    first_by_repeat = {
        call_id: first
        for call_id, first in repeats_within(journal).items()
        if call_id not in agent_call_ids and call_id not in results
    }
    known_ids = {*results, *first_by_repeat, *(call.call_id for call in handed_calls)}
    calls = [call for call in journal.unsettled if call.call_id not in known_ids]
    earlier_by_call = asked_again(journal)
    texts = await asyncio.gather(
        *(
            own_steps.outcome(round_.key, round_.completed.get(call.call_id, call), requester)
            if own_steps is not None and call.call_id in agent_call_ids
            else _outcome(tools, live, round_, call, earlier_by_call.get(call.call_id))
            for call in calls
        )
    )
    max_length = room_for_each(journal)
    results |= {call.call_id: cut_result(text, max_length) for call, text in zip(calls, texts, strict=True)}
    if handed_out is not None and handed_calls:
        handed_results = await handed_out.outcomes(journal, handed_calls, requester)
        results |= {call_id: cut_result(text, max_length) for call_id, text in handed_results.items()}
    return results | {call_id: marked_as_repeat(results[first]) for call_id, first in first_by_repeat.items()}


async def _outcome(tools: ToolCalls, live: Live, round_: CallRound, call: TurnCall, earlier: TurnCall | None) -> str:
    """Makes one call and returns its result. `earlier`: a call of unknown outcome that this one repeats; then the
    earlier call is sent again instead."""
    key, turn_id, requester, tool = round_.key, round_.journal.turn_id, round_.requester, round_.tool(call)
    may_have_run = call.call_id in round_.begun or earlier is not None
    call = earlier or call
    notice = {"turnId": turn_id, "callId": call.call_id, "tool": call.tool}
    label = _label(tool.label if tool else call.tool, call)
    live.emit(key, "tool.started", {**notice, "label": label})
    category = tool.category if tool else UNKNOWN_CATEGORY
    attributes = {OPERATION: SPAN_TOOL, TOOL_NAME: call.tool, TOOL_CALL: call.call_id}
    with span(f"{SPAN_TOOL} {call.tool}", **attributes):
        started_at = time.monotonic()
        result = await tools.outcome(key, call, category, requester, turn_id, round_.seconds)
        may_have_run = may_have_run or is_outcome_unknown(result)
        if (
            is_outcome_unknown(result)
            and result != INTERRUPTED
            and (remaining := round_.seconds - (time.monotonic() - started_at)) > 0
        ):
            # A service that stood still for a moment may know the outcome by now, which is better than "unknown".
            result = await tools.outcome(key, call, category, requester, turn_id, remaining)
        if may_have_run and is_unrecorded(result) and (tool is None or tool.changes):
            result = INTERRUPTED  # this request did nothing, but an earlier one may have
    parsed = object_of(json.loads(result))
    cached = bool(object_of(parsed.get("metadata")).get("cached"))
    live.emit(key, "tool.finished", {**notice, "success": bool(parsed.get("success")), "cached": cached})
    return result


def _label(label: str, call: TurnCall) -> str:
    """Returns the tool's label with the call's only text argument that is not an id, if it has exactly one."""
    arguments = object_of(json.loads(call.arguments))
    values = [value for name, value in arguments.items() if isinstance(value, str) and not name.endswith("_id")]
    if len(values) != 1:
        return label
    # Everybody in the conversation reads the label, and a model may have put anything into its arguments.
    detail = masked_text(values[0])[:80]
    return f"{label.removesuffix('…')}: {detail}" + ("…" if label.endswith("…") else "")
