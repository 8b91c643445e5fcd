"""What files of a conversation say: read by the readers of documents, in words where they cannot."""

from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest

from contracts.files import file_key
from contracts.tools_rpc import PIECE_BYTES, FilePieceRequest, FileTextReply, FileTextRequest
from runtime.errors import RpcError
from runtime.stores.file_store import FileMetadata
from runtime.stores.folder_store import FolderStore
from tool_executor.extraction.isolation import Extraction
from tool_executor.extraction.testing import pdf_of
from tool_executor.file_texts import FileTexts


async def read(texts: FileTexts, file: str, most: int = 4000) -> FileTextReply:
    request = FileTextRequest(company_id="acme", conversation_id="c1", file_id=file, language="en", most=most)
    return await texts.read(request)


async def test_documents_are_read_to_a_bound_and_the_rest_says_why_it_is_not(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    texts = FileTexts(store, Extraction())
    for name, kind, content in (
        ("terms.pdf", "application/pdf", pdf_of([["The warranty ends after thirty days."]])),
        ("notes.txt", "text/plain", b"one two three"),
        ("photo.png", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("all.zip", "application/zip", b"PK\x03\x04"),
    ):
        about = FileMetadata(name, kind, len(content), "0" * 64)
        await store.put(file_key("acme", "c1", name.replace(".", "-")), BytesIO(content), about)
    assert "warranty ends after thirty days" in (await read(texts, "terms-pdf")).text
    assert await read(texts, "notes-txt", 7) == FileTextReply(text="one two", truncated=True)
    for other in ("photo-png", "all-zip"):
        assert (await read(texts, other)).problem == "The content of this kind of file cannot be read."
    for nowhere in (texts, FileTexts(None, Extraction())):
        assert (await read(nowhere, "never-was")).problem == "The file is not kept any more."
    (tmp_path / "files" / "acme" / "c1" / "notes-txt").write_bytes(b"no header")
    with pytest.raises(RpcError, match="UNAVAILABLE"):
        await read(texts, "notes-txt")


async def test_a_picture_is_given_piece_by_piece_and_nothing_else_is(tmp_path: Path) -> None:
    store, content = FolderStore(tmp_path), bytes(range(256)) * 5_000
    for name, kind in (("photo", "image/png"), ("notes", "text/plain")):
        about = FileMetadata(name, kind, len(content), "0" * 64)
        await store.put(file_key("acme", "c1", name), BytesIO(content), about)

    async def piece(file: str, offset: int, texts: FileTexts) -> str:
        request = FilePieceRequest(company_id="acme", conversation_id="c1", file_id=file, offset=offset)
        return (await texts.piece(request)).content

    texts = FileTexts(store, Extraction())
    joined = "".join([await piece("photo", at, texts) for at in range(0, len(content), PIECE_BYTES)])
    assert b64decode(joined) == content
    assert len(await piece("photo", 0, texts)) == PIECE_BYTES // 3 * 4
    assert await piece("photo", len(content), texts) == ""
    assert [await piece(file, 0, texts) for file in ("notes", "never-was")] == ["", ""]
    assert await piece("photo", 0, FileTexts(None, Extraction())) == ""
    (tmp_path / "files" / "acme" / "c1" / "photo").write_bytes(b"no header")
    with pytest.raises(RpcError, match="UNAVAILABLE"):
        await piece("photo", 0, texts)
