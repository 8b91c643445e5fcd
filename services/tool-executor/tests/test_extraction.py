"""Documents to blocks: ten made sites, each format, and what was made to do harm."""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from contracts.knowledge import MAX_PART, Block
from tests.support.made_sites import HIDDEN, SITES
from tool_executor.adapters.page_text import readable_text
from tool_executor.extraction.charsets import decode
from tool_executor.extraction.document import Extracted, UnreadableError, in_parts
from tool_executor.extraction.formats import extract
from tool_executor.extraction.html import extract_html
from tool_executor.extraction.isolation import Extraction
from tool_executor.extraction.testing import docx_bomb, docx_damaged, docx_of, docx_with, pdf_of


def said(blocks: list[Block]) -> list[str]:
    """Every line: rows with | between their cells, texts with the headings above them."""
    lines: list[str] = []
    for block in blocks:
        lines += block.headings
        lines += [" | ".join(row) for row in block.rows] or block.text.split("\n")
    return lines


@pytest.mark.parametrize("name", SITES)
def test_of_ten_made_sites_all_that_is_said_is_kept_and_nothing_that_is_hidden(name: str):
    for made in SITES[name]:
        page = extract_html(made.html)
        lines = [page.title, *said(page.blocks)]
        for wanted in made.keep:
            assert any(wanted in line for line in lines), (made.path, wanted, lines)
        for hidden in HIDDEN:
            assert not any(hidden in line for line in lines), (made.path, hidden)


def test_headings_nest_and_anchors_are_those_of_the_nearest_heading():
    page = extract_html(
        "<title>Plans - Acme</title><h1>Plans</h1><p>Intro</p><section id=pro><h2>Pro <a href=#pro>#</a></h2><p>29</p>"
        "<h3 id=limits>Limits</h3><p>Ten</p></section><p>After</p><h2><a name=old></a>Old</h2><p>Gone</p>"
    )
    found = [(block.text, block.headings, block.anchor) for block in page.blocks]
    assert page.title == "Plans - Acme"
    assert found == [
        ("Intro", [], None),
        ("29", ["Pro"], "pro"),
        ("Ten", ["Pro", "Limits"], "limits"),
        ("After", [], "limits"),
        ("Gone", ["Old"], "old"),
    ]


def test_what_holds_the_whole_page_is_no_headings_anchor():
    page = extract_html(
        "<main id=content><h2>Pro</h2><p>29 USD</p><section id=free><h2>Free</h2><p>0 USD</p></section></main>"
    )
    assert [(block.text, block.anchor) for block in page.blocks] == [("29 USD", None), ("0 USD", "free")]


def test_a_link_past_the_menu_is_not_said_and_a_frames_id_is_no_headings_anchor():
    page = extract_html(
        "<title>Plans</title><a class=skip href='#content'>Skip to the content</a><main id=content><h1>Plans</h1>"
        "<p>Free. <a href='#pro'>See Pro</a></p></main>"
    )
    assert [(block.text, block.anchor) for block in page.blocks] == [("Free. See Pro", None)]
    page = extract_html("<h2><a href='#top'>Top</a></h2><p>Words")
    assert (page.title, page.blocks[0].text) == ("Top", "Words")


_ENTRIES = ("Inicio", "Servicios", "Tarifas", "Citas")


@pytest.mark.parametrize(
    "item", ["<li><a href='/{0}'>{0}</a></li>", "<a href='/{0}'>{0}</a> | ", "<div><a href=x>{0}</a></div>"]
)
@pytest.mark.parametrize(
    "page",
    [
        "<header><a href=/>Clínica Sol</a><ul>{menu}</ul></header>{words}",
        "<div role=banner>{menu}</div><main>{words}</main>",
        "<div class=top>{menu}</div><h1>Clínica Sol</h1>{words}",
        "<header><h1>Clínica Sol</h1>{menu}</header>{words}",
        "{words}<footer>{menu}<h4>Enlaces</h4>{menu}</footer>",
        "<main>{words}</main><div>{menu}</div>",
    ],
)
def test_links_alone_around_the_text_are_a_menu(page: str, item: str):
    menu = "".join(map(item.format, _ENTRIES))
    read = extract_html(f"<title>Clínica Sol</title>{page.format(menu=menu, words='<p>Abrimos a las nueve.</p>')}")
    assert [block.text for block in read.blocks] == ["Abrimos a las nueve."]


