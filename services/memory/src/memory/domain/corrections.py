"""How a user corrects a mistake: "that's wrong, I sell the newest lots first" corrects one fact."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from memory.domain.long_term.concepts import concepts_of

_FIGURE = r"\d[\w.,%€$]*(?=[,;:])"
_MISTAKE_PHRASES = (
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
    rf"\W*(?:(?:no|sorry|oops|perd[oó]na?)[,.:]? )*(?:{'|'.join(_MISTAKE_PHRASES)})\b"
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

_JOKED_BEFORE = re.compile(
    r"\W*(?:(?:no,|sorry,?|perd[oó]n,?|(?:ha|ja|je)+,?) )*(?:(?:i'm |i was )?(?:just |only )?(?:kidding|joking)|jk|"
    r"(?:that|it) was a joke|(?:es|era|fue) (?:una )?broma|estaba bromeando)\b(?! (?:about|when|lo|que|aside))",
    re.I,
)
"""Says that what was said just before was a joke."""
MAX_JOKE_AGE = timedelta(minutes=10)
"""Time in which a message that only says so takes back the one before it."""


def past_correction(sentence: str) -> tuple[bool, str]:
    """Returns whether a sentence begins by saying that something was wrong, and the rest of it."""
    match = _MISTAKEN.match(sentence)
    return match is not None, sentence[match.end() :] if match else sentence


def corrected_fact(facts: Sequence[str], text: str) -> str | None:
    """Returns the fact that shares most words with its correction, if there is exactly one."""
    correction_words = concepts_of(text)
    candidates = [
        (len(correction_words & fact_words), fact)
        for fact in facts
        if (fact_words := concepts_of(fact))
        and 2 * len(correction_words & fact_words) >= max(len(correction_words), len(fact_words))
    ]
    best = max(candidates, default=(0, ""))
    return best[1] if best[0] and [shared for shared, _ in candidates].count(best[0]) == 1 else None


def joked_about(since: Mapping[str, datetime], text: str, now: datetime) -> tuple[str, str] | None:
    """Returns the fact that a text calls a joke, and the words by which it does so, if only one can be meant: "I was
    joking about the boat"; "just kidding", of the turn before. `since`: when each fact was said."""
    text = text.replace("’", "'")
    joke, matching = _JOKED.search(text), list[str]()
    if joke is not None:
        joke_words = concepts_of(joke["about"] or joke["of"])
        matching = [
            fact for fact, date in since.items() if date <= now and joke_words and joke_words <= concepts_of(fact)
        ]
    elif joke := _JOKED_BEFORE.match(text):
        newest = max((date for date in since.values() if now - MAX_JOKE_AGE <= date < now), default=None)
        matching = [fact for fact, date in since.items() if date == newest]
    return (matching[0], joke[0].strip()) if joke and len(matching) == 1 else None
