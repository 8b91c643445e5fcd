"""Vectors are made whatever a server of embeddings takes at once, and anew when their size changes."""

from collections.abc import AsyncIterator

import pytest

from memory.embeddings import embeddings
from memory.embeddings.embedder import HttpEmbedder
from memory.embeddings.embeddings import Embeddings
from memory.embeddings.neighbours import Neighbours
from memory.testing.embeddings import EmbeddingServer, embedding_server
from runtime.testing.servers import eventually

TEXTS = [f"text {number}" for number in range(100)]


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    monkeypatch.setattr(embeddings, "MAX_PAUSE_SECONDS", 0.01)
    async with embedding_server() as one:
        yield one


@pytest.fixture
async def filling(server: EmbeddingServer) -> AsyncIterator[Embeddings]:
    one = Embeddings(HttpEmbedder(server.base_url, None, "small"), 2.0)
    yield one
    await one.stop()


def texts(*more: str) -> Neighbours[str]:
    near = Neighbours[str]()
    for text in (*more, *TEXTS):
        near.put(text[:20], text)
    return near


async def test_a_server_that_takes_fewer_or_shorter_texts_gets_those(
    server: EmbeddingServer, filling: Embeddings
) -> None:
    server.max_texts, server.max_characters = 20, 1_000
    near = texts("a dog " + "and so on " * 300)
    filling.fill(near)
    await eventually(lambda: near.complete)
    assert len(near) == len(TEXTS) + 1
    # A question that is refused says nothing about the next one.
    assert await filling.question("x" * 2_000) is None
    assert await filling.question("my puppy") is not None


async def test_a_text_at_which_the_server_fails_keeps_no_others_waiting(
    server: EmbeddingServer, filling: Embeddings
) -> None:
    server.poison = "crash"
    near = texts("crash", "another crash")
    filling.fill(near)
    await eventually(lambda: near.complete)
    assert len(near) == len(TEXTS)


async def test_what_a_server_refuses_while_it_refuses_everything_is_not_given_up(
    server: EmbeddingServer, filling: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "FIRST_PAUSE_SECONDS", 0.01)
    near = texts()
    server.status = 400
    filling.fill(near)
    await eventually(lambda: len(server.asked) > 20)
    assert len(near) == 0
    server.status = 200
    await eventually(lambda: near.complete)
    assert len(near) == len(TEXTS)


async def test_openai_is_asked_for_shorter_vectors(server: EmbeddingServer) -> None:
    for model, asked in (("text-embedding-3-small", 512), ("bge-m3", None)):
        embedder = HttpEmbedder(server.base_url, None, model)
        await embedder.question("a dog")
        await embedder.close()
        assert server.asked[-1].get("dimensions") == asked


async def test_vectors_of_another_size_are_all_made_anew(server: EmbeddingServer, filling: Embeddings) -> None:
    near = texts("I have a dog")
    filling.fill(near)
    await eventually(lambda: near.complete)
    server.extra = 3
    question = await filling.question("my puppy")
    assert question is not None
    assert filling.nearness(near, question) is None

    async def compared() -> bool:
        nearness = filling.nearness(near, question)
        return nearness is not None and list(nearness.nearest(1)) == ["I have a dog"] and near.complete

    await eventually(compared)
    assert len(near) == len(TEXTS) + 1