def test_the_labels_of_a_pages_header_and_footer_are_no_text_of_it():
    choice = "<label><span>You are</span><select><option>a visitor<option>a customer</select></label>"
    read = extract_html(
        f"<header>{choice}<p>Since 1990</p></header><p>Open.</p><main>{choice}</main><footer>{choice}</footer>"
    )
    assert [block.text for block in read.blocks] == ["Since 1990", "Open.", "You are"]


def test_links_that_tell_something_are_no_menu():
    menu = "".join(f"<li><a href=/x>{name}</a></li>" for name in _ENTRIES)
    page = extract_html(
        "<header><h1>Clínica Sol</h1><p>Dentistas en <a href=/x>León</a></p></header>"
        f"<article><header><h2><a href=/p>Precios</a></h2><a href=/ana>Ana Ruiz</a></header><ul>{menu}</ul></article>"
        f"<h2>Áreas</h2><ul>{menu}</ul>"
        "<footer><a href='tel:1'>600 123 456</a><p><a href='mailto:a@b.c'>a@b.c</a></p>"
        "<p><a href=/x>Atendemos también urgencias de quienes no son pacientes</a></p></footer>"
    )
    items = "\n".join(_ENTRIES)
    assert [(block.headings, block.text) for block in page.blocks] == [
        ([], "Dentistas en León"),
        (["Precios"], "Ana Ruiz"),
        (["Precios"], items),
        (["Áreas"], items),
        ([], "600 123 456"),
        ([], "a@b.c"),
        ([], "Atendemos también urgencias de quienes no son pacientes"),
    ]
    assert [block.text for block in extract_html(f"<ul>{menu}</ul>").blocks] == [items], "the page is a list of links"


def test_a_page_that_names_no_title_has_its_first_heading_in_every_process():
    names = [f"Part {one}" for one in "abcdefghijklmnop"]
    page = extract_html("".join(f"<h2>{name}</h2><p>Words of {name}" for name in names))
    assert (page.title, page.blocks[0].headings) == ("Part a", ["Part a"])


def test_rows_stay_whole_with_cells_over_several_rows_and_columns():
    page = extract_html(
        "<table><thead><tr><th>Plan<th>Month<th>Year</thead><tr><td rowspan=2>Pro<td>29 <b>USD</b><td>290"
        "<tr><td colspan=2>or <ul><li>ask<li>us</ul></table>"
    )
    assert [block.rows for block in page.blocks] == [
        [["Plan", "Month", "Year"], ["Pro", "29 USD", "290"], ["Pro", "or ask us", "or ask us"]]
    ]
    assert page.blocks[0].header


def test_cells_that_span_rows_and_columns_again_and_again_do_not_add_up():
    page = extract_html(f"<table>{'<tr><td colspan=100 rowspan=100>a' * 150}<tr>{'<td>b' * 200}</table>")
    assert max(len(row) for block in page.blocks for row in block.rows) <= 100 + 200


async def test_others_are_served_while_a_small_page_is_read(monkeypatch: pytest.MonkeyPatch):
    loop, served = asyncio.get_running_loop(), threading.Event()

    def read(body: bytes, declared: str, charset: str | None, name: str) -> Extracted:
        loop.call_soon_threadsafe(served.set)
        assert served.wait(60), "nobody was served meanwhile"
        return extract(body, declared, charset, name)

    monkeypatch.setattr("tool_executor.extraction.isolation.extract", read)
    assert (await Extraction().extract(b"<h1>a</h1><p>b</p>", "text/html")).blocks


