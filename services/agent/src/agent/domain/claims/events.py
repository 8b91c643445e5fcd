"""Finds events in a chat's sentence that no figure can prove: a CEO resigned, workers went on strike.

Nobody can list all events, so an event is recognised by its form: a past tense in the third person, a company's people,
a word of company news. Talk about the conversation ("your order was placed") and general statements are not events.
Sentences are read with their accents, because a Spanish past tense is recognised by its accent.
"""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from agent.domain.claims.lexer import folded
from agent.domain.claims.words import EVENT_WORDS
from contracts.expressions import expression

_CONVERSATION = expression(
    r"\b(?:i|i'\w+|we|we'\w+|you|you'\w+|your|my|me|our|let's|thanks|gracias|tu|tus|te|mi|mis|usted|alerts?|orders?|"
    r"rules?|strateg(?:y|ies)|backtests?|watchlist|list|portfolio|notes?|preferences?|reminders?|search(?:es)?|"
    r"requests?|results?|figures?|data|news|headlines?|charts?|tools?|answers?|quotes?|prices?|sessions?|alertas?|"
    r"avisos?|orden(?:es)?|regla|estrategia|lista|cartera|notas?|preferencias?|recordatorios?|busquedas?|resultados?|"
    r"datos|cifras?|noticias?|titulares?|graficos?|herramientas?|respuestas?|sesion|jornada)\b|^\W*(?:done|hecho|listo|"
    r"that (?:being )?said|dicho es[to]o)\b"
)
"""The participants of the conversation, and its things."""
_SPEAKER = expression(
    r"^\W*(?:[^,.:]{1,30}, )?(?:(?:ya|te|lo|la|no|now|just|sorry|ok|sure|done|listo|hecho|lo siento|vale|claro)\b\W*)*"
    r"(?:(?:i|we|here)'|(?:i|we|let me|here|you|your|tu|tus|tengo|tenemos|puedo|podemos|he|hemos|veo|vemos|aqui)\b|"
    r"\w+[éí] )",
    re.IGNORECASE,
)
_HABIT = expression(
    r"\b(?:if|when|whenever|once|unless|why|whether|(?:know|say|tell|clear) what|always|never|often|typically|"
    r"generally|usually|commonly|historically|in general|by default|tends?|may|might|can|could|would|rule of thumb|"
    r"si|cuando|siempre|nunca|una vez que|por que|suelen?|a menudo|por lo general|en general|normalmente|"
    r"historicamente|por defecto|pueden?|podrian?|conviene)\b"
)
_ANYONE = expression(
    r"\b(?:an?|any|many|most|some|una?|cualquier|much[oa]s|algun[oa]s) (?:\w+ )?(?:compan(?:y|ies)|firms?|stocks?"
    r"(?! split)|shares?(?! (?:buy|repurchase|split|issue|offer|sale|swap))|investors?|ceo|empresas?|companias?|"
    r"accion(?:es)?|inversor(?:es)?)\b"
    r"|^\W*(?:\w+[ -]){0,5}?(?:is|are|es|son) (?:an?|una?) .*\b(?:that|which|who|que)\b"
    r"|\b(?:means?|measures?|refers? to|compares|smooths|significan?|miden?|indican?|se refieren?)\b"
)
"""General statements: any company as subject, and definitions. `_HABIT`: conditions, habits and advice."""
_SOMEONE = expression(
    r"(?<!how far )(?<!how much )\b(?:its?|it's|they|their|both|the (?:stocks?|company)|su|sus|ambos|ambas)\b"
)
_STAFF = (
    r"ceo|cfo|coo|cto|executives?|chairman|chairwoman|president|board|management|directors?|founders?|workforce|"
    r"employees|workers|staff|customers?|suppliers?|auditors?|consejer[oa]|consejo|junta|directiv[oa]s?|director|"
    r"directora|presidente|presidenta|fundador|fundadora|plantilla|empleados|trabajadores|clientes?|proveedor(?:es)?"
)
_PEOPLE = expression(rf"\b(?:{_STAFF})\b")
_COMPANY = expression(
    r"\b(?:the|its|their|this|el|la|los|las|su|sus|esta) (?:\w+ )?"
    rf"(?:company|firm|empresa|compania|firma|{_STAFF})\b"
)
_PAST = expression(
    r"[a-z]{2,}ed|left|quit|sold|bought|made|took|won|said|told|found|began|became|cut|met|broke|laid|held|sent|set|"
    r"went|came|gave|got|kept|led|built|spent|stood|stole|sank|sought|spoke|struck|swore|threw|withdrew|wrote|chose|"
    r"drew|drove|fought|fled|forbade|froze|hid|hurt|bid|bet|blew|brought|dealt|shook|shot|shut|swept|overtook|"
    r"undertook|oversaw|\w{2,}ó|\w{2,}(?:aron|ieron|eron)|dijo|hizo|puso|tuvo|vino|dio|trajo|quiso|\w*dujo"
)
_PAST_WITHOUT_SUBJECT = expression(r"\w{2,}ó|\w{2,}(?:aron|ieron)")
_PERFECT = expression(
    r"\b(?:has|have|had|ha|han|(?P<passive>was|were|(?:is|are) being|fue|fueron)) "
    r"(?:\w+ly |just |already |also |now |been |ya |sido )*(?P<verb>[a-z]{2,}ed|[a-z]{2,}(?:ad|id)[oa]s?|"
    r"left|quit|sold|bought|taken|won|stolen|begun|cut|laid|brought|dicho|abierto|roto|escrito|muerto|hecho|puesto)\b"
)
_MARKET = expression(
    r"\b(?:stocks?|shares?|prices?|markets?|volumes?|moves?|momentum|sentiment|trends?|mood|buyers?|sellers?|traders?|"
    r"bulls|bears|accion(?:es)?|precios?|cotizacion|mercados?|volumen|movimiento|tendencia|sentimiento|animo|"
    r"compradores|vendedores|alcistas|bajistas)\b"
)
_DIRECTION = expression(
    r"\W*(?:\w+ly )?(?:up|higher|lower|through|above|below|al alza|a la baja|por encima|por debajo)\b"
)
"""After a verb with the subject "it": a move of its price."""
_PRICE_VERBS = expression(
    r"(?:cross|last|touch|mov|chang|edg|inch|tick|bounc|eas|slow|follow|finish|end|trad|hover|settl|recover|clos|"
    r"open|paus|stay|"
    r"remain|seem|appear)ed|(?:termin|cerr|oscil|qued|cambi|recuper|situ|cruz|super|toc|encaden)(?:o|aron|ad[oa])|"
    r"(?:volv|"
    r"romp)(?:io|ieron|ido)|mov(?:io|ieron|ido)|need|speed|feed|seed|indeed|exceed|proceed|succeed|sido|estado|ido|"
    r"tenido"
)
"""Verbs of prices, and words that only look like a past tense. They are events only because of their subject."""
_NO_SUBJECT = expression(
    r"i|we|you|they|an?|the|this|that|these|those|my|your|our|their|its|his|her|and|or|of|by|for|in|on|at|to|with|from|"
    r"as|than|is|are|be|was|were|been|being|gets?|has|have|had|not|more|most|less|least|very|well|so|too|also|any|some|"
    r"no|each|every|all|both|el|la|los|las|una?|de|que|en|con|por|y|o|ya|lo|les?"
)
"""Words before a form in -ed that reports no action: an automated order, orders are queued."""
_JOINT = expression(r"[,;:]|\b(?:and|but|while|y|e|pero|mientras)\b")
_FIGURE = expression(r"\d")
_FINITE = expression(r"\b(?:is|are|can|may|could|would|do|does|es|son|pueden?|estan?|hay|deben?)\b")
_WORD = expression(r"[^\W\d_]+")


