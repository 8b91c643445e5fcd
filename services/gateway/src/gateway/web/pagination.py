"""Lists in pages: {items, next}."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse

from contracts.envelope import Wire

Limit = Annotated[int, Query(ge=1, le=200)]
PageCursor = Annotated[str | None, Query(max_length=512)]


def page(reply: Wire) -> JSONResponse:
    """The response with one page. `next` of the last page is null rather than absent, unlike empty fields of items."""
    return JSONResponse({"next": None} | reply.to_wire())