def test_what_the_head_says_to_readers_is_read():
    page = extract_html(
        "<html lang='es-MX'><head><base href='https://a.example/x/'><link rel=canonical href=/one>"
        "<link rel=alternate hreflang=en href=/en><meta name=ROBOTS content='noindex, nofollow'>"
        "<meta property='og:title' content='Shared title'></head><a href='two#part'>2</a><a rel=nofollow href=/no>x</a>"
        "<nav><a href='/three'>3</a></nav><area href='/four'><link rel=stylesheet href=/style.css><p>Texto</p>"
    )
    assert (page.title, page.language, page.canonical) == ("Shared title", "es", "/one")
    assert (page.noindex, page.nofollow) == (True, True)
    assert page.links == [f"https://a.example/{path}" for path in ("en", "x/two#part", "three", "four")]


@pytest.mark.parametrize(
    ("body", "named", "text"),
    [
        ("café €".encode("cp1252"), "utf-8", "café €"),
        ("café".encode(), "iso-8859-1", "café"),
        ("café".encode("latin-1"), "iso-8859-1", "café"),
        ("45 € “sin” IVA".encode("cp1252"), "ISO-8859-1", "45 € “sin” IVA"),
        ("45 €".encode("iso-8859-15"), "iso-8859-15", "45 €"),
        ("\ufeffcafé".encode("utf-16-le"), None, "café"),
        ("El jardín abre a las 8.".encode("utf-16-le"), None, "El jardín abre a las 8."),
        ("El jardín abre a las 8.".encode("utf-16-be"), None, "El jardín abre a las 8."),
        ("価格は百円です。".encode("shift_jis"), "Shift_JIS", "価格は百円です。"),
        (b"<meta charset=windows-1251>" + "цена".encode("cp1251"), None, "<meta charset=windows-1251>цена"),
        (b"plain", "rot13", "plain"),
        (("é" * 2000).encode() + b"\xff", "utf-8", "é" * 2000 + "\ufffd"),
    ],
)
def test_a_wrong_charset_is_not_believed(body: bytes, named: str | None, text: str):
    assert decode(body, named) == text


def test_a_pdf_is_read_below_the_headings_of_its_outline():
    pages = [["Guía de uso", "La batería (nueva) dura 10 horas y se carga en dos."], ["Garantía", "Dos años."]]
    found = extract(pdf_of(pages, [("Guía de uso", 0), ("Garantía", 1)]), name="manual.pdf")
    assert found.title == "manual"
    assert [(block.headings, block.text) for block in found.blocks] == [
        (["Guía de uso"], "La batería (nueva) dura 10 horas y se carga en dos."),
        (["Garantía"], "Dos años."),
    ]


def test_a_pdf_without_an_outline_is_read_below_its_numbered_lines():
    lines = [
        "Conditions", "1. Cancelling", "Free until 10 days before.", "2. Delays", "Each day takes off 5 %.",
        "1. Open the app and go to the settings of", "your account.",
    ]  # fmt: skip
    found = extract(pdf_of([lines]), name="conditions.pdf")
    assert [(block.headings, block.text) for block in found.blocks] == [
        ([], "Conditions"),
        (["Cancelling"], "Free until 10 days before."),
        (["Delays"], "Each day takes off 5 %.\n1. Open the app and go to the settings of\nyour account."),
    ]


def test_a_word_document_keeps_headings_lists_and_rows():
    rows = [["Plan", "Price"], ["Pro", "29 USD"]]
    parts = [
        ("Title", "Handbook"),
        ("Heading 1", "Holidays"),
        ("Normal", "25 days."),
        ("List Bullet", "May"),
        ("List Bullet", "August"),
        ("table", rows),
    ]
    found = extract(docx_of(*parts), name="h.docx")
    assert found.title == "Handbook"
    assert [(block.kind, block.headings, block.rows or block.text) for block in found.blocks] == [
        ("text", ["Holidays"], "25 days."),
        ("list", ["Holidays"], "May\nAugust"),
        ("table", ["Holidays"], rows),
    ]


