"""Guesses the language of a text from its commonest words. Reliable for sentences, not for a word or two."""

import re

_COMMON = {
    "es": "de la que el en y los se del las un por con no una su para es al lo como más sus le ya o este sí porque "
    "esta son entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante puede usted",
    "en": "the of and to in is that it for you was on are with as at be this have from or by not but what we your can "
    "all will an if which their has more our do how they about who when there any",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou "
    "quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo você são",
    "fr": "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont la avec ou son "
    "mais comme nous vous sa leur être aux cette ont votre",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus "
    "er hat dass sie nach wird bei einer um am sind noch wie einem über",
    "it": "di e il la che in un per è non una sono da del le con si dei al come più anche ma i della alla nel gli suo "
    "questo ha o delle nella lo",
}
_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")
_MAX_CHARS = 20_000
_MIN_COMMON_WORDS = 6
"""Common words that a text needs for a guess."""
_MIN_SURE_WORDS = 20


def language_of(text: str, declared: str | None = None) -> str | None:
    """Returns the language's two letters: the declared language, unless the text is surely in another; None if unknown.

    Templates are translated less often than the texts in them, so a page's declaration can be wrong.
    """
    declared_language = (declared or "").strip().replace("_", "-").partition("-")[0].lower()
    declared_language = declared_language if re.fullmatch("[a-z]{2,3}", declared_language) else ""
    text_words = [word.lower() for word in _WORD.findall(text[:_MAX_CHARS])]
    counts = sorted(((sum(word in words for word in text_words), name) for name, words in _WORDS.items()), reverse=True)
    (best_count, best), (next_count, _) = counts[0], counts[1]
    is_sure = best_count >= _MIN_SURE_WORDS and best_count >= 1.5 * next_count
    if declared_language and not (is_sure and declared_language in _WORDS):
        return declared_language
    return best if best_count >= _MIN_COMMON_WORDS and best_count > next_count else declared_language or None
