"""search_knowledge: searches the company's site and documents. Memory serves the tool."""

from contracts.tools.arguments import input_schema
from contracts.tools.memory import KnowledgeSearchArguments
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import NUMBER, TEXT, data_schema, list_of
from tool_executor.texts import named

_PASSAGE = data_schema(
    {"id": TEXT, "title": {"type": "string"}, "text": {"type": "string"}, "score": NUMBER, "read_at": TEXT}
)

TOOLS: list[DeclaredTool] = [
    DeclaredTool(
        id="knowledge.search",
        **named("search_knowledge"),
        category=Category.KNOWLEDGE,
        per_minute=30,
        time_limit=6.0,
        input_schema=input_schema(KnowledgeSearchArguments),
        output_schema=data_schema({"passages": list_of(_PASSAGE), "complete": {"type": "boolean"}, "source": TEXT}),
        handler=OverTheBus(),
        for_visitors=True,
        examples=({"query": "refund policy"}, {"query": "horario de apertura", "limit": 3}),
    )
]
