"""Which section of those that were found is the likeliest."""

from dataclasses import replace

import pytest

from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.relevance import ranked_sections

KILOMETRES = Excerpt("250 km al día, y cada kilómetro de más 0,20 €.", "Kilómetros", "/a", "Preguntas", 1, 1)
FINES = Excerpt("Las multas las paga el conductor.", "Multas", "/a", "Preguntas", 2, 2)
CELEBRATION = Excerpt("Dos horas con monitor, 16 € cada uno.", "Cumpleaños", "/b", "Fiestas", 1, 3)
ABSENCE = Excerpt("Avisa un día antes.", "¿Y si no puedo ir?", "/a", "Preguntas", 3, 4)
FOUND = (KILOMETRES, FINES, CELEBRATION, ABSENCE)


@pytest.mark.parametrize(
    ("question", "earlier", "told", "heading"),
    [
        ("¿quién paga las multas?", "", "", "Multas"),
        ("un cumple", "", "", "Cumpleaños"),
        ("¿y si me paso?", "¿hay límite de kilómetros?", "", "Kilómetros"),
        ("y si al final no puedo ir?", "", "", "¿Y si no puedo ir?"),
        ("¿y eso cómo va?", "", CELEBRATION.text, "Cumpleaños"),
    ],
)
def test_the_likeliest_section_is_of_the_question_or_of_what_it_goes_on_from(
    question: str, earlier: str, told: str, heading: str
) -> None:
    sections = ranked_sections(question, earlier, told, Candidates(FOUND))
    assert FOUND[sections[0].sentences[0]].heading == heading
    assert sum(section.likelihood for section in sections) == pytest.approx(1)


def test_what_stands_in_both_languages_is_told_in_the_questions() -> None:
    foreign = replace(FINES, url="/en", number=1)
    both = Candidates([foreign, replace(FINES, number=2)], foreign={1})
    assert [section.location[0] for section in ranked_sections("multas", "", "", both)] == ["/a", "/en"]
    assert ranked_sections("multas", "", "", Candidates([])) == []


def test_words_that_are_said_of_anything_lead_to_no_other_section() -> None:
    stitches = Excerpt("Stitches come out after ten days.", "Afterwards", "/a", "Operations", 1, 1)
    classes = Excerpt("Puppies meet on Tuesdays at 7pm.", "Puppy classes", "/b", "Classes", 1, 2)
    found = ranked_sections("can he come?", "when are the puppy classes?", "", Candidates([stitches, classes]))
    assert found[0].location == ("/b", "Puppy classes")
