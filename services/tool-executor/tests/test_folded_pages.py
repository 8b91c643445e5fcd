"""What a page shows once something is pressed, and what only its look or its JSON-LD tells."""

import pytest

from tool_executor.extraction.html import extract_html


@pytest.mark.parametrize(
    "item",
    [
        "<h2><button aria-expanded=false>{0}<svg><title>arrow</title></svg></button></h2><div>{1}</div>",
        "<div class=head><button aria-controls=p{2}><b>{0}</b></button></div><div id=p{2} hidden><p>{1}</div>",
        "<li><button>{0}</button><p>{1}</p></li>",
    ],
)
def test_what_a_button_unfolds_stands_below_its_words(item: str):
    asked = [("May I bring a dog?", "In the garden."), ("Is there a shower?", "Two.")]
    items = "".join(item.format(*one, at) for at, one in enumerate(asked))
    page = extract_html(f"<main><h1>House</h1><button>Buy</button><div>{items}</div><p>After</p></main>")
    assert [(block.headings, block.text) for block in page.blocks[:2]] == [([head], text) for head, text in asked]
    after = page.blocks[2]
    assert (after.headings, after.text) == ([asked[1][0]] if "<h2>" in item else [], "After")
    assert not any("Buy" in f"{block.headings}{block.text}" for block in page.blocks)


@pytest.mark.parametrize(
    "item",
    [
        "<button>{0}</button><div hidden><p>{1}</p></div>",
        "<button aria-expanded=false>{0}</button><div style='display: none' aria-hidden=true>{1}</div>",
        "<details><summary>{0}</summary><div hidden>{1}</div></details>",
        "<div class=item><div class=q>{0}</div><div class=a>{1}</div></div>",
        "<p>{0}</p><p>{1}</p>",
        "<p><strong>{0}</strong></p><p>{1}</p>",
    ],
)
@pytest.mark.parametrize("head", ["May I bring a dog?", "How long does it take?"])
def test_an_answer_that_is_folded_up_stands_below_its_question(item: str, head: str):
    page = extract_html(f"<h1>House</h1><section>{item.format(head, 'Ask at the desk.')}</section><p>After</p>")
    assert [(block.headings, block.text) for block in page.blocks] == [([head], "Ask at the desk."), ([], "After")]


def test_bold_words_alone_in_a_paragraph_head_the_next_one():
    page = extract_html(
        "<title>Pool</title><section><p><b>Opening hours</b></p><p>Daily from 9</p><p><b>Mind</b> the step</p>"
        "<p><b>We are closed.</b></p>"
        "</section><p><b>Last words</b></p>"
    )
    assert [(block.headings, block.text) for block in page.blocks] == [
        (["Opening hours"], "Daily from 9"),
        (["Opening hours"], "Mind the step"),
        (["Opening hours"], "We are closed."),
        ([], "Last words"),
    ]


def test_what_a_tab_shows_stands_below_the_tab():
    tabs = "<div role=tablist><button role=tab aria-controls=a>Adults</button><button role=tab>Children</button></div>"
    page = extract_html(f"{tabs}<div role=tabpanel id=a><p>£12</p></div><div role=tabpanel hidden>£6</div><p>After</p>")
    assert [(block.headings, block.text) for block in page.blocks] == [
        (["Adults"], "£12"),
        (["Children"], "£6"),
        ([], "After"),
    ]


def test_what_is_hidden_from_everybody_stays_so():
    page = extract_html(
        "<title>Inn</title><button>May I?</button><i aria-hidden=true>+</i><p>Yes.</p><div hidden>Never shown.</div>"
    )
    assert [(block.headings, block.text) for block in page.blocks] == [(["May I?"], "Yes.")]


def test_words_that_only_tags_part_are_apart_where_the_page_shows_them_so():
    page = extract_html(
        "<div><span>Wheel</span><span>£12 an <b>h</b>our</span></div><p>H<sub>2</sub>O at 20<sup>th</sup></p>"
    )
    assert [block.text for block in page.blocks] == ["Wheel £12 an hour", "H2O at 20th"]


def test_questions_that_only_json_ld_answers_are_kept():
    def asked(question: str, answer: str) -> str:
        return f'{{"@type": "Question", "name": "{question}", "acceptedAnswer": {{"text": "{answer}"}}}}'

    held = asked("Own clay?", "<p>No &amp; never.</p>"), asked("Aprons?", "We lend you one.")
    page = extract_html(
        f'<script type="application/ld+json">{{"@graph": [{{"mainEntity": [{", ".join(held)}]}}]}}</script>'
        '<script type="application/ld+json">{"name": [</script>'
        "<title>Pots</title><h1>Pots</h1><h2>Aprons?</h2><p>We lend you one.</p>"
    )
    assert [(block.headings, block.text) for block in page.blocks] == [
        (["Aprons?"], "We lend you one."),
        (["Own clay?"], "No & never."),
    ]
