"""The words of a question that are not its subject: "what is a …?", "¿cómo funciona el …?"."""

from collections.abc import Iterator

_ENGLISH = """
    a about an and are as basics beginner between by calculate calculated can compare compute computed concept could
    define defined definition describe detail did difference do does doing example examples explain explained
    explanation five for formula from give hello help hey hi how i idea if im in indicator interpret is it its know
    learn like main me mean meaning means measure measured mind my of on one or please pls purpose read s say simply
    so some tell term terms than thanks that the their them there these they this to trading understand us use used
    useful using versus vs waht was wat we were what whats when which why will with word words work working works
    would yes you your
"""
_SPANISH = """
    al algo ayuda ayudame buenas calcula calculan calcular como con concepto cual cuales cuando dame de decir define
    definicion definir del di diferencia dime donde e ejemplo ejemplos el ella en ensename entender entiendo entre
    es esa ese eso esta este esto explica explicacion explicame explicar explicarme explicas favor formula funciona
    funcionan gracias gustaria hablame hola idea indica indicador interpreta interpretar ke la las le lee lo los me
    mi mide mis no nos o palabras para pero podrias por porque puedes q que quiere quieren quiero saber se ser si
    significa significado significan sirve sirven sobre son su sus te tengo termino tu un una unas uno unos usa usan
    usar uso utiliza y ya yo
"""
_SURROUNDINGS = """
    account analysis asset bolsa cartera chart charts cuenta estrategia finance finances financial financiero
    finanzas grafico graficos inversion invertir investing investment level levels market markets mercado mercados
    nivel niveles orden ordenes order orders portfolio posicion position precio precios price prices ratio simple
    simples strategy valor value
"""
# A whole phrase is looked up before anything is taken from it, so a name may contain any of these.
_FILLERS = frozenset((_ENGLISH + _SPANISH).split())
_NO_SUBJECT = _FILLERS | frozenset(_SURROUNDINGS.split())


def is_filler(word: str) -> bool:
    """Whether a word says nothing of what is asked about: question words, articles, numbers ("RSI 14")."""
    return word in _FILLERS or word.isdecimal()


def is_subject(word: str) -> bool:
    """Whether a word alone may be what is asked about: "volatility" in "the volatility of my portfolio"."""
    return word not in _NO_SUBJECT and not word.isdecimal()


def without_fillers(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words, then again and again without an outer filler: first those in front, then those behind.

    The last one has no filler at either end; it is empty if there was nothing else.
    """
    yield words
    while words and is_filler(words[0]):
        words = words[1:]
        yield words
    while words and is_filler(words[-1]):
        words = words[:-1]
        yield words
