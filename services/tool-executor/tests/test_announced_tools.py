"""Tools of other services: announced on the bus, checked, called with the same rules, gone with their owner."""

import json
from typing import Any

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.channels import fact
from contracts.company import ToolConfig
from contracts.envelope import CloudEvent
from contracts.errors import FieldFault, ToolCode
from contracts.events.tool import ToolDeclaration, ToolsAnnounced, ToolsWithdrawn
from contracts.rpc import Rpc
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest
from runtime.bus.connection import subscribe
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError
from runtime.testing.servers import ValkeyServer, eventually
from tool_executor.catalogue.announced import MAX_TOOLS, Offers
from tool_executor.catalogue.registry import build_registry
from tool_executor.domain.plans import CompanyTools, Plan, VerifiedCaller
from tool_executor.testing.harness import CountingHandler, Memory, Someone, ToolRequester, running_executor, tool_named

AnnouncedEvent = CloudEvent[ToolsAnnounced]
WithdrawnEvent = CloudEvent[ToolsWithdrawn]
SUBJECT = "rpc.tool.weather"


def declared(name: str = "forecast", **more: Any) -> ToolDeclaration:
    plain: dict[str, Any] = {
        "id": f"weather.{name}",
        "name": name,
        "description": {"en": "Forecast", "es": "Pronóstico"},
        "category": "news",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "output_schema": {"type": "object", "required": ["celsius"]},
    }
    return ToolDeclaration(**(plain | more))


def announced(
    *tools: ToolDeclaration, service: str = "weather", subject: str = SUBJECT, ttl: int = 60
) -> ToolsAnnounced:
    return ToolsAnnounced(service=service, tools=list(tools), call_subject=subject, ttl_seconds=ttl)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def offers(clock: Clock) -> Offers:
    """Over a catalogue of one tool, `ours`."""
    return Offers(build_registry([tool_named("ours", CountingHandler())]), clock)


def test_an_announced_tool_lasts_until_its_time_is_over(offers: Offers, clock: Clock):
    assert offers.announce("-", announced(declared()), 60) == []
    clock.now = 59
    assert offers.find("forecast", "demo") is not None
    assert offers.announce("-", announced(declared()), 60) == []
    clock.now = 118
    assert offers.find("forecast", "demo") is not None
    clock.now = 119
    assert offers.find("forecast", "demo") is None


def test_an_announcement_to_a_company_is_that_companys_alone(offers: Offers):
    offers.announce("demo", announced(declared()), 60)
    assert offers.find("forecast", "demo") is not None
    assert offers.find("forecast", "other") is None


def test_a_name_belongs_to_the_catalogue_then_to_everybody_then_to_the_company(offers: Offers):
    assert "ours" in offers.announce("-", announced(declared("ours", id="x.ours")), 60)[0]
    offers.announce("demo", announced(declared(required_plan="pro"), service="local"), 60)
    offers.announce("-", announced(declared(required_plan="free")), 60)
    found = offers.find("forecast", "demo")
    assert found is not None
    assert found.plan is Plan.FREE
    listed = offers.offered_to(VerifiedCaller("demo", "u", "user", Plan.PREMIUM), CompanyTools())
    assert [entry.tool.name for entry in listed] == ["ours", "forecast"]


def test_between_two_services_a_name_belongs_to_the_one_that_holds_it(offers: Offers, clock: Clock):
    offers.announce("-", announced(declared()), 60)
    other = announced(declared(required_plan="pro"), service="other", subject="rpc.tool.other", ttl=600)
    assert "choose a new one" in offers.announce("-", other, 600)[0]
    clock.now = 61
    assert offers.announce("-", other, 600) == []
    found = offers.find("forecast", "demo")
    assert found is not None
    assert found.plan is Plan.PRO


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"required_plan": "gold"}, "no plan"),
        ({"category": "fun"}, "no category"),
        ({"name": "a.b"}, "the name"),
        ({"input_schema": {"type": "object"}}, "additionalProperties"),
        ({"output_schema": {"$ref": "https://example.com/x"}}, "does not compile"),
        ({"id": "test.ours"}, "another tool has this id"),
        ({"description": {"en": "x" * 1025}}, "more than 1024 characters"),
    ],
)
def test_a_wrong_declaration_is_left_out_and_the_others_count(offers: Offers, wrong: dict[str, Any], says: str):
    refused = offers.announce("-", announced(declared("fine"), declared(**wrong)), 60)
    assert len(refused) == 1
    assert says in refused[0]
    assert offers.find("fine", "demo") is not None
    assert offers.find("forecast", "demo") is None


