"""The official MCP client against the running product."""

import json
import uuid
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from gateway.testing.npm import npm_clients
from tests.support.mcp_client import VIEWS, Mode, Person, Tasks, about_task, connected
from tests.support.running_stack import RunningStack

ORDER: dict[str, Any] = {"symbol": "IBM", "side": "buy", "quantity": 2, "order_type": "market"}
QUESTION = {"query": "Compare IBM and MSFT over the last year"}
MODES: tuple[Mode, ...] = ("auto", "legacy")


@pytest.fixture
def ana(stack: RunningStack) -> str:
    """The token of a customer with the pro plan, of this test alone."""
    return stack.mint("user", f"mcp-{uuid.uuid4().hex[:12]}", plan="pro")


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_catalogue_of_the_plan_is_listed_and_called(
    stack: RunningStack, ana: str, mode: Mode, revision: str
) -> None:
    async with connected(stack.url, ana, mode=mode) as client:
        assert client.protocol_version == revision
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [tool.name for tool in (await client.list_tools()).tools]
        assert "create_paper_order" in tools
        assert "get_ml_features" not in tools, "it is premium's"
        assert all("ui" not in (tool.meta or {}) for tool in tools.values()), "this client shows no views"
        price, delete = tools["get_price"], tools["delete_alert"]
        assert price.input_schema["required"] == ["symbol"]
        assert price.output_schema is not None
        assert price.annotations is not None
        assert delete.annotations is not None
        assert (price.annotations.read_only_hint, price.annotations.destructive_hint) == (True, False)
        assert (delete.annotations.read_only_hint, delete.annotations.destructive_hint) == (False, True)
        result = await client.call_tool("get_price", {"symbol": "IBM"})
        assert not result.is_error
        assert result.structured_content["symbol"] == "IBM"
        assert json.loads(_text(result)) == result.structured_content
        assert result.meta is not None
        assert result.meta["nexus/limit"]["limit"] == 60


async def ask_npm(stack: RunningStack, token: str, client: str, *calls: list[Any], **more: Any) -> Any:
    """What a session of npm's client comes to, call by call, and what it asked its user. `client`: mcp is
    `@modelcontextprotocol/client` (2026-07-28), mcp1 `@modelcontextprotocol/sdk`, which hosts have had for years."""
    async with npm_clients() as clients:
        return await clients.ask(client, stack.url, token, calls=calls, **more)


@pytest.mark.parametrize("client", ["mcp", "mcp1"])
async def test_npms_clients_list_call_confirm_and_are_refused(stack: RunningStack, ana: str, client: str) -> None:
    async def ask(*calls: list[Any], **more: Any) -> Any:
        return await ask_npm(stack, ana, client, *calls, **more)

    told = await ask(
        ["listTools"],
        ["callTool", {"name": "get_price", "arguments": {"symbol": "IBM"}}],
        ["callTool", {"name": "get_price", "arguments": {"symbol": 5}}],
        ["callTool", {"name": "no_such_tool", "arguments": {}}],
        ["callTool", {"name": "market_analysis", "arguments": QUESTION}],
        ["listResources"],
        ["listResourceTemplates"],
        ["readResource", {"uri": "ui://nexus/chart"}],
        ["callTool", {"name": "create_paper_order", "arguments": ORDER}],
        answer={"action": "accept", "content": {"confirm": True, "quantity": 3}},
    )
    listed, price, wrong, unknown, analysis, resources, templates, view, order = told["done"]
    assert {"get_price", "create_paper_order", "market_analysis"} <= {tool["name"] for tool in listed["tools"]}
    assert price["structuredContent"]["symbol"] == "IBM"
    assert (wrong["isError"], wrong["structuredContent"]["error"]["code"]) == (True, "VALIDATION_ERROR")
    assert (unknown["thrown"]["code"], unknown["thrown"]["data"]) == (-32602, {"code": "TOOL_NOT_FOUND"})
    assert analysis["structuredContent"]["tickers"] == ["IBM", "MSFT"]
    assert len(resources["resources"]) == 2
    assert templates["resourceTemplates"] == []
    assert view["contents"][0]["text"].startswith("<!doctype html>")
    (form,) = told["asked"]
    assert list(form["requestedSchema"]["properties"]) == ["confirm", "quantity"]
    made = order["structuredContent"]
    assert (made["status"], made["order"]["quantity"], made["estimate"]) == ("confirmed", 3, None)
    assert "3 IBM" in made["summary"]


