"""What a user says of a mistake: "that's wrong, I sell the newest lots first" corrects one fact."""

import re
from collections.abc import Sequence

from memory.domain.long_term.concepts import concepts_of

_FIGURE = r"\d[\w.,%€$]*(?=[,;:])"
_SAYS_SO = (
    r"(?:(?:that|this)(?:'s| is| was)|(?:the [\w# ]{1,40}?|(?:number |#)?\d{1,2}) is) "
    r"(?:wrong|not (?:right|true|correct)|incorrect|a mistake)",
    rf"(?:that|it)(?:'s| is| was)(?:n't| not) (?:the )?{_FIGURE}",
    r"i (?:was wrong|made a mistake|misspoke)",
    r"i meant(?: to say)?(?: that)?",
    r"me (?:equivoqu[eé]|confund[ií])",
    rf"(?:eso |esto )?no (?:es|son) (?:as[ií]|cierto|correcto|verdad|(?:el |la |los |las )?{_FIGURE})",
    r"(?:eso |esto |(?:el|la|lo) [\w ]{1,40}? )?est[aá] mal",
    r"(?:quise|quer[ií]a) decir(?: que)?",
    r"correction|correcci[oó]n",
)
_MISTAKEN = re.compile(
    rf"\W*(?:(?:no|sorry|oops|perd[oó]na?)[,.:]? )*(?:{'|'.join(_SAYS_SO)})\b"
    r"[\s,.:;!–—-]*(?:i meant\b|(?:quise|quer[ií]a) decir\b)?\W*",
    re.I,
)

_JOKED = re.compile(
    r"\b(?:i was|i'm|i am|we were) (?:only |just )?(?:joking|kidding) (?:about|"
    r"when i said)(?: that)? (?P<about>[^,.;:!?]+)|"
    r"\b(?:lo del?|lo de que|cuando dije que|what i said about|when i said|the (?:bit|part|thing) about) "
    r"(?P<of>[^,.;:!?]+?),? (?:era|es|fue|was|is) (?:solo |just |only )?(?:una? |a )?(?:broma|mentira|joke|lie)\b",
    re.I,
)


def past_correction(sentence: str) -> tuple[bool, str]:
    """Whether a sentence begins by saying that something was wrong, and the rest of it."""
    mistaken = _MISTAKEN.match(sentence)
    return mistaken is not None, sentence[mistaken.end() :] if mistaken else sentence


def corrected(facts: Sequence[str], text: str) -> str | None:
    """The fact that says most of the same words as its correction, if it is one alone."""
    said = concepts_of(text)
    alike = [
        (len(said & words), one)
        for one in facts
        if (words := concepts_of(one)) and 2 * len(said & words) >= max(len(said), len(words))
    ]
    most = max(alike, default=(0, ""))
    return most[1] if most[0] and [shared for shared, _ in alike].count(most[0]) == 1 else None


def joked_about(facts: Sequence[str], text: str) -> tuple[str, str] | None:
    """The fact that a text calls a joke, and the words by which it does, if what these name is in one fact alone: "I
    was joking about the boat"."""
    joke = _JOKED.search(text.replace("’", "'"))
    named = concepts_of(joke["about"] or joke["of"]) if joke else frozenset[str]()
    found = [one for one in facts if named and named <= concepts_of(one)]
    return (found[0], joke[0]) if joke and len(found) == 1 else None