def test_markdown_and_text_become_the_same_blocks():
    markdown = b"---\ntitle: Prices\n---\n## Pro\n\n29 *USD*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- y\n"
    found = extract(markdown, name="prices.md")
    assert found.title == "Prices"
    assert [(block.kind, block.headings) for block in found.blocks] == [
        ("text", ["Pro"]),
        ("table", ["Pro"]),
        ("list", ["Pro"]),
    ]
    plain = extract("Primero\r\n\r\nSegundo párrafo\nen dos líneas".encode("cp1252"), name="nota.txt")
    assert [block.text for block in plain.blocks] == ["Primero", "Segundo párrafo\nen dos líneas"]


@pytest.mark.parametrize(
    ("body", "name", "reason"),
    [
        (pdf_of([[]]), "scan.pdf", "no_text"),
        (pdf_of([["secret"]], encrypted=True), "secret.pdf", "encrypted"),
        (b"%PDF-1.7 nothing more", "cut.pdf", "broken"),
        (partial(docx_bomb, 200), "bomb.docx", "bomb"),
        (b"PK\x03\x04 nothing more", "cut.docx", "broken"),
        (docx_with(version=99), "version.docx", "broken"),
        (docx_with(compression=97), "compression.docx", "broken"),
        (docx_damaged(), "damaged.docx", "broken"),
        (docx_with(encrypted=True), "secret.docx", "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old.docx", "encrypted"),
        (b"\x89PNG\r\n\x1a\n\0\0", "picture.png", "unknown_type"),
        (b"\x00\x01\x02" * 100, "binary.txt", "unknown_type"),
        (b"  \n \n", "empty.txt", "no_text"),
    ],
)
async def test_what_cannot_be_read_is_said_in_a_word_and_a_sentence(
    body: bytes | Callable[[], bytes], name: str, reason: str
):
    with pytest.raises(UnreadableError) as refused:
        await Extraction().extract(body() if callable(body) else body, name=name)
    assert refused.value.reason == reason
    assert set(refused.value.text.by_language) == {"es", "en"}


@pytest.mark.parametrize("first", ["main", "header", "section", "my-page", "picture"])
def test_the_head_ends_with_the_first_element_that_is_none_of_it_where_no_tag_ends_it(first: str):
    """As pages have it that were made smaller."""
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>T</title><link href=x><{first}><p>Words</p></{first}>"
    )
    assert [block.text for block in extract_html(page).blocks] == [readable_text(page).text] == ["Words"]


async def test_a_reader_that_hangs_or_eats_memory_ends_alone():
    page = pdf_of([[f"line {number}" for number in range(50)] for _ in range(50)])
    with pytest.raises(UnreadableError) as slow:
        await Extraction(seconds=0.05).extract(page, name="slow.pdf")
    assert slow.value.reason == "too_slow"
    with pytest.raises(UnreadableError) as big:
        await Extraction(memory=200 * 1024 * 1024).extract(b"# x\n\n" + b"- word\n" * 2_000_000, name="big.md")
    assert big.value.reason == "crashed"


async def test_the_loop_goes_on_while_a_long_document_is_read():
    pages = [[f"Line {number} of page {page}" for number in range(40)] for page in range(100)]
    reading = asyncio.create_task(Extraction().extract(pdf_of(pages), name="long.pdf"))
    async with asyncio.timeout(60), await asyncio.start_server(_echo, "127.0.0.1") as server:
        for number in range(4):
            # A whole exchange over a socket, which needs several rounds of the loop, ends before the reading does.
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"%d\n" % number)
            assert await reader.readline() == b"%d\n" % number
            writer.close()
            assert not reading.done()
        found = await reading
    assert len(found.blocks) == 100


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


def test_hostile_markup_is_read_in_time_that_grows_with_its_size():
    for markup in (
        "<div>" * 200_000,
        "<table><tr><td>" * 50_000,
        "<ul><li>" * 100_000,
        "<h1>" * 100_000,
        "<a href=" * 9,
    ):
        started = time.process_time()
        extract_html(markup + "deep")
        assert time.process_time() - started < 20