def find_events(sentence: str, odd: Collection[str], *, has_figures: bool = False) -> list[str]:
    """Returns the words that report an event. `odd`: the folded words that neither a tool nor the conversation gave.

    `has_figures`: the sentence states figures, which are judged elsewhere, and its verbs belong to them. Then an event
    needs a company's people, a word of company news, or an action in a clause without figures."""
    folded_text = folded(sentence)
    if not odd or _ANYONE.search(folded_text) or _HABIT.search(folded_text):
        return []
    verbs = [
        verb
        for before, subject, verb in _reported_actions(sentence, folded_text)
        if _is_event(before, subject, verb, odd)
    ]
    if has_figures:
        people = _PEOPLE.search(folded_text)
        clauses = [clause for clause in _JOINT.split(sentence) if not _FIGURE.search(clause)]
        verbs_without_figure = {
            verb
            for clause in clauses
            for before, subject, verb in _reported_actions(clause, folded(clause))
            if verb in odd and _is_event(before, subject, verb, odd)
        }
        return sorted({word for word in odd if word in EVENT_WORDS} | (set(verbs) if people else verbs_without_figure))
    if not verbs and not is_about_speaker(sentence):
        verbs = [word for word in odd if word in EVENT_WORDS or _COMPANY.search(folded_text)]
    return sorted(set(verbs))


def is_general(sentence: str) -> bool:
    """Whether a sentence is about things in general, or about the conversation and no company."""
    folded_text = folded(sentence)
    return bool(
        _ANYONE.search(folded_text)
        or ((_HABIT.search(folded_text) or is_about_speaker(sentence)) and not _SOMEONE.search(folded_text))
    )


def is_about_speaker(sentence: str) -> bool:
    """Whether a sentence says what the assistant did, or has for the user."""
    return bool(_SPEAKER.search(sentence))


def _reported_actions(sentence: str, folded_text: str) -> Iterator[tuple[str, str, str]]:
    """Yields each reported action: the text before it, the last word of its subject, the verb."""
    for match in _PERFECT.finditer(folded_text):
        subject = "" if match["passive"] or " been " in match[0] else "has"
        # "Se ha guardado tu aviso", "no se encontraron resultados": the object follows the verb.
        yield (
            folded_text if folded_text[: match.start()].endswith("se ") else folded_text[: match.start()],
            subject,
            match["verb"],
        )
    words = list(_WORD.finditer(sentence.lower()))
    if words and _PAST_WITHOUT_SUBJECT.fullmatch(words[0][0]):
        yield "", "", folded_text[words[0].start() : words[0].end()]
    participles = bool(_FINITE.search(folded_text))
    for previous, word in pairwise(words):
        subject, verb = folded_text[previous.start() : previous.end()], folded_text[word.start() : word.end()]
        if not _PAST.fullmatch(word[0]) or (participles and verb.endswith("ed")):
            continue
        if subject == "se":
            yield folded_text, subject, verb
        elif not _NO_SUBJECT.fullmatch(subject) and not (subject == "it" and _DIRECTION.match(folded_text, word.end())):
            yield folded_text[: previous.end()], subject, verb


def _is_event(before: str, subject: str, verb: str, odd: Collection[str]) -> bool:
    """Whether somebody outside the conversation and the market did it, and the verb or the subject is an odd word."""
    if _CONVERSATION.search(before) or (subject and _MARKET.search(before)):
        return False
    return subject in odd or (verb in odd and not _PRICE_VERBS.fullmatch(verb))
