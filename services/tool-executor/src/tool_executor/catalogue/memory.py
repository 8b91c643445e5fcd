"""Tools for earlier conversations and for the facts remembered about the caller. Memory serves them."""

from functools import partial

from contracts.tools.arguments import input_schema
from contracts.tools.memory import (
    ChangeData,
    FactArguments,
    ForgetArguments,
    MessageSearchArguments,
    MessageSearchData,
    UpdateArguments,
)
from contracts.tools.results import output_schema
from contracts.tools_rpc import MEMORY_OUTCOME
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.texts import named

change_tool = partial(
    DeclaredTool,
    category=Category.MEMORY,
    per_minute=30,
    time_limit=6.0,
    side_effects=True,
    idempotent=True,
    output_schema=output_schema(ChangeData),
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
        output_schema=output_schema(MessageSearchData),
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
