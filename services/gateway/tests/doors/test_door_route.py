"""Doors read requests by themselves: what they read, and what they refuse, is what FastAPI reads and refuses."""

from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from gateway.doors.door_route import DoorRoute, Doors
from gateway.web.http_transport import CONNECTION


class Asked(BaseModel):
    text: str = Field(min_length=1, max_length=8)
    count: int = 0
    rest: Any = None


async def _caller(request: Request) -> str:
    if (name := request.headers.get("authorization")) is None:
        raise HTTPException(401)
    return name


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return Response(ascii(error.errors()), 422)


def _client(route_class: type[APIRoute]) -> TestClient:
    router = APIRouter(route_class=route_class)

    @router.post("/")
    async def ask(
        request: Request,
        caller: Annotated[str, Depends(_caller)],
        body: Asked,
        language: Annotated[str | None, Header(alias="Accept-Language", max_length=5)] = None,
        retry_count: Annotated[int, Header()] = 7,
    ) -> Response:
        return Response(repr((caller, body, language, retry_count, request.method)))

    @router.post("/listed")
    async def listed(body: Asked) -> list[Asked]:
        return [body]

    application = FastAPI()
    application.add_exception_handler(RequestValidationError, _refused)
    application.router.routes.extend(router.routes)
    doors = Doors(application)

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        await doors({**scope, CONNECTION: SimpleNamespace(has_request=True)}, receive, send)

    return TestClient(asgi)


USUAL, OWN = _client(APIRoute), _client(DoorRoute)
JSON, ANA = {"Content-Type": "application/json"}, {"Authorization": "ana"}
GOOD = b'{"text":"hi","count":"3","rest":{"\\u00e9":[1.5,null,12345678901234567890123]}}'


@pytest.mark.parametrize("path", ["/", "/listed"])
@pytest.mark.parametrize(
    "body",
    [GOOD, b"", b"{", b"null", b"[]", b'"hi"', b'{"text":""}', b'{"text":"hi","text":1}', b'{"text":"\\ud800"}'],
)
@pytest.mark.parametrize(
    "headers",
    [
        JSON | ANA,
        JSON,
        ANA,
        ANA | {"Content-Type": "text/plain"},
        ANA | {"Content-Type": "application/json; charset=utf-8"},
        ANA | {"Content-Type": "application/problem+json"},
        JSON | ANA | {"Accept-Language": "es", "Retry-Count": "2"},
        JSON | ANA | {"Accept-Language": ""},
        JSON | ANA | {"Accept-Language": "es-MX,es"},
        JSON | ANA | {"Retry-Count": "two"},
    ],
)
def test_a_request_is_read_and_refused_as_by_fastapi(path: str, body: bytes, headers: dict[str, str]) -> None:
    usual, own = (client.post(path, content=body, headers=headers) for client in (USUAL, OWN))
    assert (own.status_code, own.text) == (usual.status_code, usual.text)


def test_a_good_request_is_not_left_to_fastapi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.FastAPI.__call__", None)
    assert OWN.post("/", content=GOOD, headers=JSON | ANA).status_code == 200
