"""Markdown, and what is none, as blocks of a document."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.documents.markdown_blocks import read


def test_markdown_becomes_blocks_with_their_headings():
    text = (
        "Intro\nlines\n\n# One\n\ntext\n\n## Two\n- a\n- b\n  more\n\n"
        "| x | y |\n|---|---|\n| 1 | a \\| b |\n\n# Three\n```\ncode\n```"
    )
    found = [(block.kind, block.headings, block.text, block.rows) for block in read(text)[1]]
    assert found == [
        ("text", [], "Intro lines", []),
        ("text", ["One"], "text", []),
        ("list", ["One", "Two"], "a\nb more", []),
        ("table", ["One", "Two"], "", [["x", "y"], ["1", "a | b"]]),
        ("code", ["Three"], "code", []),
    ]


@given(st.text(max_size=400))
def test_any_text_becomes_blocks(text: str):
    said = "".join(block.text + "".join(cell for row in block.rows for cell in row) for block in read(text)[1])
    assert len(said) <= len(text)


def test_marks_go_and_words_stay():
    text = (
        "Some *bold* **text**, a [link](https://a.example) and ![a picture](a.png) &amp; `code` 2 * 3<br>after<b>!</b>"
    )
    assert [block.text for block in read(text)[1]] == ["Some bold text, a link and a picture & code 2 * 3\nafter!"]
    html = "<details><summary>Why?</summary>5 &lt; 6</details>\n\n<!-- not\nsaid -->\n\n<script>\ngo()\n</script>"
    assert [block.text for block in read(html)[1]] == ["Why? 5 < 6"]


def test_a_heading_with_nothing_below_is_said_by_itself():
    blocks = read("# Plans\n\nAll of them.\n\n## Free: 0 USD\n## Pro: 29 USD\n\nMore")[1]
    assert [(block.headings, block.text) for block in blocks] == [
        ([], "All of them."),
        ([], "Free: 0 USD"),
        (["Pro: 29 USD"], "More"),
    ]


@pytest.mark.parametrize(
    ("text", "given_title", "title", "headings"),
    [
        ("---\ntitle: 'Prices'\n---\n## Pro\n\n29", "", "Prices", ["Pro"]),
        ("# Prices\n\n## Pro\n\n29", "", "Prices", ["Pro"]),
        ("# Prices\n\n## Pro\n\n29", "prices", "prices", ["Pro"]),
        ("# Prices\n\n## Pro\n\n29", "Tariff", "Tariff", ["Prices", "Pro"]),
        ("---\n\n29", "", "", []),
    ],
)
def test_the_title_is_the_one_that_is_given_or_named_and_stands_above_no_block(
    text: str, given_title: str, title: str, headings: list[str]
):
    found, blocks = read(text, given_title)
    assert (found, [block.headings for block in blocks]) == (title, [headings])


@pytest.mark.parametrize(
    "text",
    [
        "# x" + " " * 50_000 + "y",
        "# x" + "# " * 25_000 + "y",
        "a|b\n" + " " * 50_000 + "x|",
        "a|b\n" + "- " * 25_000 + "x|",
        "---\n" + "\n" * 50_000 + "x",
        "<!--" * 12_500,
        "<details>" + "<" * 50_000,
        "[" * 50_000,
        "> " * 25_000 + "a",
        "- " * 25_000 + "a",
    ],
    ids=lambda text: text[:8],
)
def test_no_text_is_read_for_longer_than_its_size_needs(text: str):
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 20
