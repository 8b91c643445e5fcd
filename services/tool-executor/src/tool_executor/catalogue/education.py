"""explain_concept: explains a trading concept in plain words, from this service's glossary."""

from contracts.tools.arguments import NOT_BLANK
from tool_executor.domain.declaration import CacheScope, CallContext, Category, Data, DeclaredTool
from tool_executor.domain.glossary import LEVELS, Glossary
from tool_executor.domain.plans import Arguments
from tool_executor.domain.shapes import TEXT, arguments_schema, data_schema, list_of, one_of
from tool_executor.texts import named

_GLOSSARY = Glossary.load()
"""Loaded with the module, so that a mistake in its files fails at the start, not in a call."""


async def explain_concept(arguments: Arguments, context: CallContext) -> Data:
    """Explains a concept in the caller's language."""
    return {**_GLOSSARY.explain(arguments["concept"], arguments["level"], context.caller.language)}


def with_plain_spacing(arguments: Arguments) -> Arguments:
    """Normalizes case and spaces of the concept, for the cache; the glossary resolves synonyms and misspellings."""
    return {**arguments, "concept": " ".join(arguments["concept"].casefold().split())}


TOOLS: list[DeclaredTool] = [
    DeclaredTool(
        id="education.explain_concept",
        **named("explain_concept"),
        category=Category.EDUCATION,
        per_minute=60,
        time_limit=2.0,
        cache=CacheScope.PUBLIC,
        texts_differ=True,
        input_schema=arguments_schema(
            {
                "concept": {
                    **TEXT,
                    "pattern": NOT_BLANK,
                    "maxLength": 200,
                    "description": "The concept, e.g. stop loss",
                }
            },
            {"level": one_of(LEVELS, "For whom", default="beginner")},
        ),
        output_schema=data_schema({"concept": TEXT, "explanation": TEXT, "related": list_of(TEXT)}),
        handler=explain_concept,
        normaliser=with_plain_spacing,
        examples=({"concept": "RSI"}, {"concept": "short selling", "level": "advanced"}),
    )
]
