"""Files that lie on the bus in pieces become documents, or a word on why not."""

from collections.abc import AsyncGenerator, Callable
from functools import partial

import pytest
from nats.aio.client import Client

from contracts.channels import upload_piece
from contracts.company import Knowledge
from contracts.envelope import CloudEvent
from contracts.events.knowledge import FileReceived
from contracts.ids import uuid7
from contracts.knowledge import document_id
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.testing.servers import ValkeyServer, eventually
from tool_executor.extraction.testing import docx_bomb, docx_of, pdf_of
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import running_executor, serving
from tool_executor.testing.sites import COMPANY, SiteMemory, made_site, wait_for_pages

PIECE = 500_000


@pytest.fixture
async def memory(nats_client: Client, valkey_server: ValkeyServer, nats_streams: object) -> AsyncGenerator[SiteMemory]:
    del nats_streams
    remembering = SiteMemory(nats_client, Knowledge())
    server = await remembering.serve()
    async with running_executor(nats_client, valkey_server.url):
        yield remembering
    await server.drain(2.0)


async def put(
    client: Client, body: bytes, filename: str, *, lost: int | None = None, external: str = "doc"
) -> FileReceived:
    """Does as the gateway does with the bytes, and as memory does with the word of them."""
    publisher, name = Publisher(client), uuid7()
    pieces = [body[start : start + PIECE] for start in range(0, len(body), PIECE)]
    for number, piece in enumerate(pieces):
        if number != lost:
            subject = upload_piece(COMPANY, name, number)
            await publisher.append(subject, piece, stream="UPLOADS", msg_id=f"{name}-{number}")
    file = FileReceived(
        company_id=COMPANY,
        document_id=document_id(COMPANY, "document", "doc"),
        external_id="doc",
        upload_id=name,
        pieces=len(pieces),
        size=len(body),
        filename=filename,
    )
    event = CloudEvent[FileReceived](source="/test", type="knowledge.file.received.v1", data=file)
    await publisher.append(f"knowledge.file.received.v1.{COMPANY}", event, stream="KNOWLEDGE", msg_id=name)
    return file


async def test_a_file_in_pieces_is_put_together_taken_out_and_its_room_given_back(
    memory: SiteMemory, nats_client: Client
):
    text = "\n\n".join(
        f"Paragraph {number} of a long handbook, with words enough to fill a line." for number in range(30_000)
    )
    file = await put(nats_client, text.encode(), "handbook.txt")
    assert file.pieces > 3
    await eventually(lambda: file.document_id in memory.documents)
    known = memory.documents[file.document_id]
    assert (known.title, known.language) == ("handbook", "en")
    assert known.text == text.replace("\n\n", "\n")
    pieces = DirectReader(nats_client, "UPLOADS")

    async def gone() -> bool:
        return await pieces.last(upload_piece(COMPANY, file.upload_id, 0)) is None

    await eventually(gone)


async def test_a_pdf_and_a_word_document_are_read_and_the_same_id_again_replaces_it(
    memory: SiteMemory, nats_client: Client
):
    file = await put(nats_client, pdf_of([["Returns", "Thirty days."]], [("Returns", 0)]), "returns.pdf")
    await eventually(lambda: file.document_id in memory.documents)
    assert memory.documents[file.document_id].blocks[0].headings == ["Returns"]
    await put(nats_client, docx_of(("Title", "Returns"), ("Normal", "Sixty days.")), "returns.docx")
    await eventually(lambda: memory.documents[file.document_id].text == "Sixty days.")


async def test_a_file_does_not_wait_for_the_end_of_a_run(nats_client: Client, valkey_server: ValkeyServer):
    async with serving() as site:
        made_site(site, 200)
        memory = SiteMemory(nats_client, Knowledge(site_url=f"{site.origin}/"))
        server = await memory.serve()
        settings = ExecutorSettings(crawl_slots=2, crawl_own_per_second=10)
        async with running_executor(nats_client, valkey_server.url, loopback=True, settings=settings):
            run = await memory.refresh()
            await wait_for_pages(site, 20)
            file = await put(nats_client, b"Words of a file.", "file.txt")
            await eventually(lambda: file.document_id in memory.documents)
            assert memory.runs[run].state == "running"
        await server.drain(2.0)


@pytest.mark.parametrize(
    ("body", "filename", "lost", "reason"),
    [
        (pdf_of([[]]), "scan.pdf", None, "no_text"),
        (pdf_of([["x"]], encrypted=True), "locked.pdf", None, "encrypted"),
        (partial(docx_bomb, 150), "bomb.docx", None, "bomb"),
        (b"\x00" * 600_000, "program.bin", None, "unknown_type"),
        (b"word " * 200_000, "half.txt", 1, "lost"),
    ],
)
async def test_what_cannot_be_read_is_told_in_words(
    memory: SiteMemory,
    nats_client: Client,
    body: bytes | Callable[[], bytes],
    filename: str,
    lost: int | None,
    reason: str,
):
    file = await put(nats_client, body() if callable(body) else body, filename, lost=lost)
    await eventually(lambda: bool(memory.failures))
    failure = memory.failures[0]
    assert (failure.document_id, failure.reason) == (file.document_id, reason)
    assert failure.message
    assert memory.documents == {}
