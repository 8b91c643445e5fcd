"""What a user says of a mistake: "that's wrong, I sell the newest lots first" corrects one fact."""

import re
from collections.abc import Sequence

from memory.domain.long_term.concepts import content

_MISTAKEN = re.compile(
    r"\W*(?:no[,.]? )?(?:(?:that|this)(?:'s| is| was) (?:wrong|not (?:right|true|correct)|incorrect|a mistake)|"
    r"i (?:was wrong|made a mistake|misspoke)|correction|me (?:equivoqu[eé]|confund[ií])|"
    r"(?:eso |esto )?(?:no es (?:as[ií]|cierto|verdad)|est[aá] mal)|correcci[oó]n)\b"
    r"[\s,.:;!–—-]*(?:i meant\b|quise decir\b)?\W*",
    re.I,
)


def past_correction(sentence: str) -> tuple[bool, str]:
    """Whether a sentence begins by saying that something was wrong, and the rest of it."""
    mistaken = _MISTAKEN.match(sentence)
    return mistaken is not None, sentence[mistaken.end() :] if mistaken else sentence


def corrected(facts: Sequence[str], text: str) -> str | None:
    """The fact that says most of the same words as its correction, if it is one alone."""
    said = content(text)
    alike = [
        (len(said & words), one)
        for one in facts
        if (words := content(one)) and 2 * len(said & words) >= max(len(said), len(words))
    ]
    most = max(alike, default=(0, ""))
    alone = [shared for shared, _ in alike].count(most[0]) == 1 and text not in facts
    return most[1] if most[0] and alone else None
