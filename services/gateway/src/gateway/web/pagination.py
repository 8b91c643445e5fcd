"""Lists in pages: {items, next}."""

from fastapi.responses import JSONResponse

from contracts.envelope import Wire


def page(found: Wire, following: str | None) -> JSONResponse:
    """One page; its `next` is there on the last one too, as null, while items leave out what they have not."""
    return JSONResponse(found.to_wire() | {"next": following})
