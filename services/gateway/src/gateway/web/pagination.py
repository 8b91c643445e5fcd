"""Lists in pages: {items, next}."""

from fastapi.responses import JSONResponse

from contracts.envelope import Wire


def page(found: Wire, following: str | None) -> JSONResponse:
    """One page. The last one's `next` is null rather than absent, while items leave out empty fields."""
    return JSONResponse(found.to_wire() | {"next": following})
