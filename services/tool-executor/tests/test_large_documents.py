"""Large and odd documents: what reading them costs grows with their size, and so does what is made of them."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from contracts.knowledge import Block
from tool_executor.crawl.robots import Robots
from tool_executor.domain.site_address import SiteUrl, parse_origin
from tool_executor.extraction.document import bounded_blocks, extracted
from tool_executor.extraction.formats import extract


def _calls(work: Callable[[], object]) -> int:
    """Returns how many Python functions are called or resumed meanwhile."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        del frame, argument
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _page(markup: str) -> Callable[[int], Callable[[], object]]:
    return lambda size: lambda: extract(b"<table>" + markup.encode() * size, "text/html")


def _robots(text_of: Callable[[int], str]) -> Callable[[int], Callable[[], object]]:
    return lambda size: lambda: Robots(text_of(size))


@pytest.mark.parametrize(
    "work",
    [
        _page("<tr><th>a"),
        _page("<tr><th>a<th>b"),
        _page("<tr><td>a<td>b"),
        _robots(lambda size: "User-agent: a\n" + "".join(f"User-agent: b{n}\nDisallow: /\n" for n in range(size))),
        _robots(lambda size: "".join(f"User-agent: a{n}\n" for n in range(size)) + "Disallow: /\n" * size),
    ],
    ids=["names above names", "rows of names", "rows", "groups of a robots.txt", "agents of one group"],
)
def test_twice_the_size_costs_twice_the_work(work: Callable[[int], Callable[[], object]]) -> None:
    work(10)()  # what is imported or made once
    assert _calls(work(400)) < 2.5 * _calls(work(200))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<table><tr>" + "<td>a" * 1_000 + "<tr><td>a" * 1_000, "text/html"),
        ("<table><tr>" + "<th>a" * 1_000 + "<tr><th>a<th>b" * 1_000 + "<tr><td>a", "text/html"),
        ("a," * 1_000 + "\n" + "a\n" * 1_000, "text/csv"),
    ],
)
def test_one_wide_row_does_not_make_all_others_as_wide(body: str, kind: str) -> None:
    blocks = extract(body.encode(), kind).blocks
    assert sum(len(row) for block in blocks for row in block.rows) < 1_000 * 150
    assert len(blocks[0].rows[0]) >= 1_000


def test_long_names_of_columns_are_not_repeated_above_every_part_of_a_table() -> None:
    names = [f"the name of column {number}" for number in range(1_000)]
    (first, *others) = bounded_blocks([Block(kind="table", rows=[names, *([["1"]] * 1_000)])])
    assert first.rows[0] == names
    assert all(block.rows[0] == ["1"] and not block.header for block in others)


def test_the_pieces_of_a_text_without_end_are_whole_lines_and_none_is_lost() -> None:
    lines = [f"line {number}" for number in range(10_000)]
    blocks = extracted("", [Block(kind="code", text="\n\n".join(lines))]).blocks
    assert [line for block in blocks for line in block.text.split("\n") if line] == lines


def test_the_agents_of_a_robots_txt_that_are_not_this_reader_keep_their_own_rules() -> None:
    groups = (
        "User-agent: OtherBot\nDisallow: /a",
        "user agent: NexusSite*\nDisallow: /b",
        "User-agent: *\nDisallow: /c",
    )
    robots = Robots("\n".join(groups))
    origin = parse_origin("https://example.com")
    assert [robots.allows(SiteUrl(origin, path)) for path in ("/a", "/b", "/c")] == [True, False, True]
