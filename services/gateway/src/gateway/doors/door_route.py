"""How doors read a request. FastAPI resolves each parameter anew with every request, a third of what a door costs."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

Values = dict[str, Any]


class DoorRoute(APIRoute):
    """A route that reads a JSON body, headers and dependencies of the request alone by itself.

    All other requests, above all wrong ones, are left to FastAPI, which also words what is wrong with them.
    """

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        usual, wanted, call = super().get_route_handler(), self.dependant, self.endpoint
        headers = [(one.name, one.field_info.alias or one.name.replace("_", "-"), one) for one in wanted.header_params]
        depends = [(one.name, one.call) for one in wanted.dependencies if one.name is not None and one.call is not None]
        if (
            self.response_field is not None
            or wanted.path_params
            or wanted.query_params
            or wanted.cookie_params
            or len(wanted.body_params) > 1
            or any(one.dependencies or one.query_params or one.header_params for one in wanted.dependencies)
        ):
            return usual

        async def read(request: Request) -> Values | None:
            """The arguments; None: not all of them are valid."""
            values: Values = {}
            if wanted.request_param_name is not None:
                values[wanted.request_param_name] = request
            for body in wanted.body_params:
                kind = request.headers.get("content-type", "").partition(";")[0]
                try:
                    if kind != "application/json" or not await request.body():
                        return None
                    values[body.name], wrong = body.validate(await request.json(), {}, loc=("body",))
                except (ValueError, ClientDisconnect):
                    return None
                if wrong:
                    return None
            for name, alias, field in headers:
                told = request.headers.get(alias)
                values[name], wrong = (field.get_default(), None) if told is None else field.validate(told, {}, loc=())
                if wrong:
                    return None
            for name, depend in depends:
                values[name] = await depend(request)
            return values

        async def handle(request: Request) -> Response:
            values = await read(request)
            return await (usual(request) if values is None else call(**values))

        return handle
