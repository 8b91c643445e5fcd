"""Corrects the key words of customers' messages: a wrong letter, or missing vowels."""

import re
from functools import lru_cache

from agent.domain.number_words import large_in_figures
from agent.domain.text_features import is_one_letter_apart, plain, word_set
from contracts.expressions import expression

_KEYS = word_set(
    "price prices quote quotes portfolio position positions watchlist alert alerts order orders pending history "
    "news headlines sentiment fundamentals earnings revenue dividend indicator indicators signal signals "
    "prediction forecast chart candles risk reward compare performance cancel delete remove market trading stock "
    "shares target precio precios cotiza cotizacion cartera portafolio posicion posiciones alerta alertas avisame "
    "orden ordenes pendientes historial noticias titulares sentimiento fundamentales resultados ingresos "
    "dividendo indicador indicadores senal senales prediccion grafico grafica velas riesgo beneficio compara "
    "rendimiento cancela borra elimina mercado accion acciones compra comprar vende vender objetivo entrada "
    "bollinger tamano explain explica explicame significa hablar persona person human agent gracias thanks hello "
    "buenas"
)
_WORD = expression(r"[a-z]{3,}")
_ABBREVIATED = word_set(
    "price portfolio position watchlist alert order pending history news dividend chart cancel change delete remove "
    "market stock share shares limit stop with from what month today volume average precio cartera alerta alertas "
    "orden ordenes pendientes noticias dividendo grafica cancela cambia borra mercado acciones compra vende cuanto "
    "cuantas cuantos tengo quedan mes hoy limite mejor compara comprar"
)
"""Words that people write without their vowels: alrt, chng, frm."""
_SAME_SOUND = str.maketrans({"k": "c", "z": "s", "v": "b"})


def with_known_spelling(text: str) -> str:
    """The normalized text with the spelling of key words corrected."""
    return _WORD.sub(lambda match: _corrected(match[0]), large_in_figures(plain(text)))


@lru_cache(maxsize=8_192)
def _corrected(word: str) -> str:
    if word in _KEYS or word in _ABBREVIATED or word in _CORRECT_WORDS or word.removesuffix("s") in _KEYS:
        return word
    whole = [key for key in _ABBREVIATED if _lacks_vowels(word, key)]
    if whole and all(word_.startswith(least := min(whole, key=len)) for word_ in whole):
        return least  # alert and alerta are one word; compra and compara are two
    if len(word) < 5:
        return word
    similar = sorted(key for key in _KEYS if len(key) >= 5 and is_one_letter_apart(word, key))
    return similar[0] if similar else word


def _lacks_vowels(word: str, whole: str) -> bool:
    """Whether a word is another one without some of its vowels."""
    word_letters, whole_letters = word.translate(_SAME_SOUND), whole.translate(_SAME_SOUND)
    letters = iter(whole_letters)
    return (
        word_letters[0] == whole_letters[0]
        and re.sub("[aeiou]", "", word_letters) == re.sub("[aeiou]", "", whole_letters)
        and all(letter in letters for letter in word_letters)
        and (word_letters != whole_letters or word != whole)
        and sum(letter in "aeiou" for letter in word_letters) <= max(1, len(whole_letters) - len(word_letters))
    ) or (word_letters == whole_letters and word != whole)


_CORRECT_WORDS = word_set(
    "share stick chard quite verde vence compro compre vendo vendi prize marcado personal humana humano agente borrar "
    "cancelo cancelar removed candle marked ordena ordeno alerte alertar perdon thank noticia "
)
"""Correct words that are one letter away from a key word."""