async def test_who_declares_no_tasks_may_not_ask_to_be_told_of_them(stack: RunningStack, ana: str) -> None:
    async def listen(wanted: dict[str, Any], **more: Any) -> dict[str, Any]:
        told = await ask_npm(stack, ana, "mcp", ["listen", wanted], **more)
        return told["done"][0]["thrown"]

    refused = await listen({"taskIds": ["t"]})
    tasks: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}
    assert (refused["code"], refused["data"]) == (-32021, {"requiredCapabilities": {"extensions": tasks}})
    # Nobody else is told of anything either, which is no such method.
    asked: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"toolsListChanged": True}, {}),
        ({"taskIds": ["t"]}, {"extensions": tasks}),
    ]
    for wanted, declared in asked:
        assert '"code":-32601' in (await listen(wanted, capabilities=declared))["message"]


async def test_who_names_no_language_hears_their_own_or_their_companys(stack: RunningStack) -> None:
    company = f"c-{uuid.uuid4().hex[:12]}"
    await stack.create_company(company, languages=["en", "es"])
    token = stack.mint("user", "lee", company, plan="pro")
    order = ["callTool", {"name": "create_paper_order", "arguments": ORDER}]
    said = {"answer": {"action": "decline"}}
    (form,) = (await ask_npm(stack, token, "mcp", order, **said))["asked"]
    assert form["message"].startswith("Do you confirm")
    heard: list[str] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message or "")

    async with connected(stack.url, token, language="*") as client:
        await client.call_tool("market_analysis", {"query": "¿Cómo va IBM?"}, progress_callback=heard_of)
    assert heard[0] == "En cola"


async def test_what_is_refused_is_a_result_that_tells_its_code(stack: RunningStack, ana: str) -> None:
    async with connected(stack.url, ana) as client:
        wrong = await client.call_tool("get_price", {"symbol": 5})
        assert wrong.is_error
        assert wrong.structured_content["error"]["code"] == "VALIDATION_ERROR"
        assert wrong.structured_content["error"]["fields"][0]["field"] == "symbol"
        above = await client.call_tool("get_ml_features", {"symbol": "IBM", "prediction_id": "p"})
        assert above.structured_content["error"]["requiredPlan"] == "premium"
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("no_such_tool", {})
        assert unknown.value.error.data == {"code": "TOOL_NOT_FOUND"}
        for listed in (client.list_tools, client.list_resources):
            with pytest.raises(MCPError, match="cursor"):
                await listed(cursor="made-up")


@pytest.mark.parametrize("mode", MODES)
async def test_an_order_is_placed_when_its_user_says_yes(stack: RunningStack, ana: str, mode: Mode) -> None:
    person = Person()
    async with connected(stack.url, ana, person, mode) as client:
        result = await client.call_tool("create_paper_order", ORDER)
        assert result.structured_content["status"] == "confirmed", _text(result)
        assert len(person.asked) == 1
        assert "2 IBM" in person.asked[0]

        assert await _placed(client) == [2]


@pytest.mark.parametrize("mode", MODES)
async def test_a_yes_may_change_what_the_order_lets_be_changed(stack: RunningStack, ana: str, mode: Mode) -> None:
    limit = {**ORDER, "order_type": "limit", "limit_price": 1.0}
    person = Person(quantity=3, limitPrice=1.5)
    async with connected(stack.url, ana, person, mode) as client:
        result = await client.call_tool("create_paper_order", limit)
        assert list(person.fields[0]) == ["confirm", "quantity", "limitPrice"]
        assert [person.fields[0][name]["default"] for name in person.changes] == [2, 1]
        assert result.structured_content["status"] == "confirmed", _text(result)
        order = result.structured_content["order"]
        assert (order["quantity"], order["limit_price"]) == (3, 1.5)
        assert "3 IBM" in result.structured_content["summary"]
        for changes in ({"quantity": 10.0**12}, {"stopPrice": 1.0}):
            person.changes = changes
            refused = await client.call_tool("create_paper_order", limit)
            assert (refused.is_error, refused.structured_content["error"]["code"]) == (True, "BAD_FIELD")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("person", "status"),
    [
        (Person("decline"), "rejected"),
        (Person("accept", confirm=False), "rejected"),
        (Person("cancel"), "pending_confirmation"),
    ],
    ids=["declined", "unticked", "closed"],
)
async def test_an_order_is_not_placed_when_they_do_not(
    stack: RunningStack, ana: str, person: Person, status: str, mode: Mode
) -> None:
    async with connected(stack.url, ana, person, mode) as client:
        result = await client.call_tool("create_paper_order", ORDER)
        assert result.structured_content["status"] == status
        assert await _placed(client) == []


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_cannot_ask_is_told_that_it_waits(stack: RunningStack, ana: str, mode: Mode) -> None:
    async with connected(stack.url, ana, mode=mode) as client:
        result = await client.call_tool("create_paper_order", ORDER)
        assert result.structured_content["status"] == "pending_confirmation"


