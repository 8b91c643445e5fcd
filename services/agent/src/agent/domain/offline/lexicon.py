"""Synonyms in Spanish and English: people's words, and the words of tools and of any company's pages.

Each line is one meaning with its words, without accents; `word*` matches any ending: "cuesta", "fees" and "tarifas" are
all =price. An unknown word is looked up again with one letter changed, missing, added or swapped.
"""

from functools import lru_cache

from agent.domain.text_features import bare_verb, is_one_letter_apart, is_transposed, plain, stem
from contracts.expressions import expression
from contracts.vocabulary import SYNONYMS, forms_of, with_distinct_nouns

_MEANINGS = """
support: support* soport* admit* accept* acept*
price: price* pricing cost costs costing fee fees fare fares tariff* rate rates charge* worth expensive cheap*
price: pay pays paying paid precio*
price: cuesta* costar* coste* costo* cuota* tarifa* vale valen valor barat* caro cara cobra* pago* pagar* pagas
pay: invoice* factura* payment*
discount: discount* saving* save rebate* descuento* bonificaci* rebaja* ahorro* oferta* promocion*
trial: trial* try prueba* probar* probarl* pruebo demo
free: free gratis gratuit*
refund: refund* reembols* devolucion* devolv* devuelv* recuper* moneyback
cancel: cancel* annul* anul* unsubscribe unsubscribing baja quit borrarme borro
change: chang* switch* upgrad* downgrad* modif* cambi* mejora reduccion bajar bajo reschedul*
register: regist* sign signup enrol* join inscrib* inscripcion alta apunt*
begin: start* begin begins beginning first step* guide* tutorial empez* empiez* comenzar* comienz* primer* paso* guia*
hours: hour hours open opens opened opening close closes closed closing shut shuts schedul* time times
hours: horari* hora horas atiend* atend* abre abren abres abri abrir* abris abrimos abro abiert* cierr* cerr*
contact: escrib*
contact: contact* phone* telephone* call email* mail reach telefono* llamar* llamo correo*
where: where address* locat* direction* donde direccion* ubica*
deliver: deliver* ship* home domicilio envi* mando manda* entrega* reparto* repart*
book: book* booking* appointment* reserv* cita* turno* agendar pido pedir solicit*
team: team staff founder* equipo personal
yearly: year* annual* ano anos anual*
monthly: month* mes meses mensual*
weekend: saturday* sunday* weekend* sabado* domingo* finde
help: help* ayuda* faq question* pregunta*
allergy: allerg* gluten coeliac celiac* alerg*
insurance: insur* seguro* aseguradora* mutua*
child: child* kid* baby babies nino* nina* bebe* pediatr* paediatr*
cake: cake* tarta* pastel* torta*
order: order* orden ordenes pedido* encarg*
last: keep keeps aguant* conserv*
last: expir* last* duration long caduc* dura duran duracion valid* vigen* venc*
percent: percent* percentage* porcentaje*
type: type* kind* tipo* clase*
money: money dinero
include: includ* contain* inside incluy* incluid* trae contien* ingredient*
park: park* parqu* aparca* estaciona*
guarantee: guarant* garant* warrant*
pet: pet pets dog* cat cats perro* gato* mascota*
card: card* credit debit tarjeta* credito debito
person: person human* people persona* humano* agente*
"""
_MIN_SWAPPED_LETTERS, _MIN_MISSPELT_LETTERS = 4, 5
"""Minimum letters of a word that may have two neighbouring letters swapped; and of one that may have a wrong letter."""


def _read_meanings() -> tuple[dict[str, frozenset[str]], tuple[tuple[str, str], ...]]:
    whole: dict[str, frozenset[str]] = {}
    starts: list[tuple[str, str]] = []
    for line in _MEANINGS.strip().splitlines():
        name, _, words = line.partition(": ")
        for word in words.split():
            if word.endswith("*"):
                starts.append((word[:-1], name))
            else:
                whole[word] = whole.get(word, frozenset()) | {name}
    return whole, tuple(starts)


def _read_groups() -> dict[str, frozenset[str]]:
    groups_by_form: dict[str, frozenset[str]] = {}
    for number, group in enumerate(SYNONYMS):
        for form in {form for word in group for form in forms_of(word)}:
            groups_by_form[form] = groups_by_form.get(form, frozenset()) | {str(number)}
    return groups_by_form


_WHOLE, _STARTS = _read_meanings()
_GROUPS = _read_groups()
_WORDS = expression(r"[^\W_]+(?:/[^\W_]+)?|>=|<=|[<>]")
_ENDING = expression(r"(?<=[a-z])(?:(?<!ca)n['’]t|['’](?:s|t|m|d|ll|re|ve))\b")
"""The endings of "what's", "dog's", "don't", which are not words."""
_CODE = expression(r"\b([a-z]{1,5})-(\d)")
"""A product code: one word and not a figure."""
_PREFIX = expression(r"\b([a-z])-(?=[a-z]{2})")
"""E-bike and ebike are the same word."""
_MAX_ENDING_LETTERS = 5
"""Maximum letters after the `*` of a word's beginning."""


@lru_cache(maxsize=8_192)
def meanings_of(word: str) -> frozenset[str]:
    """The meanings of a word (lower case, without accents); empty if the lexicon lacks it."""
    exact = _exact_meanings(word)
    if exact or not word.isalpha():
        return exact
    if len(word) < _MIN_SWAPPED_LETTERS:
        return exact
    if len(word) < _MIN_MISSPELT_LETTERS:
        whole = {name for known, names in _WHOLE.items() if is_transposed(word, known) for name in names}
        return frozenset(whole | {name for known, name in _STARTS if is_transposed(word, known)})
    similar = [name for start, name in _STARTS if len(start) > _MIN_MISSPELT_LETTERS and _starts_almost(word, start)]
    guessed = [known for known in _WHOLE if len(known) >= _MIN_MISSPELT_LETTERS and is_one_letter_apart(word, known)]
    similar += [name for known in guessed for name in _WHOLE[known]]
    return frozenset(similar)


def words_of(text: str) -> list[str]:
    """The text's words in order, normalized; p/e is one word."""
    normalized = _PREFIX.sub(r"\1", _CODE.sub(r"\1\2", _ENDING.sub("", plain(with_distinct_nouns(text.lower())))))
    return [word.replace("/", "") if word in ("p/e", "r/r") else word
            for match in _WORDS.findall(normalized) for word in _parts(match)]  # fmt: skip


@lru_cache(maxsize=8_192)
def keys_of(word: str) -> frozenset[str]:
    """The keys by which a word is found in pages: its meanings and its stem."""
    meanings = _exact_meanings(word) or _exact_meanings(bare_verb(word))
    return frozenset(f"={name}" for name in meanings) | {stem(word)}


def keys_in(text: str) -> set[str]:
    """The keys of all words of a text."""
    return {key for word in words_of(text) for key in keys_of(word)}


def _exact_meanings(word: str) -> frozenset[str]:
    by_start = {
        name for start, name in _STARTS if word.startswith(start) and len(word) - len(start) <= _MAX_ENDING_LETTERS
    }
    return _WHOLE.get(word, frozenset()) | by_start | _GROUPS.get(word, frozenset())


def _starts_almost(word: str, start: str) -> bool:
    return any(is_one_letter_apart(word[:length], start) for length in (len(start) - 1, len(start), len(start) + 1))


def _parts(word: str) -> list[str]:
    return [word] if word in ("p/e", "r/r") or "/" not in word else word.split("/")