@pytest.mark.parametrize(
    "subject", ["chat.demo.x", "rpc.tool.>", "rpc.tool.*", "rpc.tool", "rpc.tool.ours.v1", "rpc.memory.x"]
)
def test_calls_go_only_to_subjects_of_the_services_own_below_rpc_tool(offers: Offers, subject: str):
    assert "callSubject" in offers.announce("-", announced(declared(), subject=subject), 60)[0]
    assert offers.find("forecast", "demo") is None


def test_a_new_announcement_takes_the_place_of_the_one_before(offers: Offers):
    offers.announce("-", announced(declared("a"), declared("b")), 60)
    offers.announce("-", announced(declared("b"), declared("c")), 60)
    assert [offers.find(name, "demo") is not None for name in "abc"] == [False, True, True]


def test_a_withdrawn_tool_comes_back_when_it_is_announced_again(offers: Offers):
    offer = announced(declared("a"), declared("b"))
    offers.announce("-", offer, 60)
    offers.withdraw("-", "weather", ["a"])
    assert [offers.find(name, "demo") is not None for name in "ab"] == [False, True]
    offers.announce("-", offer, 60)
    assert [offers.find(name, "demo") is not None for name in "ab"] == [True, True]
    offers.withdraw("-", "weather", [])
    assert [offers.find(name, "demo") is not None for name in "ab"] == [False, False]


def test_a_service_cannot_offer_tools_without_end(offers: Offers):
    many = announced(*(declared(f"t{n}") for n in range(MAX_TOOLS + 1)))
    assert "more than" in offers.announce("-", many, 60)[0]
    assert offers.find(f"t{MAX_TOOLS}", "demo") is None


def test_visitors_have_only_what_their_company_lists(offers: Offers):
    offers.announce("-", announced(declared("a"), declared("b")), 60)
    visitor = VerifiedCaller("demo", "v", "visitor")
    listed = offers.offered_to(visitor, CompanyTools(ToolConfig(enabled_tools=["b"])))
    assert [entry.tool.name for entry in listed] == ["b"]


class Weather:
    """A service that offers a tool, and can go away."""

    def __init__(self, client: Client, company: str = "-") -> None:
        self._client = client
        self._company = company
        self._server = RpcServer(client)
        self._publisher = Publisher(client)
        self.calls: list[ToolServiceRequest] = []

    async def serve(self) -> None:
        method = Rpc(SUBJECT, ToolServiceRequest, ToolServiceData, queue="weather", safe=False)
        await self._server.serve(method, self._forecast)
        await self._client.flush()

    async def announce(self, *tools: ToolDeclaration) -> None:
        event = AnnouncedEvent(source="/weather", type="tools.announced.v1", data=announced(*tools))
        await self._publisher.append(
            fact("tools.announced.v1", self._company, None), event, stream="FACTS", msg_id=event.id
        )

    async def withdraw(self) -> None:
        event = WithdrawnEvent(source="/weather", type="tools.withdrawn.v1", data=ToolsWithdrawn(service="weather"))
        await self._publisher.append(
            fact("tools.withdrawn.v1", self._company, None), event, stream="FACTS", msg_id=event.id
        )

    async def stop(self) -> None:
        await self._server.drain(1.0)
        await self._client.flush()

    async def _forecast(self, request: ToolServiceRequest) -> ToolServiceData:
        self.calls.append(request)
        if request.arguments["city"] == "Atlantis":
            fault = FieldFault(field="city", message="lies under the sea")
            raise RpcError(ToolCode.VALIDATION_ERROR, "forecast: city: lies under the sea", fields=[fault])
        return ToolServiceData(result={"celsius": 21} if request.arguments["city"] != "Nowhere" else {})


async def test_an_announced_tool_is_called_under_the_same_rules(nats_client: Client, valkey_server: ValkeyServer):
    async with running_executor(nats_client, valkey_server.url) as executor:
        weather = Weather(nats_client)
        await weather.serve()
        await weather.announce(declared(required_plan="pro", per_minute=4, cacheable=True))
        await eventually(lambda: executor.offers.find("forecast", "demo"))
        asker, ana = ToolRequester(nats_client), Someone(sub="ana", plan="pro")

        free = (await asker.call("forecast", {"city": "Lima"})).result.error
        assert free is not None
        assert (free.code, free.required_plan) == (ToolCode.PLAN_REQUIRED, "pro")
        first = await asker.call("forecast", {"city": "Lima"}, ana, call_id="one")
        assert first.result.data == {"celsius": 21}
        assert (weather.calls[0].caller.user_id, weather.calls[0].call_id) == ("ana", "one")
        assert (await asker.call("forecast", {"city": "Lima"}, ana, call_id="one", attempt=2)).result == first.result
        assert (await asker.call("forecast", {"city": "Lima"}, ana)).result.metadata.cached
        wrong = (await asker.call("forecast", {}, ana)).result.error
        assert wrong is not None
        assert wrong.code == ToolCode.VALIDATION_ERROR
        invalid = (await asker.call("forecast", {"city": "Nowhere"}, ana)).result.error
        assert invalid is not None
        assert invalid.code == ToolCode.INVALID_OUTPUT
        spent = (await asker.call("forecast", {"city": "Lima"}, ana)).result.error
        assert spent is not None
        assert spent.code == ToolCode.RATE_LIMIT
        assert len(weather.calls) == 3


