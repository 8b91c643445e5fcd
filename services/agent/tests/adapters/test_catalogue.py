"""Which tools are offered: known without asking while they are in use, and never for longer than a minute."""

import pytest

from agent.adapters.catalogue import FRESH_SECONDS, RENEW_AFTER_SECONDS, STALE_SECONDS, ExecutorCatalogue
from agent.ports import Requester
from agent.testing.company import COMPANY
from agent.testing.stage import stage
from contracts.errors import ErrorCode
from contracts.tools_rpc import CatalogueTool
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.testing.clock import FakeClock
from runtime.testing.servers import NatsServer, eventually

ASKER = Requester(principal="x", role="visitor", plan="free", user=None, language="en")


async def test_what_is_in_use_is_asked_for_anew_and_nobody_waits_for_it(nats_server: NatsServer) -> None:
    clock = FakeClock()
    async with stage(nats_server.url) as scene:
        catalogue = ExecutorCatalogue(RpcClient(scene.nats), clock.monotonic)

        async def offered() -> list[str]:
            return [tool.name for tool in await catalogue.offered(COMPANY, ASKER)]

        scene.executor.offer("one", {})
        assert await offered() == ["one"]
        scene.executor.offer("two", {})
        await clock.advance(RENEW_AFTER_SECONDS)
        assert await offered() == ["one"]
        await clock.advance(1)
        assert await offered() == ["one"]

        async def renewed() -> bool:
            return await offered() == ["one", "two"]

        await eventually(renewed)
        scene.executor.offer("three", {})
        await clock.advance(FRESH_SECONDS)
        assert await offered() == ["one", "two", "three"]


async def test_what_was_known_before_the_settings_changed_is_offered_while_the_executor_is_silent(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    async with stage(nats_server.url) as scene:
        catalogue = ExecutorCatalogue(RpcClient(scene.nats), clock.monotonic)
        scene.executor.offer("one", {})

        def is_silent() -> list[CatalogueTool]:
            raise RpcError(ErrorCode.UNAVAILABLE, "standing still")

        async def offered() -> list[str]:
            return [tool.name for tool in await catalogue.offered(COMPANY, ASKER)]

        assert await offered() == ["one"]
        answer = scene.executor.catalogue
        monkeypatch.setattr(scene.executor, "catalogue", is_silent)
        catalogue.drop(COMPANY)
        assert await offered() == ["one"]
        await clock.advance(STALE_SECONDS - 1)
        assert await offered() == ["one"]
        await clock.advance(1)
        assert await offered() == []
        monkeypatch.setattr(scene.executor, "catalogue", answer)
        scene.executor.offer("two", {})
        assert await offered() == ["one", "two"]


async def test_an_answer_that_was_under_way_when_settings_changed_is_not_kept(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(nats_server.url) as scene:
        catalogue = ExecutorCatalogue(RpcClient(scene.nats))
        scene.executor.offer("old", {})
        answer = scene.executor.catalogue

        def settings_change_while_it_answers() -> list[CatalogueTool]:
            catalogue.drop(COMPANY)
            return answer()

        monkeypatch.setattr(scene.executor, "catalogue", settings_change_while_it_answers)
        assert [tool.name for tool in await catalogue.offered(COMPANY, ASKER)] == ["old"]
        scene.executor.offer("new", {})
        assert [tool.name for tool in await catalogue.offered(COMPANY, ASKER)] == ["old", "new"]


async def test_an_executor_that_refuses_is_there_and_a_silent_one_is_not(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(nats_server.url) as scene:
        catalogue = ExecutorCatalogue(RpcClient(scene.nats))
        assert await catalogue.served(COMPANY, ASKER, "one")
        for code, there in ((ErrorCode.INTERNAL, True), (ErrorCode.UNAVAILABLE, False)):

            def refuses(code: ErrorCode = code) -> list[CatalogueTool]:
                raise RpcError(code, "not now")

            monkeypatch.setattr(scene.executor, "catalogue", refuses)
            assert await catalogue.served(COMPANY, ASKER, "one") is there
