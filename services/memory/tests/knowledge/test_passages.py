"""Cutting documents: rows whole, headings with their text, sizes kept."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.knowledge import Block
from memory.knowledge.passages import MAX_CHARACTERS, passages


def test_a_table_is_cut_between_rows_and_each_part_has_the_header() -> None:
    rows = [["Plan", "Price"]] + [[f"Plan number {n}", f"{n} dollars a month, billed yearly"] for n in range(60)]
    cuts = passages([Block(kind="table", headings=["Prices"], rows=rows)])
    assert len(cuts) > 1
    assert all(cut.text.startswith("| Plan | Price |\n| --- | --- |\n") for cut in cuts)
    held = [line for cut in cuts for line in cut.text.split("\n") if line.startswith("| Plan number")]
    assert held == [f"| Plan number {n} | {n} dollars a month, billed yearly |" for n in range(60)]


def test_a_head_of_many_columns_is_in_the_first_part_only() -> None:
    names = [f"the name of column {number}" for number in range(1_000)]
    cuts = passages([Block(kind="table", rows=[names, *([str(number)] for number in range(2_000))])])
    assert [number for number, cut in enumerate(cuts) if "the name of column 999" in cut.text] == [0]
    assert "".join(cut.text for cut in cuts).endswith("| 1999 |")


def test_a_row_longer_than_a_passage_stays_whole() -> None:
    rows = [["a", "b"], ["x " * 800, "end"]]
    (cut,) = passages([Block(kind="table", rows=rows)])
    assert cut.text.endswith("| end |")


def test_small_sections_share_a_passage_and_each_keeps_its_heading() -> None:
    faq = [Block(headings=["FAQ", f"Question {n}?"], anchor=f"q{n}", text=f"Answer {n}.") for n in range(4)]
    (cut,) = passages(faq)
    assert [section.anchor for section in cut.sections] == ["q0", "q1", "q2", "q3"]
    assert [cut.text[section.start :].split("\n")[0] for section in cut.sections[1:]] == [
        f"### Question {n}?" for n in (1, 2, 3)
    ]


def test_headings_without_words_of_their_own_stand_above_the_next_section() -> None:
    pool, dinner = ("Pool",), ("Restaurant", "Dinner")
    places = (pool, dinner, ("Restaurant", "Breakfast"), ("Restaurant",))
    (cut,) = passages([Block(headings=list(place), text=f"{place[-1]} hours.") for place in places])
    assert cut.text.split("\n\n") == [
        *(
            "## Pool",
            "Pool hours.",
            "## Restaurant",
            "### Dinner",
            "Dinner hours.",
            "### Breakfast",
            "Breakfast hours.",
        ),
        *("## Restaurant", "Restaurant hours."),
    ]


def test_what_stands_under_no_heading_is_not_read_as_the_section_before_it() -> None:
    hours, foot = Block(headings=["Hours"], text="Open from nine."), Block(text="Bikes Ltd, 31 Port Street")
    assert [cut.text for cut in passages([hours, foot])] == ["Open from nine.", "Bikes Ltd, 31 Port Street"]


def test_a_section_that_is_large_enough_stands_alone() -> None:
    one, two = (Block(headings=[name], anchor=name, text=f"{name} " * 90) for name in ("first", "second"))
    assert [cut.sections[0].anchor for cut in passages([one, two])] == ["first", "second"]


WORDS = st.text(alphabet="ab .|é\n", max_size=3000)
BLOCKS = st.lists(
    st.one_of(
        st.builds(Block, headings=st.lists(st.sampled_from("AB"), max_size=2), text=WORDS),
        st.builds(Block, kind=st.just("list"), text=WORDS),
        st.builds(Block, kind=st.just("code"), text=WORDS),
        st.builds(Block, kind=st.just("table"), rows=st.lists(st.lists(WORDS, max_size=3), max_size=5)),
    ),
    max_size=6,
)


@given(BLOCKS)
def test_no_word_is_lost_and_no_passage_without_a_row_is_too_long(given_blocks: list[Block]) -> None:
    cuts = passages(given_blocks)
    letters = sum(block.text.count("a") + sum(cell[:2000].count("a") for row in block.rows for cell in row)
                  for block in given_blocks)  # fmt: skip
    tables = sum(bool(block.rows) for block in given_blocks)
    found = sum(cut.text.count("a") for cut in cuts)
    assert found >= letters if tables else found == letters or any(block.text.count("\n") for block in given_blocks)
    if not tables:
        assert all(len(cut.text) <= MAX_CHARACTERS + 40 for cut in cuts)
    for cut in cuts:
        assert cut.sections[0].start == 0


def test_of_several_sections_in_one_passage_each_says_its_heading() -> None:
    blocks = [Block(headings=["Friend"], text="20 EUR"), Block(headings=["Member"], text="150 EUR")]
    (cut,) = passages(blocks)
    assert cut.text == "## Friend\n\n20 EUR\n\n## Member\n\n150 EUR"
    assert [cut.text[section.start :][:9] for section in cut.sections] == ["## Friend", "## Member"]
    assert [passage.text for passage in passages(blocks[:1])] == ["20 EUR"]
