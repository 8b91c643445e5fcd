"""Tools for earlier conversations and for the facts remembered about the caller. Memory serves them."""

from functools import partial

from contracts.tools.arguments import input_schema
from contracts.tools.memory import FactArguments, ForgetArguments, MessageSearchArguments, UpdateArguments
from contracts.tools_rpc import MEMORY_OUTCOME
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import NUMBER, TEXT, data_schema, list_of, sourced
from tool_executor.texts import named

_FACT = data_schema({"id": TEXT, "fact": TEXT})
_UNDO = data_schema({"tool": TEXT, "arguments": {"type": "object"}})
_PASSAGE = data_schema({"text": {"type": "string"}, "time": TEXT, "conversation_id": TEXT, "score": NUMBER})

change_tool = partial(
    DeclaredTool,
    category=Category.MEMORY,
    per_minute=30,
    time_limit=6.0,
    side_effects=True,
    idempotent=True,
    output_schema=sourced({"facts": list_of(_FACT), "ended": list_of(_FACT), "undo": list_of(_UNDO)}),
    handler=OverTheBus(),
    reconcile=OverTheBus(MEMORY_OUTCOME.subject),
)

TOOLS: list[DeclaredTool] = [
    DeclaredTool(
        id="memory.search",
        **named("search_memory"),
        category=Category.MEMORY,
        per_minute=30,
        time_limit=6.0,
        input_schema=input_schema(MessageSearchArguments),
        output_schema=sourced({"passages": list_of(_PASSAGE)}),
        handler=OverTheBus(),
        examples=({"query": "stop loss"}, {"query": "qué bróker uso", "limit": 3}),
    ),
    change_tool(
        id="memory.remember",
        **named("remember"),
        input_schema=input_schema(FactArguments),
        examples=({"fact": "I am vegan"},),
    ),
    change_tool(
        id="memory.forget",
        **named("forget"),
        destructive=True,
        input_schema=input_schema(ForgetArguments),
        examples=({"what": "vegan"},),
    ),
    change_tool(
        id="memory.update",
        **named("update_memory"),
        input_schema=input_schema(UpdateArguments),
        examples=({"id": "f0123456789", "fact": "I live in Lima"},),
    ),
]