async def test_arguments_that_the_service_refuses_are_told_field_by_field(
    nats_client: Client, valkey_server: ValkeyServer
):
    async with running_executor(nats_client, valkey_server.url) as executor:
        weather = Weather(nats_client)
        await weather.serve()
        await weather.announce(declared())
        await eventually(lambda: executor.offers.find("forecast", "demo"))
        error = await ToolRequester(nats_client).failure("forecast", {"city": "Atlantis"})
        assert error.code == ToolCode.VALIDATION_ERROR
        assert [(one.field, one.message) for one in error.fields or ()] == [("city", "lies under the sea")]


@pytest.mark.parametrize("answer", [b"", b"[]", b"\xff", b'{"data": {"result": null}}', b'{"error": {}}'])
async def test_an_answer_that_is_none_is_a_failure_in_the_callers_language(
    nats_client: Client, valkey_server: ValkeyServer, answer: bytes
):
    async def answers(message: Msg) -> None:
        await message.respond(answer)

    async with running_executor(nats_client, valkey_server.url) as executor:
        weather = Weather(nats_client)
        await subscribe(nats_client, SUBJECT, answers)
        await weather.announce(declared())
        await eventually(lambda: executor.offers.find("forecast", "demo"))
        error = (
            await ToolRequester(nats_client).call("forecast", {"city": "Lima"}, Someone(language="es"))
        ).result.error
        assert error is not None
        assert (error.code, error.reason) == (ToolCode.EXECUTION_ERROR, "internal")
        assert error.message == "forecast ha fallado."


async def test_what_was_announced_before_an_executor_started_is_known_to_it(
    nats_client: Client, valkey_server: ValkeyServer
):
    await ensure_streams(nats_client)
    weather = Weather(nats_client, company="demo")
    await weather.serve()
    await weather.announce(declared("gone"))
    await weather.withdraw()
    await weather.announce(declared())
    async with running_executor(nats_client, valkey_server.url) as executor:
        assert (await ToolRequester(nats_client).call("forecast", {"city": "Lima"})).result.success
        assert executor.offers.find("gone", "demo") is None
        assert executor.offers.find("forecast", "other") is None


@pytest.mark.parametrize("withdrawn", [True, False], ids=["withdrawn", "no responders"])
async def test_tools_go_with_their_owner(nats_client: Client, valkey_server: ValkeyServer, withdrawn: bool):
    await Memory().serve(nats_client)
    async with running_executor(nats_client, valkey_server.url) as executor:
        weather = Weather(nats_client)
        await weather.serve()
        await weather.announce(declared())
        await eventually(lambda: executor.offers.find("forecast", "demo"))
        asker = ToolRequester(nats_client)
        assert (await asker.call("forecast", {"city": "Lima"})).result.success
        if withdrawn:
            await weather.withdraw()
            await eventually(lambda: executor.offers.find("forecast", "demo") is None)
        else:
            await weather.stop()
            away = (await asker.call("forecast", {"city": "Lima"})).result.error
            assert away is not None
            assert away.code == ToolCode.UNAVAILABLE
        gone = (await asker.call("forecast", {"city": "Lima"})).result.error
        assert gone is not None
        assert gone.code == ToolCode.TOOL_NOT_FOUND


async def test_a_malformed_announcement_changes_nothing_and_a_malformed_declaration_is_left_out(
    nats_client: Client, valkey_server: ValkeyServer
):
    async with running_executor(nats_client, valkey_server.url) as executor:
        weather = Weather(nats_client)
        await nats_client.publish("tools.announced.v1.-.-", b'{"data": {"tools": 1}}')
        await weather.announce(declared())
        await eventually(lambda: executor.offers.find("forecast", "demo"))
        event = AnnouncedEvent(source="/weather", type="tools.announced.v1", data=announced(declared("rain")))
        body = json.loads(event.to_json())
        body["data"]["tools"] += [{"name": "bare"}, None]
        await nats_client.publish("tools.announced.v1.-.-", json.dumps(body).encode())
        await eventually(lambda: executor.offers.find("rain", "demo"))
