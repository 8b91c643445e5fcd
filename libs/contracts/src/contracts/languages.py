"""The languages of the product, and the choice of one for a person."""

import re
from collections.abc import Collection
from typing import Literal, TypeVar, get_args

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
DEFAULT_LANGUAGE: Language = "es"
LanguageT = TypeVar("LanguageT", bound=str)

MAX_CHARS_READ = 1_000
"""How many characters of a message are read to detect its language."""
_MAX_HEADER_CHARS = 1_000
_COMMON_WORDS: dict[Language, str] = {
    "es": (
        "el la los las un una de del que qué cuál cuánto cuanto cuesta cuestan precio precios por para con hola "
        "buenos buenas gracias quiero puedo cómo como dónde donde es son está tiene hay mi tu su plan acción "
        "acciones cotiza vale tamaño posición riesgo beneficio persona ayuda hablar entrada compra comprar vende "
        "vender cartera cuándo cuando pase baje lista agrega añade quita mis recuerda recuerdas olvida noticias "
        "avísame avisame sí tengo lo pero pues abrís abris estáis estais tenéis teneis sois soy muy eso esa ese "
        "algo también tambien puedes quieres hacer cual más mas cuantos cuantas cuánta se al dais os sin hasta "
        "desde y que te nos le les ya va voy vais ni porque quien quién cada sirve nada necesito ser haceis "
        "hacéis prefiero dame dime muestra muéstrame gusta gustan cancela cancelar cancelo "
        "confirma confirmar confirmo orden órdenes ordenes"
    ),
    "en": (
        "the an of what which how much does do cost costs price prices is are trading at for with hello hi thanks "
        "want can where my your plan stock share position size risk reward person help talk speak to on and buy "
        "sell portfolio when add remove remember forget news alert yes please human somebody someone anyone the "
        "this that it you we they would could should have has not if be there from get was were will by or so "
        "about any need who why them his her i show give tell prefer like cancel order orders"
    ),
}
_COMMON = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
_FOREIGN_WORDS = (
    "bonjour bonsoir merci pour avec vous nous je est voudrais parler quel quelle quels quelles combien où votre "
    "vos avez sont des du et pas il elle chez être avoir faire ouvert ouverts guten hallo danke bitte ich sie ist "
    "sind haben wann wie viel kostet und für mit der das ein eine nicht gibt können kann auch wir ihr uns von zu "
    "olá obrigado obrigada você vocês quanto custa preço não são fazem uma com dos tem têm onde qual também eu "
    "buongiorno buonasera grazie costa avete sono dove vorrei aperto siete della degli anche quali"
)
"""Common words of French, German, Portuguese and Italian that are not Spanish or English."""
_FOREIGN = frozenset(_FOREIGN_WORDS.split())
_ONLY_SPANISH = re.compile("[¿¡]")
_WORD = re.compile(r"[^\W_]+")
_QUALITY = re.compile(r"^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$")


_TWO_LETTERS = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo "
    "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka "
    "kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng "
    "nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su "
    "sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_ISO_639_1 = frozenset(_TWO_LETTERS.split())
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")


def language_in(tag: str) -> str:
    """Returns the language of a tag (en-GB, es_MX) without its region. Raises ValueError if no language has this
    code."""
    language = re.split("[-_]", tag)[0].lower()
    if not _TAG.fullmatch(tag) or (len(language) == 2 and language not in _ISO_639_1):
        raise ValueError("must be the code of a language (ISO 639), such as es")
    return language


def rule_language(language: Language) -> Language:
    """Returns the same language, or Spanish if the rules in code do not cover it."""
    return language if language in ("es", "en") else DEFAULT_LANGUAGE


def named_language(tags: str | None, among: Collection[LanguageT] = LANGUAGES) -> LanguageT | None:
    """Returns the first of our languages in a tag (es-MX, en_GB.UTF-8) or in an Accept-Language header (RFC 9110,
    12.5.4).

    In a header the highest quality counts, then the order; entries with q=0 or an invalid quality are ignored.
    """
    if not tags:
        return None
    best: LanguageT | None = None
    best_quality = 0.0
    for entry in tags[:_MAX_HEADER_CHARS].split(","):
        tag, *parameters = (part.strip() for part in entry.lower().split(";"))
        quality, subtag = _quality(parameters), re.split(r"[-_.]", tag)[0]
        if quality > best_quality and subtag in among:
            best, best_quality = next(language for language in among if language == subtag), quality
    return best


def language_of_tags(tags: str | None) -> Language:
    """Returns `named_language`, or Spanish if none of our languages is named."""
    return named_language(tags) or DEFAULT_LANGUAGE


def detected_language(text: str) -> Language | None:
    """Returns the language of a text, by its commonest words; None if they do not show it."""
    if _ONLY_SPANISH.search(text):
        return "es"
    words = _WORD.findall(text.lower())
    counts = {language: sum(map(_COMMON[language].__contains__, words)) for language in LANGUAGES}
    counts["es"] += "ñ" in text.lower()  # a name in an English sentence may contain ñ too
    highest = max(counts.values())
    leaders: list[Language] = [language for language in LANGUAGES if counts[language] == highest]
    return leaders[0] if len(leaders) == 1 else None


def is_in_another_language(text: str) -> bool:
    """Whether a text is written in another language that we know, by its commonest words."""
    words = _WORD.findall(text[:MAX_CHARS_READ].lower())
    foreign_count = sum(map(_FOREIGN.__contains__, words))
    own_count = max(sum(map(words_of.__contains__, words)) for words_of in _COMMON.values())
    return (
        foreign_count >= own_count
        and (foreign_count > 1 or foreign_count == len(words) == 1)
        and not _ONLY_SPANISH.search(text)
    )


def _quality(parameters: list[str]) -> float:
    if not parameters:
        return 1.0
    match = _QUALITY.match(parameters[0])
    return float(match[1]) if match else 0.0
