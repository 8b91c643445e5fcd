"""A glossary with a mistake in its files does not start, and says where the mistake is."""

from pathlib import Path

import pytest

from tool_executor.domain.glossary import Glossary, GlossaryError

SPANISH = '[{id}.es]\nname = "{es}"\nsynonyms = []\nbeginner = "Uno."\nintermediate = "Dos."\nadvanced = "Tres."\n'
ENGLISH = '[{id}.en]\nname = "{en}"\nsynonyms = []\nbeginner = "One."\nintermediate = "Two."\nadvanced = "Three."\n'
PAIR = ("[one]\nrelated = ['two']\n" + SPANISH + ENGLISH).format(id="one", es="manzana", en="apple") + (
    "[two]\nrelated = ['one']\n" + SPANISH + ENGLISH
).format(id="two", es="ciruela", en="plum")


def test_a_folder_of_sound_files_is_loaded_theme_by_theme(tmp_path: Path):
    first, second = PAIR.split("[two]\n")
    (tmp_path / "b.toml").write_text(first)
    (tmp_path / "a.toml").write_text("[two]\n" + second)
    (tmp_path / "notes.txt").write_text("not part of it")
    assert [concept.id for concept in Glossary.load(tmp_path).concepts] == ["two", "one"]


def test_line_breaks_inside_an_explanation_are_spaces(tmp_path: Path):
    (tmp_path / "a.toml").write_text(PAIR.replace('"One."', "'''\nOne\nline.\n'''"))
    assert Glossary.load(tmp_path).explain("apple", language="en")["explanation"] == "One line."


@pytest.mark.parametrize(
    ("sound", "wrong", "message"),
    [
        ("[one]\n", "[one\n", "a.toml: not TOML in UTF-8: "),
        ("[one]\n", "[One]\n", "a.toml: One: an id is made of a-z, 0-9 and single _"),
        ('name = "apple"\n', "", "a.toml: one: en: name must be a text that is not empty"),
        ('name = "apple"\n', 'name = " "\n', "a.toml: one: en: name must be a text that is not empty"),
        ('advanced = "Tres."', "", "a.toml: one: es: advanced must be a text that is not empty"),
        ('"Dos."', '"Dos"', "a.toml: one: es: intermediate must end as a sentence does"),
        ('"One."', '"A. B. C. D. E."', "a.toml: one: en: beginner has 5 sentences, must have 1 to 4"),
        ("synonyms = []", "synonyms = 3", "a.toml: one: es: synonyms must be a list of texts that are not empty"),
        ("synonyms = []", "synonyms = [3]", "a.toml: one: es: synonyms must be a list of texts that are not empty"),
        ("synonyms = []", "synonim = []", "a.toml: one: es: unknown entry 'synonim'; known are "),
        ("related = ['two']", "", "a.toml: one: related must be a list of texts that are not empty"),
        ("related = ['two']", "related = ['three']", "a.toml: one: related 'three' is no concept"),
        ("related = ['two']", "related = ['one']", "a.toml: one: related 'one' is itself"),
        ("related = ['two']", "related = ['two', 'two']", "a.toml: one: related has the same id twice"),
        ("[two.en]", "[two.fr]", "a.toml: two: unknown entry 'fr'; known are "),
        ("synonyms = []", "synonyms = ['Plums']", "a.toml: two: 'plum' also names one"),
        ("synonyms = []", "synonyms = ['¡!']", "a.toml: one: '¡!' has neither letters nor digits"),
    ],
)
def test_a_mistake_is_refused_with_its_place(tmp_path: Path, sound: str, wrong: str, message: str):
    assert sound in PAIR
    (tmp_path / "a.toml").write_text(PAIR.replace(sound, wrong, 1))
    with pytest.raises(GlossaryError) as raised:
        Glossary.load(tmp_path)
    assert str(raised.value).startswith(message)


def test_a_missing_language_is_refused(tmp_path: Path):
    (tmp_path / "a.toml").write_text(PAIR[: PAIR.index("[two.en]")])
    with pytest.raises(GlossaryError, match=r"^a\.toml: two: en: is missing$"):
        Glossary.load(tmp_path)


def test_an_id_in_two_files_is_refused(tmp_path: Path):
    (tmp_path / "a.toml").write_text(PAIR)
    (tmp_path / "b.toml").write_text(PAIR[: PAIR.index("[two]")])
    with pytest.raises(GlossaryError, match=r"^b\.toml: one: this id is also in a\.toml: one$"):
        Glossary.load(tmp_path)


def test_every_mistake_has_its_line(tmp_path: Path):
    (tmp_path / "a.toml").write_text(PAIR.replace('"Uno."', '""'))
    with pytest.raises(GlossaryError) as raised:
        Glossary.load(tmp_path)
    assert [line.split(": ")[1] for line in str(raised.value).splitlines()] == ["one", "two"]


def test_an_empty_folder_is_refused(tmp_path: Path):
    with pytest.raises(GlossaryError, match="no concept"):
        Glossary.load(tmp_path)
