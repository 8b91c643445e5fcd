"""Reads the requests of doors without FastAPI, whose layers cost as much as everything else in a door."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast

from fastapi import Depends, FastAPI, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.types import Message, Receive, Scope, Send

from gateway.web.body_limit import BODY_SECONDS, MAX_BODY_BYTES, MAX_NESTING
from gateway.web.http_transport import CONNECTION

Values = dict[str, Any]


async def raw_body(request: Request) -> bytes:
    return await request.body()


RawBody = Annotated[bytes, Depends(raw_body)]
"""The body as it was received."""


class DoorRoute(APIRoute):
    """A route that can itself read a JSON body, headers, and dependencies that need only the request."""

    read_arguments: Callable[[Request, bytes], Awaitable[Values | None]] | None = None
    """Returns the endpoint's arguments, or None if not all are valid. None itself: FastAPI must read the request."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        dependant = self.dependant
        headers = [
            (
                param.name,
                (param.field_info.alias or param.name.replace("_", "-")).lower().encode(),
                param,
                param.get_default(),
            )
            for param in dependant.header_params
        ]
        depends = [
            (dependency.name, dependency.call)
            for dependency in dependant.dependencies
            if dependency.name is not None and dependency.call is not None
        ]
        bodies = [(param.name, cast("type[BaseModel]", param.field_info.annotation)) for param in dependant.body_params]

        async def read_request(request: Request, body: bytes) -> Values | None:
            scope, values = request.scope, Values()
            sent_headers = dict(reversed(scope["headers"]))  # the first of a repeated header counts
            if dependant.request_param_name is not None:
                values[dependant.request_param_name] = request
            for name, model in bodies:
                if sent_headers.get(b"content-type", b"").partition(b";")[0] != b"application/json":
                    return None
                try:
                    values[name] = model.model_validate_json(body)
                except ValidationError:
                    return None
            for name, header, field, default in headers:
                if (value := sent_headers.get(header)) is None:
                    values[name] = default
                    continue
                values[name], errors = field.validate(value.decode("latin-1"), {}, loc=())
                if errors:
                    return None
            for name, depend in depends:
                values[name] = body if depend is raw_body else await depend(request)
            return values

        if not (
            self.response_field is not None
            or dependant.path_params
            or dependant.query_params
            or dependant.cookie_params
            or len(bodies) > 1
            or any(
                dependency.dependencies or dependency.query_params or dependency.header_params
                for dependency in dependant.dependencies
            )
        ):
            self.read_arguments = read_request
        return super().get_route_handler()


class Doors:
    """The application with its doors in front: a valid request to a door passes through no layer of FastAPI.

    All other requests, above all invalid and large ones, are left to FastAPI, which also says what is wrong with them.
    """

    def __init__(self, application: FastAPI) -> None:
        self._application = application
        self._routes = {
            route.path: route
            for route in application.routes
            if isinstance(route, DoorRoute) and route.read_arguments is not None and route.methods == {"POST"}
        }

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and scope["method"] == "POST":
            route = self._routes.get(scope["path"])
            if route is not None:
                return self._answer(route, scope, receive, send)
        return self._application(scope, receive, send)

    async def _answer(self, route: DoorRoute, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self._application
        try:
            has_request = scope[CONNECTION].has_request
            message = await (receive() if has_request else asyncio.wait_for(receive(), BODY_SECONDS))
        except TimeoutError:
            await self._application(scope, receive, send)
            return
        response = None
        if _is_small_body(message):
            response = await self._response(route, Request(scope, replayed(message, receive)), message["body"])
        await (response or self._application)(scope, replayed(message, receive), send)

    async def _response(self, route: DoorRoute, request: Request, body: bytes) -> Response | None:
        """The door's response; None if FastAPI must read the request."""
        try:
            values = await route.read_arguments(request, body) if route.read_arguments is not None else None
            return None if values is None else await route.endpoint(**values)
        except Exception as error:
            handlers = self._application.exception_handlers
            handler = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
            if handler is None:
                raise
            return await cast("Awaitable[Response]", handler(request, error))


def _is_small_body(message: Message) -> bool:
    """Whether the message is a whole body within the limits of every body."""
    body = message.get("body", b"")
    return (
        message["type"] == "http.request"
        and not message.get("more_body", False)
        and len(body) <= MAX_BODY_BYTES
        and body.count(b"[") + body.count(b"{") <= MAX_NESTING
    )


def replayed(message: Message, receive: Receive) -> Receive:
    """A receive function that returns this message first, and then what follows it."""
    is_replayed = False

    async def receive_again() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return message

    return receive_again
