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
_CONTEXT_WORDS = """
    account analysis asset bolsa cartera chart charts cuenta estrategia finance finances financial financiero
    finanzas grafico graficos inversion invertir investing investment level levels market markets mercado mercados
    nivel niveles orden ordenes order orders portfolio posicion position precio precios price prices ratio simple
    simples strategy valor value
"""
# The whole phrase is looked up before fillers are removed, so a name may contain any of these.
_FILLERS = frozenset((_ENGLISH + _SPANISH).split())
_NO_SUBJECTS = _FILLERS | frozenset(_CONTEXT_WORDS.split())


def is_filler(word: str) -> bool:
    """Whether a word says nothing about the subject of a question: question words, articles, numbers ("RSI 14")."""
    return word in _FILLERS or word.isdecimal()


def is_subject(word: str) -> bool:
    """Whether a word may be the subject of a question: "volatility" in "the volatility of my portfolio"."""
    return word not in _NO_SUBJECTS and not word.isdecimal()


def without_fillers(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yields the words, then one filler less at a time: first from the front, then from the end.

    The last result has no filler at either end; it is empty if all words were fillers.
    """
    yield words
    while words and is_filler(words[0]):
        words = words[1:]
        yield words
    while words and is_filler(words[-1]):
        words = words[:-1]
        yield words