async def test_a_repeated_key_is_the_same_call_and_the_same_order(stack: RunningStack, ana: str) -> None:
    person = Person()
    meta: Any = {"nexus/idempotencyKey": "once"}
    async with connected(stack.url, ana, person) as client:
        first = await client.call_tool("create_paper_order", ORDER, meta=meta)
        again = await client.call_tool("create_paper_order", ORDER, meta=meta)
        ids = [result.structured_content["action_id"] for result in (first, again)]
        assert ids[0] == ids[1]
        assert [result.structured_content["status"] for result in (first, again)] == ["confirmed", "confirmed"]
        other = await client.call_tool("create_paper_order", {**ORDER, "quantity": 3}, meta=meta)
        assert other.structured_content["error"]["code"] == "CONFLICT"

        assert await _placed(client) == [2]
        assert len(person.asked) == 2, "the second answer changed nothing: the first one stands"


async def test_nobody_confirms_what_another_was_asked(stack: RunningStack, ana: str) -> None:
    async with connected(stack.url, ana, Person()) as client:
        asked = await client.session.call_tool("create_paper_order", ORDER, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
    said: Any = {"order": types.ElicitResult(action="accept", content={"confirm": True})}
    eva = stack.mint("user", "mcp-eva", plan="pro")
    for token, arguments in ((eva, ORDER), (ana, {**ORDER, "quantity": 500})):
        async with connected(stack.url, token, Person()) as client:
            with pytest.raises(MCPError, match="requestState"):
                await client.session.call_tool(
                    "create_paper_order", arguments, input_responses=said, request_state=asked.request_state
                )


async def test_an_analysis_is_a_task_of_its_users(stack: RunningStack, ana: str) -> None:
    tasks = Tasks()
    async with connected(stack.url, ana, extensions=[tasks]) as client:
        result = await client.call_tool("market_analysis", QUESTION, meta={"nexus/idempotencyKey": "one"})
        assert result.structured_content["tickers"] == ["IBM", "MSFT"]
        again = await client.call_tool("market_analysis", QUESTION, meta={"nexus/idempotencyKey": "one"})
        assert again.structured_content == result.structured_content
        task = tasks.ids[0]
        assert (tasks.ids, tasks.statuses[-1]) == ([task, task], "completed")
        told = await about_task(client.session, "tasks/get", task)
        assert (told["resultType"], told["ttlMs"], type(told["pollIntervalMs"])) == ("complete", 7 * 86_400_000, int)
        assert (await about_task(client.session, "tasks/cancel", task)).keys() <= {"_meta", "resultType"}
        assert (await about_task(client.session, "tasks/get", task))["status"] == "completed"
    async with connected(stack.url, stack.mint("user", "mcp-eva", plan="pro"), extensions=[Tasks()]) as other:
        for method in ("tasks/get", "tasks/cancel"):
            with pytest.raises(MCPError, match="Task not found"):
                await about_task(other.session, method, task)
    async with connected(stack.url, ana) as without:
        with pytest.raises(MCPError) as refused:
            await about_task(without.session, "tasks/get", task)
        assert refused.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_without_tasks_waits_and_hears_of_the_progress(
    stack: RunningStack, ana: str, mode: Mode
) -> None:
    heard: list[float] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        assert (total, bool(message)) == (5, True)
        heard.append(progress)

    async with connected(stack.url, ana, mode=mode) as client:
        result = await client.call_tool("market_analysis", QUESTION, progress_callback=heard_of)
        assert (result.is_error, result.structured_content["tickers"]) == (False, ["IBM", "MSFT"])
        assert heard[0] == 0
        assert heard == sorted(set(heard))
        wrong = await client.call_tool("market_analysis", {"query": " "})
        assert wrong.structured_content["error"]["code"] == "EMPTY_TEXT"


@pytest.mark.parametrize("mode", MODES)
async def test_an_orders_card_decides_its_own_order_once(stack: RunningStack, ana: str, mode: Mode) -> None:
    async with connected(stack.url, ana, mode=mode, extensions=[VIEWS]) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        views = {str(view.uri) for view in (await client.list_resources()).resources}
        listed: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {}}
        spanish = {"Accept": "application/json, text/event-stream", "Accept-Language": "es"}
        async with httpx2.AsyncClient(headers=spanish | {"Authorization": f"Bearer {ana}"}) as other:
            assert "Precios en un gráfico" in (await other.post(f"{stack.url}/mcp", json=listed)).text
            opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            opened = await other.post(f"{stack.url}/mcp", json=listed | {"method": "initialize", "params": opening})
            assert "Datos de mercado" in opened.text
        for name in ("get_ohlcv", "market_snapshot", "create_paper_order", "decide_order"):
            assert (tools[name].meta or {})["ui"]["resourceUri"] in views, name
        assert (tools["decide_order"].meta or {})["ui"]["visibility"] == ["app"]
        (view,) = (await client.read_resource("ui://nexus/order")).contents
        assert isinstance(view, types.TextResourceContents)
        assert (view.mime_type, view.text.startswith("<!doctype html>")) == ("text/html;profile=mcp-app", True)
        with pytest.raises(MCPError):
            await client.read_resource("ui://nexus/another")

        first, second = [await client.call_tool("create_paper_order", ORDER) for _ in range(2)]
        assert first.structured_content["status"] == "pending_confirmation"
        yes = {
            "action_id": first.structured_content["action_id"],
            "confirmation": (first.meta or {})["nexus/confirmation"],
            "decision": "confirm",
        }
        swapped = yes | {"action_id": second.structured_content["action_id"]}
        assert (await client.call_tool("decide_order", swapped)).structured_content["error"]["code"] == "FORBIDDEN"
        unsigned = await client.call_tool("decide_order", {"action_id": yes["action_id"], "decision": "confirm"})
        assert unsigned.structured_content["error"]["message"] == "confirmation: is required"
        decided = await client.call_tool("decide_order", yes | {"edits": {"quantity": 3}})
        assert decided.structured_content["action"]["details"]["quantity"] == "3"
        late = await client.call_tool("decide_order", yes | {"decision": "reject"})
        assert late.structured_content["status"] == "confirmed", "the first click stands"
        assert await _placed(client) == [3]
    async with connected(stack.url, stack.mint("user", "mcp-eva", plan="pro"), mode=mode, extensions=[VIEWS]) as other:
        assert (await other.call_tool("decide_order", yes)).structured_content["error"]["code"] == "FORBIDDEN"
    async with connected(stack.url, ana, mode=mode) as without:
        assert "decide_order" not in {tool.name for tool in (await without.list_tools()).tools}
        assert "nexus/confirmation" not in ((await without.call_tool("create_paper_order", ORDER)).meta or {})
        with pytest.raises(MCPError, match="Unknown tool"):
            await without.call_tool("decide_order", yes)


async def test_without_a_customers_token_there_is_nothing(stack: RunningStack) -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{stack.url}/mcp", json={})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        for role in ("admin", "commercial"):
            headers = {"Authorization": f"Bearer {stack.mint(role, 'x')}"}
            assert (await http.post(f"{stack.url}/mcp", json={}, headers=headers)).status_code == 403
        headers = {"Authorization": f"Bearer {stack.mint('service', 'crm')}", "Origin": "https://evil.example"}
        assert (await http.post(f"{stack.url}/mcp", json={}, headers=headers)).status_code == 403


async def _placed(client: Client) -> list[float]:
    """The quantities of the orders that work in the market, and of those that have been executed already."""
    working = (await client.call_tool("get_pending_orders", {})).structured_content["orders"]
    trades = (await client.call_tool("get_trade_history", {})).structured_content["trades"]
    placed = [order for order in working if order["status"] != "pending_confirmation"]
    return [order["quantity"] for order in (*placed, *trades)]


def _text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text
