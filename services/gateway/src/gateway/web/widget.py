"""GET /widget.json: what the widget shows of a company's settings, for any site: nothing here is a secret."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from contracts.envelope import Wire
from contracts.ids import CompanyId
from gateway.errors import not_found
from gateway.web.deps import ApiDep

router = APIRouter(include_in_schema=False)
_HEADERS = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=30"}


class WidgetLook(Wire):
    """The company's colour (#rrggbb), and whether a machine answers."""

    brand_color: str | None = None
    ai: bool


@router.get("/widget.json")
async def widget_look(api: ApiDep, response: Response, company: Annotated[CompanyId, Query()]) -> WidgetLook:
    """What the widget has to know before anybody is in the chat."""
    settings = await api.companies.get(company)
    if settings is None:
        raise not_found("company")
    response.headers.update(_HEADERS)
    config = settings.config
    return WidgetLook(brand_color=config.brand_color, ai=config.ai_auto_response_enabled)
