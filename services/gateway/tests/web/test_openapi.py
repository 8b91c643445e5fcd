from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from typing import Any, cast

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from gateway.application import build_http
from gateway.web.deps import Api, Only
from gateway.web.erasures import Erasing


def test_no_request_waits_for_a_thread() -> None:
    """What is not async the framework runs in a thread, there and back; deletions are rare enough."""

    def calls(dependant: Dependant) -> Iterator[Callable[..., Any]]:
        yield cast("Callable[..., Any]", dependant.call)
        for inner in dependant.dependencies:
            yield from calls(inner)

    routes = [route for route in build_http(cast("Api", None), []).routes if isinstance(route, APIRoute)]
    every = {call for route in routes for call in calls(route.dependant)}
    found = {call for call in every if not iscoroutinefunction(call.__call__ if isinstance(call, Only) else call)}
    assert len(routes) > 50
    assert found == {Erasing}
