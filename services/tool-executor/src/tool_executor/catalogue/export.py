"""The catalogue's tools in the form of the replies of rpc.tools.catalogue.v1 and rpc.tools.details.v1."""

from collections.abc import Mapping
from typing import Literal, cast

from contracts.events.tool import QuotaView
from contracts.tools_rpc import CatalogueTool, ToolDetails
from tool_executor.catalogue.registry import Entry


def catalogue_view(entry: Entry, language: str, quota: Mapping[str, QuotaView] | None = None) -> CatalogueTool:
    tool = entry.tool
    return CatalogueTool(
        id=tool.id,
        name=tool.name,
        description=tool.description.in_language(language),
        category=entry.category.value,
        required_plan=entry.plan.word,
        parameters=entry.parameters,
        side_effects=tool.side_effects,
        label=tool.label.in_language(language) if tool.label else None,
        quota=cast("dict[Literal['minute', 'hour', 'day'], QuotaView] | None", quota),
    )


def details_view(entry: Entry, language: str) -> ToolDetails:
    """Returns a tool with its schemas, examples and budget, for rpc.tools.details.v1."""
    tool = entry.tool
    return ToolDetails(
        name=tool.name,
        category=entry.category.value,
        description=tool.description.in_language(language),
        parameters=entry.parameters,
        output_schema=dict(tool.output_schema),
        examples=[dict(example) for example in tool.examples],
        budget_per_ticker=tool.budget_per_ticker,
        required_plan=entry.plan.word,
        side_effects=tool.side_effects,
        destructive=tool.destructive,
        idempotent=tool.idempotent or not tool.side_effects,
    )
