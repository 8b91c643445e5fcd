"""search_knowledge: searches the company's site and documents. Memory serves the tool."""

from contracts.tools.arguments import input_schema
from contracts.tools.memory import KnowledgeSearchArguments
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import NUMBER, TEXT, data_schema, list_of
from tool_executor.texts import TEXTS


def tools() -> list[DeclaredTool]:
    passage = data_schema(
        {"id": TEXT, "title": {"type": "string"}, "text": {"type": "string"}, "score": NUMBER, "read_at": TEXT}
    )
    return [
        DeclaredTool(
            id="knowledge.search",
            name="search_knowledge",
            description=TEXTS["tools.search_knowledge.description"],
            label=TEXTS["tools.search_knowledge.label"],
            category=Category.KNOWLEDGE,
            per_minute=30,
            time_limit=6.0,
            input_schema=input_schema(KnowledgeSearchArguments),
            output_schema=data_schema({"passages": list_of(passage), "complete": {"type": "boolean"}, "source": TEXT}),
            handler=OverTheBus(),
            for_visitors=True,
            examples=({"query": "refund policy"}, {"query": "horario de apertura", "limit": 3}),
        )
    ]
