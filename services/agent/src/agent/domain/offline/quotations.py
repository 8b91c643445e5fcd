"""Quotes the site word for word, each statement once, with the number of its passage or the address of its page."""

from collections.abc import Sequence

from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.repeats import without_repeats
from agent.texts import TEXTS
from contracts.languages import Language


def quoted(passages: Sequence[Excerpt], language: Language) -> str:
    """The quotation of these excerpts, without repeats, with their sources: passage numbers, or else pages."""
    passages = without_repeats(passages)
    numbered = all(excerpt.number for excerpt in passages)
    marks = (
        "".join(f"[{number}]" for number in dict.fromkeys(excerpt.number for excerpt in passages)) if numbered else ""
    )
    headings = list(dict.fromkeys(excerpt.heading for excerpt in passages))
    if len(headings) > 1:
        excerpts_by_heading = {name: [excerpt for excerpt in passages if excerpt.heading == name] for name in headings}
        lines = [
            f"- {name}: ".replace("- : ", "- ") + _joined(excerpts) + _mark(excerpts)
            for name, excerpts in excerpts_by_heading.items()
        ]
        quotation = "\n".join(lines)
    elif len(passages) > 3 and any(excerpt.row for excerpt in passages):
        quotation = "\n".join(f"- {excerpt.text}{_mark([excerpt])}" for excerpt in passages)
    else:
        sentences = [
            excerpt.text if excerpt.text.endswith((".", "!", "?", ":")) else f"{excerpt.text}." for excerpt in passages
        ]
        quotation = " ".join(sentences) + (f" {marks}" if numbered else "")
    if numbered:
        return quotation
    pages = dict.fromkeys((excerpt.title or excerpt.url, excerpt.url) for excerpt in passages)
    source = "; ".join(f"{title}, {url}" for title, url in pages)
    joint = "\n\n" if "\n" in quotation else " "
    return f"{quotation}{joint}" + TEXTS["offline.read_in"].in_language(language).format(pages=source)


def _joined(passages: Sequence[Excerpt]) -> str:
    sentences = all(excerpt.text.endswith((".", "!", "?")) for excerpt in passages)
    return (" " if sentences else "; ").join(excerpt.text for excerpt in passages)


def _mark(passages: Sequence[Excerpt]) -> str:
    return "".join(f" [{number}]" for number in dict.fromkeys(excerpt.number for excerpt in passages) if number)