def test_long_documents_come_in_parts_that_fit_the_bus():
    page = Extracted(title="Long", language=None, blocks=[Block(text="word " * 700) for _ in range(500)])
    parts = in_parts(page.blocks)
    assert [block for part in parts for block in part] == page.blocks
    assert len(parts) > 1
    assert all(sum(len(block.to_json()) for block in part) <= MAX_PART for part in parts)
    assert in_parts([]) == [[]]


def test_a_giant_paragraph_and_a_giant_table_become_blocks_of_a_bounded_size():
    page = extract_html("<p>" + "palabra " * 10_000 + "<table><tr><th>a<th>b" + "<tr><td>1<td>2" * 500 + "</table>")
    texts = [block for block in page.blocks if block.kind == "text"]
    tables = [block for block in page.blocks if block.kind == "table"]
    assert max(len(block.text) for block in texts) <= 4000
    assert sum(block.text.count("palabra") for block in texts) == 10_000
    assert {len(block.rows) for block in tables} == {101}
    assert all(block.rows[0] == ["a", "b"] for block in tables)


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_csv_is_one_table_whose_first_row_names_the_columns(between: str):
    lines = [("Item", "Price"), ("Harness", '"15,50"'), ("Wetsuit", "12")]
    text = "\ufeff" + "\r\n".join(between.join(line) for line in lines)
    (block,) = extract(text.encode(), "text/csv", name="prices.csv").blocks
    assert (block.kind, block.header) == ("table", True)
    assert block.rows == [["Item", "Price"], ["Harness", "15,50"], ["Wetsuit", "12"]]


def test_a_csv_that_is_none_says_so():
    with pytest.raises(UnreadableError):
        extract(b'a,"' + b"x" * 200_000, "text/csv")


def test_a_header_of_several_rows_becomes_one():
    page = extract_html(
        "<table><tr><th rowspan=2>Plan<th colspan=2>Price<th rowspan=2>Holds<tr><th>per month<th>per year"
        "<tr><td>Basic<td>24 €<td>260 €<td>the pool<tr><td>Plus<td>31 €<td>340 €<td>the sauna too</table>"
    )
    assert page.blocks[0].rows[:2] == [
        ["Plan", "Price per month", "Price per year", "Holds"],
        ["Basic", "24 €", "260 €", "the pool"],
    ]
    assert page.blocks[0].header


def test_rows_that_begin_with_their_name_need_no_header():
    page = extract_html("<table><tr><th>Monday<td>closed<tr><th>Tuesday<td>9 to 17</table>")
    assert page.blocks[0].rows == [["", ""], ["Monday", "closed"], ["Tuesday", "9 to 17"]]
    assert page.blocks[0].header


def test_a_row_of_one_cell_names_the_table_or_the_rows_below_it():
    page = extract_html(
        "<table><tr><th colspan=2>Prices of 2027<tr><th>Who<th>Day<tr><td colspan=2>Residents<tr><td>Adult<td>5 €"
        "<tr><td colspan=2>Visitors<tr><td>Adult<td>7 €<tr><td colspan=2>VAT is included.</table>"
    )
    assert [block.text for block in page.blocks] == ["Prices of 2027", ""]
    assert page.blocks[1].rows == [
        ["Who", "Day"],
        ["Residents, Adult", "5 €"],
        ["Visitors, Adult", "7 €"],
        ["VAT is included.", "VAT is included."],
    ]


def test_a_banner_for_cookies_is_no_text_of_a_page():
    banner = '<div id="CybotCookiebot"><p>This site uses cookies.</p></div>'
    page = extract_html(
        f'<body class="cookie-banner">{banner}<p class="cookies">Our cookies are baked daily.</p></body>'
    )
    assert said(page.blocks) == ["Our cookies are baked daily."]
