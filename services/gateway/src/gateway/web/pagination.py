"""Lists in pages: {items, next}."""

from fastapi.responses import JSONResponse

from contracts.envelope import Wire


def page(reply: Wire) -> JSONResponse:
    """The response with one page. `next` of the last page is null rather than absent, unlike empty fields of items."""
    return JSONResponse({"next": None} | reply.to_wire())
