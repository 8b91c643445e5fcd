"""What is by far the likeliest is told without a doubt, and what comes closest with one."""

import pytest

from agent.domain.offline.answers import is_unknown
from agent.testing.passages import answered, passage

HALL = [
    passage("Prices", "| Ticket | Adult |\n| --- | --- |\n| Single entry | 13 € |\n| Ten entries | 110 € |\n\n"
            "Before noon single entry costs 9 €."),
    passage("Visit", "Every day from 9:00 to 21:00. Closed on 25 December and 1 January.", heading=["Opening hours"]),
    passage("Start", "Book a free trial day.", heading=["New here"]),
    passage("Hall", "Our bar serves soup and cake.", heading=["Bar"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("are you open on Christmas day?", "Closed on 25 December"),
        ("and on New Year's Day, are you open?", "1 January"),
        ("how much is it to get in?", "Single entry: Adult 13 €"),
        ("what does an entry cost?", "Single entry: Adult 13 €"),
        ("can I eat there?", "Our bar serves soup and cake."),
        ("can I try it before I pay?", "Book a free trial day."),
    ],
)
def test_what_is_called_otherwise_on_the_page_is_told(question: str, told: str) -> None:
    assert told in answered(question, HALL, "en")


FIRINGS = (
    "| Firing | Hours | Price |\n| --- | --- | --- |\n| Raku firing | 2 | 40 € |\n| Salt firing | 9 | 95 € |\n"
    "| Wood firing | 30 | 190 € |"
)
KILN = [
    passage("Kiln", FIRINGS, heading=["Firings"], near=[0.1]),
    passage("Pledge", "We hold 50 € for a raku firing until you fetch it.", heading=["Pledge"], near=[0.25]),
    passage("Trips", "No clay leaves the island.", heading=["May clay go abroad?"], near=[0.1]),
    passage("Age", "You must be 14 to glaze and 16 for the kiln.", heading=["Who may fire?"], near=[0.1]),
    passage("Clay", "| Clay | Price |\n| --- | --- |\n| Red clay | 6 € |\n| White clay | 8 € |",
            heading=["Clay"], near=[0.0]),
]  # fmt: skip


def at_kiln(question: str, nearest: str = "", *before: str) -> str:
    """`nearest`: the title of the passage that is nearest in meaning; `before`: what was asked and answered."""
    found = [one.model_copy(update={"near": [0.5]}) if one.title == nearest else one for one in KILN]
    said = [{"role": "user" if at % 2 == 0 else "assistant", "content": one} for at, one in enumerate(before)]
    return answered(question, found, "en", *said)


@pytest.mark.parametrize(
    ("question", "nearest", "told"),
    [
        ("how much for a raku firing?", "Pledge", "Raku firing: Hours 2, Price 40 €. [1]"),
        ("do I have to leave a pledge?", "Pledge", "We hold 50 € for a raku firing until you fetch it. [2]"),
        ("how many hours does the salt firing include?", "", "Salt firing: Hours 9. [1]"),
        (
            "which is the cheapest?",
            "",
            "- Firings: Raku firing: Hours 2, Price 40 € [1]\n- Clay: Red clay: Price 6 € [5]",
        ),
    ],
)
def test_what_is_by_far_the_likeliest_is_told_without_a_doubt(question: str, nearest: str, told: str) -> None:
    assert at_kiln(question, nearest) == told


def test_what_is_likely_without_a_word_of_the_question_stays_a_guess() -> None:
    assert is_unknown(at_kiln("do I have to leave a passport?", "Pledge"))
    assert is_unknown(at_kiln("how much is a glaze?", "Age"))


@pytest.mark.parametrize("question", ["which is the cheapest?", "which pass is the cheapest?", "which is cheaper?"])
def test_the_cheapest_of_what_stands_under_names_of_its_own_is_told(question: str) -> None:
    text = "Swim all year.\n\n## Gold\n\nThe Gold pass costs 90 €.\n\n## Tin\n\nThe Tin pass costs 30 €."
    places = [{"start": 0, "heading": ["Passes"]}, {"start": text.index("## Gold"), "heading": ["Passes", "Gold"]},
              {"start": text.index("## Tin"), "heading": ["Passes", "Tin"]}]  # fmt: skip
    found = [passage("Passes", text, heading=["Passes"], sections=places), passage("Towels", "A towel costs 4 €.")]
    assert answered(question, found, "en") == "The Tin pass costs 30 €. [1]"


def test_what_is_done_if_needed_is_no_need() -> None:
    found = [
        passage("Dogs", "Tell us when you book a bath. We use a muzzle if needed.", heading=["Does your dog bite?"])
    ]
    assert is_unknown(answered("do I have to book a bath?", found, "en"))


def test_the_cheapest_is_one_of_all_and_not_of_those_that_were_spoken_of() -> None:
    before = (
        "how much is a salt firing?",
        "Salt firing: Price 95 €. [1]",
        "and a wood firing?",
        "Wood firing: 190 €. [1]",
    )
    assert "Raku firing" in at_kiln("which is the cheapest?", "", *before)
    assert "Raku firing" not in at_kiln("which is the cheapest of the two?", "", *before)


def test_what_is_all_strange_shows_nothing_however_likely_what_was_told_last_is() -> None:
    before = ("how much is a raku firing?", "Raku firing: Hours 2, Price 40 €. [1]")
    assert "€" not in at_kiln("do you sell perfumes?", "", *before)


def test_a_kind_is_listed_from_the_table_under_its_name_whatever_the_column_is_called() -> None:
    table = "| Type | Price |\n| --- | --- |\n| Daily | 21 € |\n| Monthly | 24 € |"
    found = [
        passage("Lenses | Iris", table, id="a"),
        passage("Lenses | Iris", "The first fitting takes an hour.", heading=["First fitting"], id="b"),
        passage("Lenses | Iris", "We post lenses in two days.", heading=["Post"], id="c"),
    ]
    told = answered("what lenses do you have?", found, "en")
    assert ("Daily" in told, "Monthly" in told, "fitting" in told) == (True, True, False)


@pytest.mark.parametrize(
    ("question", "told"),
    [("wheres your shop?", "Quay Street 4, Bristol"), ("whats your number?", "+44 117 555 0199")],
)
def test_what_is_written_in_haste_is_read(question: str, told: str) -> None:
    found = [
        passage("Visit", "Quay Street 4, Bristol BS1 4EX.", heading=["Find us"]),
        passage("Ask", "Telephone +44 117 555 0199.", heading=["Contact"]),
        passage("Parking", "Customers park behind the shop.", heading=["Parking"]),
    ]
    assert told in answered(question, found, "en")
