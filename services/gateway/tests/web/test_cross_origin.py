"""What pages of other origins may call and read."""

import pytest

from gateway.testing.http import Http

pytestmark = pytest.mark.usefixtures("memory")

GOOD = {"model": "nexus", "messages": [{"role": "user", "content": "hello"}]}
"""A request that its door answers before FastAPI's layers."""
DOORS_OF_PAGES = (
    "/v1/chat/completions",
    "/v1/responses/r-1/cancel",
    "/v2/ag-ui",
    "/v2/ui/chat",
    "/v2/ui/chat/c-1/stream",
)


@pytest.mark.parametrize("path", DOORS_OF_PAGES)
async def test_a_page_of_another_origin_reads_what_a_door_answers(http: Http, path: str) -> None:
    _, _, asked = await http("OPTIONS", path, headers={"Origin": "https://shop.example"})
    assert {"POST", "DELETE"} <= set(asked["access-control-allow-methods"].split(", "))
    assert asked["access-control-allow-headers"].split(", ")[-1] == "*"  # such as x-stainless-lang
    status, _, answered = await http("POST", path, headers={"Origin": "https://shop.example"}, json=GOOD)
    assert (status in {401, 405}, answered["access-control-allow-origin"]) == (True, "https://shop.example")
    assert "Retry-After" in answered["access-control-expose-headers"].split(", ")
    assert "access-control-allow-credentials" not in answered


@pytest.mark.parametrize("path", ["/mcp", "/a2a", "/v2/team", "/v2/llm/config", "/v2/channels/chatwoot/c1"])
async def test_a_page_of_another_origin_reads_nothing_else(http: Http, path: str) -> None:
    for method in ("OPTIONS", "POST"):
        answer = await http(method, path, headers={"Origin": "https://shop.example"})
        assert "access-control-allow-origin" not in answer[2]


@pytest.mark.parametrize("path", ["/v2/visitors", "/v2/conversations/c-1/messages", *DOORS_OF_PAGES])
async def test_a_browser_may_ask_first(http: Http, path: str) -> None:
    headers = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    status, _, answered = await http("OPTIONS", path, headers=headers)
    assert status == 204
    assert answered["access-control-allow-origin"] == "https://shop.example"
    assert "content-type" in answered["access-control-allow-headers"]
