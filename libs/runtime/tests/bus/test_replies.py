"""One inbox for all requests: what a wait that ends leaves to the next."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from runtime.bus.bus_client import BusClient
from runtime.bus.replies import ReplyInbox
from runtime.testing.servers import NatsServer, eventually


async def test_a_cancelled_wait_leaves_the_answer_to_the_next(nats_client: Client) -> None:
    with await ReplyInbox.of(nats_client).expect() as pending:
        waiting = asyncio.create_task(pending.wait(60))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(TimeoutError):
            await pending.wait(0.01)
        await nats_client.publish(pending.reply_to, b"late")
        assert [reply.data for reply in await pending.wait(20)] == [b"late"]


async def test_a_wait_that_is_cancelled_as_the_answer_comes_does_not_lose_it(nats_client: Client) -> None:
    with await ReplyInbox.of(nats_client).expect() as pending:
        waiting = asyncio.create_task(pending.wait(60))
        await asyncio.sleep(0)
        # The answer is there and the waiter not yet awake: the moment at which a time limit may strike.
        await nats_client.publish(pending.reply_to, b"just now")
        await eventually(lambda: nats_client.stats["in_msgs"])
        waiting.cancel()
        await asyncio.wait((waiting,), timeout=20)
        assert [reply.data for reply in await pending.wait(20)] == [b"just now"]


async def test_an_answer_that_comes_as_the_time_ends_counts(nats_client: Client) -> None:
    """Else it would end the wait for the next request at once: a refusal, while that request is carried out."""
    with await ReplyInbox.of(nats_client).expect() as pending:
        waiting = asyncio.create_task(pending.wait(0))
        await asyncio.sleep(0)
        late = Msg(nats_client, pending.reply_to, "", b"just then")
        # Behind the timer, before the waiter is awake: what a process does first that stood still.
        asyncio.get_running_loop().call_later(0, pending.accept, late)
        assert await asyncio.wait_for(waiting, 20) == [late]


def time_outs() -> set[int]:
    """All there are in this process, by identity."""
    return {id(object) for object in gc.get_objects() if type(object) is TimeoutError}


async def test_a_wait_that_times_out_leaves_nothing_to_the_garbage_collector(nats_client: Client) -> None:
    with await ReplyInbox.of(nats_client).expect() as pending:
        gc.collect()
        gc.disable()
        before = time_outs()
        try:
            with contextlib.suppress(TimeoutError):
                await pending.wait(0)
            assert time_outs() <= before
        finally:
            gc.enable()


async def test_the_answer_to_any_name_counts_and_a_closed_question_leaves_nothing_behind(nats_client: Client) -> None:
    inbox = ReplyInbox.of(nats_client)
    with await inbox.expect() as pending:
        first, second = pending.reply_to, pending.another_name()
        assert first != second
        await nats_client.publish(first, b"1")
        assert [reply.data for reply in await pending.wait(20)] == [b"1"]
        pending.reset()
        await nats_client.publish(second, b"2")
        assert [reply.data for reply in await pending.wait(20)] == [b"2"]
    with await inbox.expect() as other:
        for name in (first, second, other.reply_to):
            await nats_client.publish(name, name.encode())
        assert [reply.data for reply in await other.wait(20)] == [other.reply_to.encode()]


@pytest.mark.own_servers
async def test_a_flush_that_was_given_up_does_not_end_the_reading(nats_server: NatsServer, nats_client: Client) -> None:
    assert isinstance(nats_client, BusClient)
    nats_server.pause()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(nats_client.flush(), 0.1)
    nats_server.resume()
    with await ReplyInbox.of(nats_client).expect() as pending:
        await nats_client.publish(pending.reply_to, b"heard")
        assert [reply.data for reply in await pending.wait(20)] == [b"heard"]
        await nats_client.flush(timeout=20)
    assert nats_client.stats["reconnects"] == 0
