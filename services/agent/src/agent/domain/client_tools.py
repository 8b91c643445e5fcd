"""Tools that the requester's own program brings with a message and runs itself."""

from collections.abc import Collection, Sequence

from agent.domain import hand_over, tool_choice
from agent.domain.offered_tool import OfferedTool
from agent.domain.turn.journal import Journal, TurnCall
from contracts.events.chat import Wishes

CATEGORY = "client"


def with_client_tools(tools: Sequence[OfferedTool], wishes: Wishes | None) -> tuple[OfferedTool, ...]:
    """The tools, and those of the client's that have a name of their own."""
    taken = {tool.name for tool in tools} | {hand_over.NAME, tool_choice.NAME}
    brought = {} if wishes is None else {one.name: one for one in wishes.tools or () if one.name not in taken}
    return (
        *tools,
        *(
            OfferedTool(one.name, one.description, CATEGORY, {"type": "object", **one.parameters}, one.name)
            for one in brought.values()
        ),
    )


def client_calls(journal: Journal, tools: Sequence[OfferedTool], own: Collection[str]) -> tuple[TurnCall, ...]:
    """The unsettled calls of the client's own tools. `own`: calls that the agent performs, whatever their name."""
    theirs = {tool.name for tool in tools if tool.category == CATEGORY}
    return tuple(call for call in journal.unsettled if call.tool in theirs and call.call_id not in own)


def inherited_call_ids(journal: Journal) -> set[str]:
    """The calls of the turns that this one goes on from: their client has written on instead of giving a result."""
    return {call.call_id for step in journal.steps if step.basis != journal.basis for call in step.calls}
