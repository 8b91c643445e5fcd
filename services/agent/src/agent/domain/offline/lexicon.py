"""Synonyms in Spanish and English: people's words, and the words of tools and of any company's pages.

Each line is one meaning with its words, without accents; `word*` matches any ending: "cuesta", "fees" and "tarifas" are
all =price. An unknown word is looked up again with one letter changed, missing, added or swapped.
"""

import re
from functools import lru_cache

from agent.domain.text_features import is_one_letter_apart, is_transposed, plain, stem
from contracts.vocabulary import SYNONYMS, forms_of

_MEANINGS = """
support: support* soport* admit* accept* acept*
price: price* pricing cost costs costing fee fees fare fares tariff* rate rates charge* worth expensive cheap*
price: pay pays paying paid precio*
price: cuesta* costar* coste* costo* cuota* tarifa* vale valen valor barat* caro cara cobra* pago* pagar* pagas
pay: invoice* factura* payment*
discount: discount* saving* save rebate* descuento* rebaja* ahorro* oferta* promocion*
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
_SHORTEST_SWAP, _SHORTEST_GUESS = 4, 5
"""Letters from which on a word may have two neighbours swapped, or one letter wrong."""


def _read() -> tuple[dict[str, frozenset[str]], tuple[tuple[str, str], ...]]:
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


def _grouped() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for number, group in enumerate(SYNONYMS):
        for form in {form for word in group for form in forms_of(word)}:
            found[form] = found.get(form, frozenset()) | {str(number)}
    return found


_WHOLE, _STARTS = _read()
_GROUPS = _grouped()
_WORDS = re.compile(r"[^\W_]+(?:/[^\W_]+)?|>=|<=|[<>]")
_ENDING = re.compile(r"(?<=[a-z])(?:(?<!ca)n['’]t|['’](?:s|t|m|d|ll|re|ve))\b")
"""Of "what's", "dog's", "don't": said with an apostrophe, it is no word of its own."""
_CODE = re.compile(r"\b([a-z]{1,5})-(\d)")
"""What a thing is called by: one word, and no figure."""
_PREFIX = re.compile(r"\b([a-z])-(?=[a-z]{2})")
"""E-bike and ebike are one."""
_LONGEST_ENDING = 5


@lru_cache(maxsize=8_192)
def meanings_of(word: str) -> frozenset[str]:
    """What a word (lower case, without accents) means here; none: it is no word of the lexicon."""
    found = _exact(word)
    if found or not word.isalpha():
        return found
    if len(word) < _SHORTEST_SWAP:
        return found
    if len(word) < _SHORTEST_GUESS:
        whole = {name for known, names in _WHOLE.items() if is_transposed(word, known) for name in names}
        return frozenset(whole | {name for known, name in _STARTS if is_transposed(word, known)})
    near = [name for start, name in _STARTS if len(start) >= _SHORTEST_GUESS and _starts_almost(word, start)]
    guessed = [known for known in _WHOLE if len(known) >= _SHORTEST_GUESS and is_one_letter_apart(word, known)]
    near += [name for known in guessed for name in _WHOLE[known]]
    return frozenset(near)


def words_of(text: str) -> list[str]:
    """The text's words in their order, plain; p/e is one."""
    written = _PREFIX.sub(r"\1", _CODE.sub(r"\1\2", _ENDING.sub("", plain(text))))
    return [word.replace("/", "") if word in ("p/e", "r/r") else word
            for found in _WORDS.findall(written) for word in _parts(found)]  # fmt: skip


@lru_cache(maxsize=8_192)
def keys_of(word: str) -> frozenset[str]:
    """What a word is found by in pages: its meanings, or itself without its ending."""
    return frozenset(f"={name}" for name in _exact(word)) | {stem(word)}


def keys_in(text: str) -> set[str]:
    """All that a text is found by."""
    return {key for word in words_of(text) for key in keys_of(word)}


def _exact(word: str) -> frozenset[str]:
    begun = {name for start, name in _STARTS if word.startswith(start) and len(word) - len(start) <= _LONGEST_ENDING}
    return _WHOLE.get(word, frozenset()) | begun | _GROUPS.get(word, frozenset())


def _starts_almost(word: str, start: str) -> bool:
    return any(is_one_letter_apart(word[:length], start) for length in (len(start) - 1, len(start), len(start) + 1))


def _parts(found: str) -> list[str]:
    return [found] if found in ("p/e", "r/r") or "/" not in found else found.split("/")
