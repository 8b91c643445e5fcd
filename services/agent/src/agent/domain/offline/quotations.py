"""Quotes the site word for word, each thing once, with the number of its passage or the address of its page."""

from collections.abc import Sequence

from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.repeats import without_repeats
from agent.texts import TEXTS
from contracts.languages import Language


def quoted(passages: Sequence[Excerpt], language: Language) -> str:
    """What the site says, word for word and each thing once, with where it says it: the number of its passage, or else
    its page."""
    passages = without_repeats(passages)
    numbered = all(one.number for one in passages)
    marks = "".join(f"[{number}]" for number in dict.fromkeys(one.number for one in passages)) if numbered else ""
    headings = list(dict.fromkeys(one.heading for one in passages))
    if len(headings) > 1:
        under = {name: [one for one in passages if one.heading == name] for name in headings}
        lines = [f"- {name}: ".replace("- : ", "- ") + _joined(those) + _mark(those) for name, those in under.items()]
        said = "\n".join(lines)
    elif len(passages) > 3 and any(one.row for one in passages):
        said = "\n".join(f"- {one.text}{_mark([one])}" for one in passages)
    else:
        ended = [one.text if one.text.endswith((".", "!", "?", ":")) else f"{one.text}." for one in passages]
        said = " ".join(ended) + (f" {marks}" if numbered else "")
    if numbered:
        return said
    pages = dict.fromkeys((one.title or one.url, one.url) for one in passages)
    source = "; ".join(f"{title}, {url}" for title, url in pages)
    joint = "\n\n" if "\n" in said else " "
    return f"{said}{joint}" + TEXTS["offline.read_in"].in_language(language).format(pages=source)


def _joined(passages: Sequence[Excerpt]) -> str:
    sentences = all(one.text.endswith((".", "!", "?")) for one in passages)
    return (" " if sentences else "; ").join(one.text for one in passages)


def _mark(passages: Sequence[Excerpt]) -> str:
    return "".join(f" [{number}]" for number in dict.fromkeys(one.number for one in passages) if number)
