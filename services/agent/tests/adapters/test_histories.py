"""What was said, read with as few questions as possible: always the same as memory would have said."""

import pytest
from nats.aio.client import Client

from agent.adapters.histories import HistoryClient
from agent.adapters.history_cache import MAX_CHARS, MAX_WINDOWS, PROMPT_MESSAGES, HistoryWindow, recent_windows
from agent.domain.context.compression import PromptMessage
from agent.errors import UnreachableError
from agent.ports import ConversationKey, PromptHistory
from agent.testing.company import COMPANY
from agent.testing.stage import stage
from runtime.bus.direct import StoredFact
from runtime.calls.rpc import RpcClient
from runtime.conversation import ConversationLog
from runtime.recent import DEFAULT_TTL_SECONDS
from runtime.testing.clock import FakeClock
from runtime.testing.servers import NatsServer

KEY = ConversationKey(COMPANY, "c1")


async def test_after_the_first_time_memory_is_not_asked_and_the_history_is_the_same(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        kept = HistoryClient(RpcClient(scene.nats), scene.log)
        await kept.up_to(KEY, await scene.visitor("c1", "the first"))
        for number in range(2 * PROMPT_MESSAGES):
            await scene.visitor("another", "not of this conversation")
            if number % 3 == 2:
                await scene.take("c1")
            write = scene.visitor if number % 2 else scene.operator
            seq = await write("c1", f"message {number}")
            # Nothing kept: this one asks memory.
            asked = await HistoryClient(RpcClient(scene.nats), scene.log).up_to(KEY, seq)
            scene.memory_fails = True
            assert await kept.up_to(KEY, seq) == asked
            assert await kept.up_to(KEY, seq) == asked
            scene.memory_fails = False


async def test_a_log_that_does_not_show_the_named_message_is_not_believed(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        first = await scene.visitor("c1", "one")
        second = await scene.visitor("c1", "two")
        behind = _Behind(scene.nats)
        histories = HistoryClient(RpcClient(scene.nats), behind)
        await histories.up_to(KEY, first)
        said = await histories.up_to(KEY, second)
        assert [message.text for message in said.messages] == ["one", "two"]


async def test_without_memory_a_log_without_the_named_message_is_read_again_or_nothing_is_said(
    nats_server: NatsServer,
) -> None:
    async with stage(nats_server.url) as scene:
        seq = await scene.visitor("c1", "one")
        scene.memory_fails = True
        soon = await HistoryClient(RpcClient(scene.nats), _Behind(scene.nats, reads=2)).up_to(KEY, seq)
        assert [message.text for message in soon.messages] == ["one"]
        with pytest.raises(UnreachableError):
            await HistoryClient(RpcClient(scene.nats), _Behind(scene.nats)).up_to(KEY, seq)


async def test_an_earlier_sequence_is_asked_for_anew(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        first, second = await scene.visitor("c1", "one"), await scene.visitor("c1", "two")
        histories = HistoryClient(RpcClient(scene.nats), scene.log)
        assert len((await histories.up_to(KEY, second)).messages) == 2
        assert len((await histories.up_to(KEY, first)).messages) == 1


async def test_windows_are_bounded_in_time_number_and_size() -> None:
    clock = FakeClock()
    windows = recent_windows(clock.monotonic)
    windows.keep(KEY, _window("hello"))
    await clock.advance(DEFAULT_TTL_SECONDS)
    assert windows.get(KEY) is not None
    await clock.advance(0.001)
    assert windows.get(KEY) is None

    keys = [ConversationKey(COMPANY, f"c{number}") for number in range(MAX_WINDOWS + 1)]
    for key in keys:
        windows.keep(key, _window("hello"))
    assert [windows.get(key) is not None for key in keys[:2]] == [False, True]

    windows.keep(KEY, _window("x" * (MAX_CHARS - 5)))
    assert [windows.get(key) is not None for key in keys[-2:]] == [False, True]
    assert windows.get(KEY) is not None


class _Behind(ConversationLog):
    """A replica that has not got the newest message yet; for so many `reads`."""

    def __init__(self, client: Client, reads: int = 100) -> None:
        super().__init__(client)
        self._behind = reads

    async def read(
        self, company: str, conversation: str, after: int, up_to: int, *, deadline: float = 10.0
    ) -> list[StoredFact]:
        facts = await super().read(company, conversation, after, up_to, deadline=deadline)
        self._behind -= 1
        return facts[:-1] if self._behind >= 0 else facts


def _window(text: str) -> HistoryWindow:
    return HistoryWindow(1, PromptHistory((PromptMessage(mine=False, text=text, seq=1),)))
