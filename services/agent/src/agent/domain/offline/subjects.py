"""Names the share that a follow-up is about, if the answer before it chose one: after "by return, highest first: AAPL
6.9 %, MSFT -8.1 %", "what's its RSI" is AAPL's.

The share that was asked for last by name is found by the texts alone (`previous_questions`); which of several was
chosen, or stood second, only the answer tells.
"""

import re

from agent.domain.offline.kinds import ORDINALS
from agent.domain.text_features import plain, symbols_in
from contracts.expressions import expression

_SYMBOL = r"\^?[A-Z]{1,5}(?:[./][A-Z]{1,4})?"
_RANKING = expression(
    r"(?P<down>highest first|largest first|de mayor a menor): (?P<falling>[^\n]+)|"
    r"(?:(?:lowest|smallest|deepest|worst|best) first|de menor a mayor): (?P<rising>[^\n]+)"
)
_RANKED = expression(rf"(?:^|, )({_SYMBOL}) (?=[A-Z$€−-]{{0,4}} ?\d)")
_MEASURED = expression(rf"^(?:- )?(?:[^:\n]{{0,70}}, )?({_SYMBOL})(?: \(1\w\))?: ", re.MULTILINE)
_LEAST = expression(r"\b(?:less|least|lowest|smallest|fewest|menos|menor|bottom)\b")
_FALLEN = expression(r"\b(?:f[ae]ll\w*|drop\w*|lost|los[ei]\w*|down|ca[iey]\w*|baj\w+|p(?:ier|er)d\w+)\b")
_CHOOSES = expression(
    rf"{_LEAST.pattern}|\b(?:better|best|worse|worst|more|most|mejor|peor|mas|mayor|top|biggest|largest|highest)\b"
)
"""A question whose answer chooses one."""
_ITS = expression(r"\bits\b")
_IT = expression(r"(?<!make )(?<!do )(?<!sort )(?<!rank )(?<!try )(?<!cancel )(?<!delete )(?<!chart )\bit\b")
_THAT_ONE = expression(r"\b(?:that (?:one|share|stock)|the (?:winner|loser)|es[ae](?= \w+[ae]\b|\W*$)|ella)\b")
_SU = expression(r"\bsus? (?=\w)")
_IMPLIED = expression(
    r"^\W*(?:(?:and|y|ok|vale|pues)\W+)*(?:(?:buy|sell|get|compra|vende) (?:me )?\d+\W*$|avisa\w* (?:si|cuando)\b|"
    r"que \w+ tiene\b|cuanto (?:cayo|subio|vale)\W*$)"
)
"""A request that leaves its share out."""
_ORDERED = expression(r"\b(?:buy|sell|get|compra|vende)\b")
_PLACE = expression(
    rf"\b(?:the|la|el) (?P<place>{'|'.join(ORDINALS)})(?: one)?"
    r"(?=\W*$| (?:this|over|in|en|este|esta|last|today|hoy)\b)"
)
_SEVERAL = expression(
    r"\b(?:both|two|three|they|their|them|all|each|compare\w*|l[oa]s (?:dos|tres)|amb[oa]s|tod[oa]s|other|otr[oa])\b|"
    r"\b(?:the|my|that|this|la|mi|mis|las|esa|esta) (?:\w+ )?(?:alerts?|alertas?|orders?|orden(?:es)?)\b"
)
_MAX_WORDS = 14
"""Maximum words of a follow-up that refers to a share."""


def with_subject(text: str, earlier_text: str, answer: str) -> str:
    """The text with the share that the answer to the earlier text chose instead of the word that refers to it;
    unchanged if the text names a share, refers to none, or the answer chose none."""
    normalized = plain(text)
    is_of_one = len(normalized.split()) <= _MAX_WORDS and not _SEVERAL.search(normalized)
    # The words are replaced in the text by their place in its normalized form.
    if not is_of_one or len(normalized) != len(text) or symbols_in(text):
        return text
    ranking = _RANKING.search(answer)
    ranked: list[str] = _RANKED.findall(ranking["falling"] or ranking["rising"]) if ranking else []
    if len(ranked) > 1 and (place := _PLACE.search(normalized)):
        position = ORDINALS[place["place"]]
        return _replaced(text, place, ranked[position]) if position < len(ranked) else text
    if ranking is not None and len(ranked) > 1:
        if not _CHOOSES.search(plain(earlier_text)):
            return text
        asked = plain(earlier_text)
        least = ranking["down"] and _LEAST.search(asked) and not _FALLEN.search(asked)  # who fell less stands first
        return _naming(text, normalized, ranked[-1 if least else 0])
    measured = list(dict.fromkeys(_MEASURED.findall(answer)))
    is_new = len(measured) == 1 and symbols_in(earlier_text) != measured  # named by the answer alone, or chosen by it
    return _naming(text, normalized, measured[0]) if is_new else text


def _naming(text: str, normalized: str, subject: str) -> str:
    """The text with the share instead of the word that refers to it, if there is one."""
    for pattern, words in ((_ITS, f"{subject}'s"), (_THAT_ONE, subject), (_IT, subject)):
        if match := pattern.search(normalized):
            return _replaced(text, match, words)
    of_it, is_implied = _SU.search(normalized), _IMPLIED.search(normalized)
    if not of_it and not is_implied:
        return text
    text = (_replaced(text, of_it, "el ") if of_it else text).rstrip(" ?!.")
    return f"{text} {subject}" if _ORDERED.search(normalized) else f"{text} de {subject}"


def _replaced(text: str, match: re.Match[str], words: str) -> str:
    return f"{text[: match.start()]}{words}{text[match.end() :]}"
