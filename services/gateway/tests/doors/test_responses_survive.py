"""kill -9 of the gateway in mid-answer: OpenAI's own client goes on at another one and has the whole answer once."""

import asyncio
from pathlib import Path
from typing import Any, cast

import httpx2
import openai
import pytest
from nats.aio.client import Client

from contracts.agent_rpc import TurnState
from contracts.ids import answer_id
from gateway.testing.doors import AnsweringAgent, kill_moments
from gateway.testing.harness import AgentStandIn
from gateway.testing.openai import openai_client
from gateway.testing.process import GatewayProcess
from gateway.testing.tokens import TokenMaker
from runtime.bus.streams import ensure_streams
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer

PIECES = [f"piece {number} ñ, " for number in range(12)]
WHOLE = "".join(PIECES)


async def _until_it_breaks(stream: Any, gateway: GatewayProcess, characters: int) -> list[Any]:
    """What the client has heard when its gateway is killed after some of the text."""
    heard: list[Any] = []
    said = ""
    try:
        async for event in stream:
            heard.append(event)
            said += event.delta if event.type == "response.output_text.delta" else ""
            if len(said) >= characters:
                gateway.kill()
    except (openai.APIError, httpx2.HTTPError):
        return heard
    raise AssertionError("the stream has ended as if nothing had happened")


@pytest.mark.parametrize("characters", kill_moments(len(PIECES[0]) * 2, len("".join(PIECES[:6]))))
@pytest.mark.usefixtures("memory")
async def test_a_gateway_killed_in_mid_answer(
    nats_server: NatsServer,
    nats_client: Client,
    keys: TokenSettings,
    tokens: TokenMaker,
    tmp_path: Path,
    characters: int,
) -> None:
    await ensure_streams(nats_client)
    go_on = asyncio.Event()

    async def slowly(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        del text
        for number, piece in enumerate(PIECES):
            if number == len(PIECES) // 2:
                await go_on.wait()
            await turn.delta(number, piece)
            # As an agent: what it says of the text so far has been told.
            said = "".join(PIECES[: number + 1])
            message = answer_id(turn.turn)
            turn.state = TurnState(turn_id=turn.turn, message_id=message, text_so_far=said, delta_seq=number)
        await turn.answer(basis, WHOLE)
        turn.state = None

    agent = AnsweringAgent(nats_client, answering=slowly)
    await agent.start()
    first = GatewayProcess(tmp_path / "first", nats_server.url, keys)
    second = GatewayProcess(tmp_path / "second", nats_server.url, keys)
    await asyncio.gather(asyncio.to_thread(first.start), asyncio.to_thread(second.start))
    key = tokens.user("ana", "user")
    try:
        async with (
            openai_client(first.url, key, timeout=30) as before,
            openai_client(second.url, key, timeout=30) as after,
        ):
            stream = await before.responses.create(model="nexus", input="tell me", stream=True)
            heard = await _until_it_breaks(stream, first, characters)
            response = heard[0].response.id
            standing = await after.responses.retrieve(response)
            assert (standing.status, WHOLE.startswith(standing.output_text)) == ("in_progress", True)
            resumed = await after.responses.retrieve(response, stream=True, starting_after=heard[-1].sequence_number)
            go_on.set()
            rest = [event async for event in resumed]
            text = "".join(event.delta for event in heard + rest if event.type == "response.output_text.delta")
            assert text == WHOLE
            assert rest[-1].type == "response.completed"
            assert (await after.responses.retrieve(response)).output_text == WHOLE
            # Whoever heard nothing at all tries again, as the client does by itself: it is the same message.
            again = await after.responses.create(
                model="nexus", input="tell me", extra_headers={"x-stainless-retry-count": "1"}
            )
            assert (again.id, again.output_text) == (response, WHOLE)
            assert len(agent.received_messages) == 1
            assert cast("Any", again).conversation.id == agent.received_messages[0][0]
    finally:
        first.stop()
        second.stop()
