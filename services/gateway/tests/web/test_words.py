"""The words that people read: each language has all of them, and none that nothing shows."""

import re
from pathlib import Path
from string import Formatter

from contracts.languages import LANGUAGES
from gateway.domain import settings_warnings
from gateway.web.words import SITE, catalogue


def places(text: str) -> set[str]:
    """The {names} in a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_each_language_says_all_that_the_others_say() -> None:
    english = catalogue("en")
    for language in LANGUAGES:
        other = catalogue(language)
        assert {section: set(words) for section, words in other.items()} == {
            section: set(words) for section, words in english.items()
        }
        for section, words in other.items():
            for key, text in words.items():
                assert text.strip(), key
                assert places(text) == places(english[section][key]), key


def test_the_widget_says_all_of_its_words_and_no_others() -> None:
    source = "".join(file.read_text() for file in (SITE / "widget").iterdir() if file.name.endswith(".js"))
    assert set(re.findall(r"(?<!/)\bwords\.(\w+)", source)) == set(catalogue("en")["widget"])


def test_the_pages_say_all_of_their_words() -> None:
    pages = "".join(file.read_text() for file in SITE.iterdir() if file.name.endswith(".html"))
    named_by_code = {"home", "pricing", "help", "guide", "language"}
    assert set(catalogue("en")["site"]) - set(re.findall(r"\$(\w+)", pages)) - named_by_code == set()


def test_every_warning_has_its_words_and_there_are_no_others() -> None:
    source = Path(settings_warnings.__file__).read_text()
    assert set(re.findall(r'SettingWarning\("[\w.]+", "(\w+)"', source)) == set(catalogue("en")["warnings"])


def test_the_console_says_all_of_its_words_and_no_others() -> None:
    source = "".join(file.read_text() for file in (SITE / "console").iterdir() if file.name.endswith(".js"))
    said = set(re.findall(r'["`]([A-Za-z]\w*(?:\.\w+)*)["`]', source))
    made = tuple(re.findall(r"say\(`(\w+_)\$\{", source))
    parts = {"setting_", "spent_", "assignment_", "plan_"}  # made of a field's path, and of its choices
    words = set(catalogue("en")["console"])
    assert {word for word in words if word not in said and not word.startswith((*made, *parts))} == set()
    assert set(re.findall(r'say\("(\w+)"', source)) - words == set()
