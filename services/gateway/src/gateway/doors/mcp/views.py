"""MCP Apps (io.modelcontextprotocol/ui, 2026-01-26): views that a host shows for a result.

A view is one document that contains its style and script: it loads nothing, and talks only to the host. An order's card
sends the decision through the host, with a confirmation from a part of the result that views can read and models
cannot. The confirmation is valid only for this order and user.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict

from contracts.ids import Id
from contracts.json_values import is_list, object_of
from contracts.languages import Language
from gateway.domain.carried_ids import new_carried_id, note_of
from gateway.doors.mcp.offer import Context, check_page, language_of
from gateway.texts import TEXTS
from gateway.web.script import hosted_script, styles

EXTENSION = "io.modelcontextprotocol/ui"
MEDIA_TYPE = "text/html;profile=mcp-app"
CHART, ORDER = "ui://nexus/chart", "ui://nexus/order"
VIEWS = {"get_ohlcv": CHART, "market_snapshot": CHART, "create_paper_order": ORDER}
"""The view for each tool's results."""
CONFIRMATION = "nexus/confirmation"
DECIDE_TOOL = "decide_order"
_NAMES = {CHART: "chart", ORDER: "order"}
_META: dict[str, object] = {"ui": {"prefersBorder": False}}


class OrderDecision(BaseModel):
    """The decision that an order's card sends."""

    model_config = ConfigDict(extra="forbid")

    action_id: Id
    confirmation: str
    decision: Literal["confirm", "reject"]
    edits: dict[str, float] | None = None


def shows_views(context: Context) -> bool:
    """Whether the client shows views of this kind."""
    capabilities = context.session.client_capabilities
    return capabilities is not None and declares_views({"extensions": capabilities.extensions})


def declares_views(capabilities: Mapping[str, object]) -> bool:
    """Whether these capabilities include views of this kind."""
    value: object = capabilities
    for name in ("extensions", EXTENSION, "mimeTypes"):
        value = object_of(value).get(name)
    return is_list(value) and MEDIA_TYPE in value


def decide_tool(language: Language) -> types.Tool:
    """The tool that a card's buttons call; only views may call it, never a model."""
    return types.Tool(
        name=DECIDE_TOOL,
        description=TEXTS["views.decide"].in_language(language),
        input_schema=OrderDecision.model_json_schema(),
        annotations=types.ToolAnnotations(idempotent_hint=True, open_world_hint=False),
        _meta={"ui": {"resourceUri": ORDER, "visibility": ["app"]}},
    )


def new_confirmation(key: bytes, holder: str, action: str) -> str:
    """A new confirmation with which a view can decide this action for its holder."""
    return new_carried_id(key, f"order/{action}", holder)


def is_valid_confirmation(key: bytes, holder: str, action: str, confirmation: str) -> bool:
    """Whether the confirmation was made for this action and holder."""
    return note_of(key, f"order/{action}", holder, confirmation) is not None


async def list_views(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    check_page(params)
    language = await language_of(context)
    descriptions = {uri: TEXTS[f"views.{name}"].in_language(language) for uri, name in _NAMES.items()}
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=name, description=descriptions[uri], mime_type=MEDIA_TYPE, _meta=_META)
            for uri, name in _NAMES.items()
        ]
    )


async def list_no_templates(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """An empty list: there are no templates, but clients ask for them wherever there are resources."""
    del context
    check_page(params)
    return types.ListResourceTemplatesResult(resource_templates=[])


async def read_view(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """A view's document; raises MCPError if there is no such view."""
    uri = str(params.uri)
    if uri not in _NAMES:
        raise MCPError(code=types.INVALID_PARAMS, message="Resource not found", data={"uri": uri[:200]})
    text = document(await language_of(context))
    contents = types.TextResourceContents(uri=uri, mime_type=MEDIA_TYPE, text=text, _meta=_META)
    return types.ReadResourceResult(contents=[contents])


@cache
def document(language: Language) -> str:
    """The document of every view; it shows the result that the host passes to it."""
    style = re.sub(r":host\((\[[^\]]*\])\)", r":root\1", styles()).replace(":host", ":root")
    own = ":root{display:block}body{margin:0}main{display:grid;gap:12px}"
    script = hosted_script().decode().replace("</", "<\\/")
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Nexus</title>'
        f'<style>{style}{own}</style></head><body><main></main><script data-locale="{language}">{script}</script>'
        "</body></html>"
    )
