"""OpenAI's official client against the running product: nothing of it is changed but the address and the key."""

import openai
import pytest
from openai import OpenAI

from tests.support.running_stack import RunningStack


@pytest.fixture
def client(stack: RunningStack) -> OpenAI:
    return OpenAI(base_url=f"{stack.url}/v1", api_key=stack.mint("user", "openai-ana", plan="pro"))


def test_the_copilot_answers_with_what_its_tools_give(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="nexus", messages=[{"role": "user", "content": "what is IBM trading at?"}]
    )
    text = answer.choices[0].message.content or ""
    assert "IBM" in text
    assert "USD" in text
    assert answer.choices[0].finish_reason == "stop"


def test_it_streams_and_says_what_it_used(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="nexus",
        messages=[{"role": "user", "content": "hola"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert "asistente" in "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert chunks[-1].usage is not None


def test_the_models_are_listed_and_an_unknown_one_is_not_found(client: OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names[0] == "nexus"
    assert client.models.retrieve(names[-1]).id == names[-1]
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="no-such-model", messages=[{"role": "user", "content": "hi"}])


def test_a_service_may_and_a_visitor_may_not(client: OpenAI, stack: RunningStack) -> None:
    service = client.with_options(api_key=stack.mint("service", "crm"))
    assert service.chat.completions.create(model="nexus", messages=[{"role": "user", "content": "hello"}]).choices
    with pytest.raises(openai.PermissionDeniedError):
        client.with_options(api_key=stack.mint("admin", "root")).models.list()
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="sk-nonsense").models.list()
