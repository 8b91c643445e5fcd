"""Tools that the requester's own program brings with a message and runs itself."""

from collections.abc import Collection, Sequence

from agent.domain import hand_over, tool_choice
from agent.domain.offered_tool import OfferedTool
from agent.domain.turn.journal import Journal, TurnCall
from contracts.events.chat import Wishes

CATEGORY = "client"


def with_client_tools(tools: Sequence[OfferedTool], wishes: Wishes | None) -> tuple[OfferedTool, ...]:
    """The tools, followed by the client's tools whose names are not in use."""
    used_names = {tool.name for tool in tools} | {hand_over.NAME, tool_choice.NAME}
    client_tools = (
        {}
        if wishes is None
        else {brought.name: brought for brought in wishes.tools or () if brought.name not in used_names}
    )
    return (
        *tools,
        *(
            OfferedTool(
                brought.name, brought.description, CATEGORY, {"type": "object", **brought.parameters}, brought.name
            )
            for brought in client_tools.values()
        ),
    )


def client_calls(journal: Journal, tools: Sequence[OfferedTool], own_call_ids: Collection[str]) -> tuple[TurnCall, ...]:
    """The unsettled calls of the client's own tools. `own_call_ids`: calls that the agent performs, whatever their
    name."""
    client_tool_names = {tool.name for tool in tools if tool.category == CATEGORY}
    return tuple(
        call for call in journal.unsettled if call.tool in client_tool_names and call.call_id not in own_call_ids
    )


def inherited_call_ids(journal: Journal) -> set[str]:
    """The ids of calls inherited from unanswered turns, whose client wrote on instead of returning a result."""
    return {call.call_id for step in journal.steps if step.basis != journal.basis for call in step.calls}
