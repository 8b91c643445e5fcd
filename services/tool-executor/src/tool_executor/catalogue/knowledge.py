"""search_knowledge: searches the company's site and documents. Memory serves the tool."""

from contracts.tools.arguments import input_schema
from contracts.tools.memory import KnowledgeSearchArguments, SearchData
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.texts import named

TOOLS: list[DeclaredTool] = [
    DeclaredTool(
        id="knowledge.search",
        **named("search_knowledge"),
        category=Category.KNOWLEDGE,
        per_minute=30,
        time_limit=6.0,
        input_schema=input_schema(KnowledgeSearchArguments),
        output_schema=output_schema(SearchData),
        handler=OverTheBus(),
        for_visitors=True,
        examples=({"query": "refund policy"}, {"query": "horario de apertura", "limit": 3}),
    )
]
