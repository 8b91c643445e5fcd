"""A company's words: stored, found by every replica, replaced, taken out; strictly each company's own."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from contracts.channels import fact
from contracts.company_rpc import CompanyRequest
from contracts.conversation_rpc import HISTORY, HistoryRequest
from contracts.envelope import CloudEvent
from contracts.events.knowledge import DocumentRemoved, DocumentUpserted
from contracts.ids import uuid7
from contracts.knowledge import Block, KnowledgeFound, KnowledgeQuery
from contracts.knowledge_rpc import (
    DOCUMENT_DELETE,
    DOCUMENT_GET,
    DOCUMENT_PUT,
    DOCUMENTS,
    FORGET,
    SEARCH,
    DocumentPut,
    DocumentReply,
    DocumentRequest,
    DocumentsRequest,
    KnowledgeSearch,
)
from contracts.streams import FACTS
from contracts.tools_rpc import Caller, ToolServiceRequest
from memory.knowledge.tool import SEARCH_KNOWLEDGE
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually

PLANS = """# Plans

Every plan can be tried for 14 days.

| Plan | Price |
| --- | --- |
| Free | 0 USD |
| Pro | 29 USD a month |

## Opening hours

We answer on weekdays from 9 to 18.
"""


async def put(on: Replica, text: str = PLANS, *, company: str = "acme", name: str | None = "kb-1") -> DocumentReply:
    asked = DocumentPut(company_id=company, id=name, title="Plans and prices", text=text, language="en")
    return await on.rpc.call(DOCUMENT_PUT, asked)


async def search(on: Replica, text: str, company: str = "acme", limit: int = 5) -> KnowledgeFound:
    return await on.rpc.call(SEARCH, KnowledgeSearch(company_id=company, text=text, limit=limit))


async def tell(on: Replica, kind: str, data: DocumentUpserted | DocumentRemoved, at: datetime | None = None) -> None:
    event = CloudEvent(source="/other/wiki", type=kind, time=at or datetime.now(UTC), data=data)
    subject = fact(kind, "acme", None)
    await Publisher(on.client).append(subject, event, stream=FACTS.name, msg_id=uuid7())


def page(text: str, *, url: str, at: datetime | None = None, **more: object) -> DocumentUpserted:
    fields = {"title": "A page", "hash": text[:60] or "same", "language": "en"} | more
    return DocumentUpserted.model_validate(
        {"company_id": "acme", "source": "site", "url": url, "blocks": [Block(text=text)] if text else []}
        | {"read_at": at or datetime.now(UTC)}
        | fields
    )


async def test_a_document_is_found_replaced_and_taken_out_on_every_replica(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        assert (await search(two, "price of pro")).passages == []
        stored = (await put(one)).document
        assert stored is not None
        found = await search(one, "How much is the Pro plan?")
        assert "| Pro | 29 USD a month |" in found.passages[0].text
        assert found.passages[0].document_id == stored.id

        async def other_knows(words: str) -> bool:
            return any(words in passage.text for passage in (await search(two, "price of the pro plan")).passages)

        await eventually(lambda: other_knows("29 USD"))
        await put(one, PLANS.replace("29 USD", "39 USD"))
        await eventually(lambda: other_knows("39 USD"))
        assert not await other_knows("29 USD")
        listed = await two.rpc.call(DOCUMENTS, DocumentsRequest(company_id="acme"))
        assert [(item.id, item.external_id, item.state) for item in listed.items] == [(stored.id, "kb-1", "ready")]
        shown = await two.rpc.call(DOCUMENT_GET, DocumentRequest(company_id="acme", id="kb-1"))
        assert shown.passages
        assert (await two.rpc.call(DOCUMENT_DELETE, DocumentRequest(company_id="acme", id="kb-1"))).deleted
        assert not (await one.rpc.call(DOCUMENT_DELETE, DocumentRequest(company_id="acme", id=stored.id))).deleted

        async def gone() -> bool:
            return (await search(one, "price of the pro plan")).passages == []

        await eventually(gone)


async def test_a_text_whose_language_nobody_names_has_the_one_it_is_written_in(servers: Servers) -> None:
    text = "El plan Pro cuesta veintinueve dólares al mes y se puede cancelar cuando quieras, sin coste para ti."
    async with replica(servers) as one:
        stored = (await one.rpc.call(DOCUMENT_PUT, DocumentPut(company_id="acme", title="Planes", text=text))).document
        assert stored is not None
        assert stored.language == "es"


async def test_nobody_finds_another_companys_words(servers: Servers) -> None:
    async with replica(servers) as one:
        stored = (await put(one)).document
        assert stored is not None
        assert (await search(one, "price of pro", company="rival")).passages == []
        assert (await one.rpc.call(DOCUMENT_GET, DocumentRequest(company_id="rival", id=stored.id))).document is None
        assert not (await one.rpc.call(DOCUMENT_DELETE, DocumentRequest(company_id="rival", id=stored.id))).deleted
        assert (await search(one, "price of pro")).passages


async def test_a_new_process_finds_what_was_stored(servers: Servers) -> None:
    async with replica(servers) as one:
        await put(one)
    async with replica(servers) as two:
        found = await search(two, "opening hours")
        assert found.complete
        assert found.passages[0].heading[-1] == "Opening hours"


async def test_pages_come_over_the_bus_in_any_order_and_in_parts(servers: Servers) -> None:
    url, now = "https://www.example.com/returns", datetime.now(UTC)
    async with replica(servers) as one:
        for part, text in ((2, "Refunds take five days."), (1, "Shoes are returned within a month.")):
            await tell(
                one, "knowledge.document.upserted.v1", page(text, url=url, at=now, hash="h1", part=part, parts=2)
            )

        async def both() -> bool:
            return len((await search(one, "refunds of shoes returned")).passages) == 1

        await eventually(both)
        older = page("Nothing is returned.", url=url, at=now - timedelta(hours=1), hash="h0")
        await tell(one, "knowledge.document.upserted.v1", older)
        read_again = page("", url=url, at=now + timedelta(hours=1), hash="h1", title="/returns")
        await tell(one, "knowledge.document.upserted.v1", read_again)

        async def read_anew() -> bool:
            passages = (await search(one, "refunds of shoes returned")).passages
            return bool(passages) and passages[0].read_at > now and "within a month" in passages[0].text

        await eventually(read_anew)
        assert (await search(one, "refunds of shoes returned")).passages[0].title == "A page"
        removed = DocumentRemoved(company_id="acme", source="site", url=url)
        await tell(one, "knowledge.document.removed.v1", removed, now + timedelta(hours=2))

        async def gone() -> bool:
            return (await search(one, "refunds of shoes returned")).passages == []

        await eventually(gone)


async def test_what_most_pages_repeat_is_found_on_the_first_alone(servers: Servers) -> None:
    async with replica(servers) as one:
        for number in range(12):
            blocks = [Block(text=f"Article {number} tells of subject{number}."), Block(text="Call us: 555 0199.")]
            event = page("x", url=f"https://www.example.com/{'a' * number}", hash=f"h{number}", blocks=blocks)
            await tell(one, "knowledge.document.upserted.v1", event)

        async def said_once() -> bool:
            found = await search(one, "call us 555 0199", limit=50)
            holders = [passage.url for passage in found.passages if "0199" in passage.text]
            return found.documents == 12 and holders == ["https://www.example.com/"]

        await eventually(said_once)
        assert (await search(one, "subject11")).passages[0].url == f"https://www.example.com/{'a' * 11}"


async def test_each_language_has_a_menu_of_its_own_which_its_pages_repeat(servers: Servers) -> None:
    menus = {"en": "Boats and lessons", "es": "Barcas y clases"}
    async with replica(servers) as one:
        for language, menu in menus.items():
            for number in range(5):
                url = f"https://www.example.com/{language}{'/a' * number}"
                blocks = [Block(text=menu), Block(text=f"Text {number} {language}."), Block(text="Tax 509")]
                event = page("x", url=url, hash=f"{language}{number}", blocks=blocks, language=language)
                await tell(one, "knowledge.document.upserted.v1", event)

        async def holders(words: str) -> list[str]:
            found = await search(one, words, limit=50)
            return sorted(str(passage.url) for passage in found.passages if words in passage.text)

        async def said_once() -> bool:
            return [await holders(words) for words in (*menus.values(), "Tax 509")] == [
                ["https://www.example.com/en"],
                ["https://www.example.com/es"],
                ["https://www.example.com/en", "https://www.example.com/es"],
            ]

        await eventually(said_once)


async def test_passages_ride_along_with_a_history_and_answer_the_tool(servers: Servers) -> None:
    async with replica(servers) as one:
        await put(one)
        writer = Writer(one.client, "acme", "c1")
        seq = await writer.visitor("how much is pro?")
        query = KnowledgeQuery(text="how much is pro?")
        asked = HistoryRequest(company_id="acme", conversation_id="c1", up_to_seq=seq, knowledge=query)
        reply = await one.rpc.call(HISTORY, asked)
        assert reply.knowledge is not None
        assert "29 USD" in reply.knowledge.passages[0].text
        call = ToolServiceRequest(
            call_id="c",
            tool="search_knowledge",
            arguments={"query": "price of pro", "limit": 1},
            caller=Caller(company_id="acme", role="visitor", plan="free"),
        )
        (passage,) = (await one.rpc.call(SEARCH_KNOWLEDGE, call)).result["passages"]
        assert "29 USD" in passage["text"]


async def test_a_companys_knowledge_goes_with_it_on_every_replica(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        await put(one)
        await put(one, company="rival")
        await tell(one, "knowledge.document.upserted.v1", page("Shoes are returned.", url="https://a.example/x"))

        async def known() -> bool:
            return (await search(two, "price of pro")).documents == 2

        await eventually(known)
        for _ in range(2):
            await one.rpc.call(FORGET, CompanyRequest(company_id="acme"))

        async def gone() -> bool:
            return [(await search(each, "price of pro")).documents for each in (one, two)] == [0, 0]

        await eventually(gone)
        assert (await search(two, "price of pro", company="rival")).documents == 1
        left = await DirectReader(one.client, FACTS.name).last_of_each(["knowledge.document.>"])
        assert left == []


@pytest.mark.parametrize("round_", range(3))
async def test_whoever_writes_one_document_at_once_leaves_it_whole(servers: Servers, round_: int) -> None:
    async with replica(servers) as one, replica(servers) as two:
        texts = [f"Shoes number {n} of round {round_} are returned." for n in range(4)]
        await asyncio.gather(*(put(on, text) for text in texts for on in (one, two)))
        shown = await one.rpc.call(DOCUMENT_GET, DocumentRequest(company_id="acme", id="kb-1"))
        told = [passage.text for passage in shown.passages]
        assert told in [[text] for text in texts]

        async def agree() -> bool:
            found = [[p.text for p in (await search(on, "shoes returned")).passages] for on in (one, two)]
            return found[0] == found[1] == told

        await eventually(agree)
