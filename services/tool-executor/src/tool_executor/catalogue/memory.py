"""Tools for earlier conversations and for the facts remembered about the caller. Memory serves them."""

from typing import Any

from contracts.tools.arguments import input_schema
from contracts.tools.memory import FactArguments, ForgetArguments, MessageSearchArguments, UpdateArguments
from contracts.tools_rpc import MEMORY_OUTCOME
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import NUMBER, TEXT, data_schema, list_of, sourced
from tool_executor.texts import TEXTS


def tools() -> list[DeclaredTool]:
    fact = data_schema({"id": TEXT, "fact": TEXT})
    undo = data_schema({"tool": TEXT, "arguments": {"type": "object"}})
    change_fields: dict[str, Any] = {
        "category": Category.MEMORY,
        "per_minute": 30,
        "time_limit": 6.0,
        "side_effects": True,
        "idempotent": True,
        "output_schema": sourced({"facts": list_of(fact), "ended": list_of(fact), "undo": list_of(undo)}),
        "handler": OverTheBus(),
        "reconcile": OverTheBus(MEMORY_OUTCOME.subject),
    }
    passage = data_schema({"text": {"type": "string"}, "time": TEXT, "conversation_id": TEXT, "score": NUMBER})
    return [
        DeclaredTool(
            id="memory.search",
            name="search_memory",
            description=TEXTS["tools.search_memory.description"],
            label=TEXTS["tools.search_memory.label"],
            category=Category.MEMORY,
            per_minute=30,
            time_limit=6.0,
            input_schema=input_schema(MessageSearchArguments),
            output_schema=sourced({"passages": list_of(passage)}),
            handler=OverTheBus(),
            examples=({"query": "stop loss"}, {"query": "qué bróker uso", "limit": 3}),
        ),
        DeclaredTool(
            id="memory.remember",
            name="remember",
            description=TEXTS["tools.remember.description"],
            label=TEXTS["tools.remember.label"],
            input_schema=input_schema(FactArguments),
            **change_fields,
            examples=({"fact": "I am vegan"},),
        ),
        DeclaredTool(
            id="memory.forget",
            name="forget",
            description=TEXTS["tools.forget.description"],
            label=TEXTS["tools.forget.label"],
            destructive=True,
            input_schema=input_schema(ForgetArguments),
            **change_fields,
            examples=({"what": "vegan"},),
        ),
        DeclaredTool(
            id="memory.update",
            name="update_memory",
            description=TEXTS["tools.update_memory.description"],
            label=TEXTS["tools.update_memory.label"],
            input_schema=input_schema(UpdateArguments),
            **change_fields,
            examples=({"id": "f0123456789", "fact": "I live in Lima"},),
        ),
    ]
