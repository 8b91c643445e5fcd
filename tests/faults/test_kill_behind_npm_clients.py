"""kill -9 of the gateway while npm's clients of OpenAI, AG-UI and A2A hear an answer: they have it whole, once."""

import asyncio
import uuid
from typing import Any

import pytest

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.npm import npm_clients
from runtime.testing.servers import eventually
from tests.faults.pulled_plug import IN_MID_ANSWER, SAID, SLOW, Plug, said_once
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
QUESTION: dict[str, Any] = {"model": "nexus", "messages": [{"role": "user", "content": "tell me"}]}
RETRIES = 20


@IN_MID_ANSWER
async def test_what_broke_off_is_asked_for_again(stack: RunningStack, model: ScriptedModel, heard: int) -> None:
    """A completion is kept nowhere: its beginning ends as an error, and its second model call is the last one."""
    model.say(default=SLOW)
    user, thread = f"u-{uuid.uuid4().hex}", uuid.uuid4().hex
    token = stack.mint("user", user, "acme")
    messages = [{"id": uuid.uuid4().hex, "role": "user", "content": "tell me"}]
    message = {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": "tell me"}]}
    asks: dict[str, dict[str, Any]] = {
        "agui": {"threadId": thread, "messages": messages},
        "a2a": {"message": message},
        "openai": {"path": "chat", "body": QUESTION | {"stream": True}},
    }
    plug = Plug(stack, heard)
    async with npm_clients() as npm:
        broken = await asyncio.gather(
            *(npm.ask(name, stack.url, token, plug.heard, **asked) for name, asked in asks.items())
        )
        assert all("message" in one for one in broken), broken
        await plug.mended()
        agui, a2a, openai = await asyncio.gather(
            *(npm.ask(name, stack.url, token, **asked) for name, asked in asks.items())
        )
    told = [(one["role"], one["content"]) for one in agui["messages"] if one.get("content")]
    assert told == [("user", "tell me"), ("assistant", SAID)]
    assert await said_once(stack, named_conversation_id("acme", user, "ag-ui", thread))
    pieces = [one["artifactUpdate"]["artifact"]["parts"][0]["text"] for one in a2a if "artifactUpdate" in one]
    assert ("".join(pieces), a2a[-1]["statusUpdate"]["status"]["state"]) == (SAID, "TASK_STATE_COMPLETED")
    assert await said_once(stack, a2a[0]["task"]["contextId"])
    choices = [one["choices"][0] for one in openai if one["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == SAID
    assert choices[-1]["finish_reason"] == "stop"
    assert len(model.asked) <= 4


async def test_a_completion_that_was_not_begun_is_asked_for_by_the_client_itself(
    stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=ScriptedReply(text=SAID, first_token_ms=3_000))
    token, plug = stack.mint("user", f"u-{uuid.uuid4().hex}", "acme"), Plug(stack)
    async with npm_clients() as npm:
        asked = npm.ask("openai", stack.url, token, path="chat", body=QUESTION, maxRetries=RETRIES)
        waiting = asyncio.create_task(asked)
        await eventually(lambda: len(model.asked) == 1)
        plug.pull()
        told = await waiting
    assert told["choices"][0]["message"]["content"] == SAID
