"""Recognises small talk, which needs no look-up: "thanks!", "hola", "this is useless", "my mail is ana@example.com".

A message is small talk only if it contains nothing else: "thanks, and what does Pro cost?" is a question.
"""

import re
from collections.abc import Collection

from agent.domain.offline import mood_words, shapes, talk_words
from agent.domain.offline.answer_style import is_about_answers
from agent.domain.offline.own_name import is_about_own_name
from agent.domain.offline.person_words import only_asks_for_person
from agent.domain.offline.tool_words import is_question
from agent.domain.offline.wishes import Intent
from agent.domain.shortcuts.words import decision_in
from agent.domain.text_features import is_plain_yes, plain, symbols_in, word_set
from contracts.expressions import expression

_SMALL_TALK_WORDS: tuple[tuple[Intent, frozenset[str]], ...] = (
    (Intent.FAREWELL, word_set("bye goodbye adios chao ciao hasta luego pronto later see soon")),
    (Intent.THANKS, word_set("thanks thank thx ty gracias cheers appreciated agradecido")),
    (Intent.FINE, word_set("perfecto perfect ok okay vale great genial cool nice awesome estupendo entendido "
                           "understood excelente fine alright bueno listo no nope nah nada nothing yes yeah si "
                           "claro sure wait espera esperad hold moment momento dejalo olvidalo nvm lol")),
    (Intent.GREETING, word_set("hi hello hey hola buenas buenos morning afternoon evening howdy "
                               "saludos greetings hiya ola")),
)  # fmt: skip
_AROUND_SMALL = word_set(
    "good you very much so muchas muchisimas mil for your help the a de todo por tu ayuda all that is was it lot "
    "day that there again que tal como estas how are going today amigo buen dia tengas un and y see the of muy "
    "then pues entonces anyway bien to me on s segundo second sec minute minuto jaja jajaja haha hahaha"
)
_LEAD_IN = expression(
    r"^[\W_]*(?:(?:cool|ok|okay|vale|bueno|pues|(?:ja|je|ha|he){2,}\w?|lol|oye|oiga|mira|a ver|hey|ey|h?mm+|um+|well|"
    r"anyway|great|perfecto?|genial|venga|listo|alright|aight|bro|dude|tio|por cierto|btw|by the way|una cosa|"
    r"one more thing|entonces|so)\b[\s,.:!…-]*)+(?=[¿\w])",
    re.IGNORECASE,
)
"""Words before a question that say nothing about it."""
_ASKS = expression(r"\W*(?:do|does|did|is|are|was|show|give|tell|es|esta|son|dame|dime|pon|avisa)\b")
"""The beginning of a question or request, after thanks."""
_MAX_GREETING_WORDS = 4
"""Maximum words of a greeting or thanks that is cut off."""
MAX_TALK_CHARACTERS = 200
"""Maximum characters of small talk."""
_FIGURE = expression(r"\d")
"""With a figure, "ok" may be part of an order's follow-up: "ok, but 10"."""
_DRAWN_OUT = expression(r"(?<=(\w))\1+$")
"""The end of "holaaa"."""
_ONLY_MARKS = expression(r"[\s¿?¡!.…]*[?!.…][\s¿?¡!.…]*")
"""Only punctuation, which asks whether anybody is there."""
_NAMES_ITSELF = expression(
    r"^(?P<hello>(?:hi|hello|hey|hola|ola|buen[oa]s)\b[^.?!]*?)[ ,.!]+"
    r"(?:soy|me llamo|mi nombre es|i am|i ?'?m|my name is|this is) (?!not? )\w+(?: \w+)?\W*$"
)
"""A greeting with the sender's name: "hello, I'm Ana"."""
_ADDRESS = expression(r"(?<!\S)[^\s@]{1,64}@[^\s@]{1,190}\.[^\s@]{2,24}(?!\S)")
_AROUND_ADDRESS = word_set(
    "my e mail email address is it s here this you can write contact reach me at to on mi el la correo electronico "
    "direccion mail es este esta aqui te lo os dejo puedes podeis pueden escribir escribirme escribidme escribeme "
    "escribanme contactar contactarme a al en por and y"
)


def small_talk_in(normalized: str) -> Intent | None:
    """The kind of small talk, if the normalized text has nothing else in it; else None."""
    if introduction := _NAMES_ITSELF.search(normalized):
        normalized = introduction["hello"]
    if _ONLY_MARKS.fullmatch(normalized):
        return Intent.GREETING
    words = re.findall(r"\w+", mood_words.SETTLED.sub("vale", talk_words.OPENING.sub("hola", normalized)))
    telling = [word for word in words if word not in _AROUND_SMALL]
    kinds = [
        next(
            (
                kind
                for kind, kind_words in _SMALL_TALK_WORDS
                if not kind_words.isdisjoint((word, _DRAWN_OUT.sub("", word)))
            ),
            None,
        )
        for word in telling
    ]
    if not words or None in kinds or len(words) > 12 or "que vale" in " ".join(words):
        return None
    asks_how = re.search(r"\b(how are you|que tal|como estas)\b", normalized)
    if "?" in normalized:  # "¿y luego?" is no goodbye, and "¿qué no como?" no "no"
        kinds = [kind for kind in kinds if kind is not Intent.FAREWELL and (kind is not Intent.FINE or len(words) < 3)]
    # Of two kinds, the one that ends a conversation counts: goodbye before thanks, thanks before hello.
    return next((kind for kind, _ in _SMALL_TALK_WORDS if kind in kinds), Intent.GREETING if asks_how else None)


def mood_in(normalized: str, text: str) -> Intent | None:
    """The intent of thanks, a complaint, an e-mail address, a question about languages or a wish how to be answered,
    also in a longer message; else None."""
    if talk_words.TONGUE.search(normalized):
        return Intent.TONGUE
    if is_about_answers(normalized):
        return Intent.STYLE
    if "?" in text:
        return None
    if _only_leaves_address(text):
        return Intent.ADDRESS
    length, without_apostrophes = len(normalized.split()), re.sub("['’]", " ", normalized)
    if length <= mood_words.LONG_TALK and mood_words.WAITED.search(without_apostrophes):
        return Intent.WAITED
    if length <= mood_words.LONG_TALK and mood_words.WRONGED.search(without_apostrophes):
        return Intent.WRONGED
    if length > mood_words.LONG_TALK or mood_words.WANTS.search(normalized) or symbols_in(text):
        return None
    if mood_words.UPSET.search(normalized):
        return Intent.UPSET
    if length > mood_words.SHORT_TALK:
        return None
    if normalized.split() and small_talk_in(normalized.split()[-1]) is Intent.FAREWELL:
        return Intent.FAREWELL
    return Intent.THANKS if mood_words.THANKFUL.search(normalized) else None


def accepts_offer(text: str) -> bool:
    """Whether a text, after the offer of a person, says yes, or that its writer will wait."""
    return is_plain_yes(text) or mood_words.WAITS.fullmatch(plain(text)) is not None


def _only_leaves_address(text: str) -> bool:
    """Whether somebody only leaves an e-mail address, which people are asked for outside office hours."""
    other_text, addresses = _ADDRESS.subn(" ", text[:MAX_TALK_CHARACTERS])
    other_words = " ".join(word for word in re.findall(r"\w+", plain(other_text)) if word not in _AROUND_ADDRESS)
    return addresses > 0 and (not other_words or small_talk_in(other_words) is not None)


def past_greeting(text: str) -> str:
    """The text without the thanks, greeting or filler at its beginning, unless it says nothing else."""
    request = _LEAD_IN.sub("", text)
    if len(request.split()) > 1 and not _FIGURE.search(request) and decision_in(text) is None:
        text = request
    beginning, _, rest = re.sub(r"[,.!;:]+\s+", "\n", text, count=1).partition("\n")
    normalized, kinds = plain(beginning), (Intent.THANKS, Intent.GREETING)
    is_polite = (
        len(beginning.split()) <= _MAX_GREETING_WORDS
        and (small_talk_in(normalized) or mood_in(normalized, beginning)) in kinds
    )
    asks_more = len(rest.split()) > 1 and (_ASKS.match(plain(rest)) or not talk_only(text))
    return rest if is_polite and asks_more else text


def talk_only(text: str) -> bool:
    """Whether a text asks for nothing that could be looked up: it is small talk, or asks for a person."""
    normalized = plain(text[:MAX_TALK_CHARACTERS])
    return len(text) <= MAX_TALK_CHARACTERS and (
        small_talk_in(normalized) is not None
        or is_about_own_name(text)
        or mood_in(normalized, text) is not None
        or only_asks_for_person(text)
    )


def is_about_procedure(text: str) -> bool:
    """Whether a question asks how something works, instead of asking to do it."""
    return bool(talk_words.HOW_OR_WHICH.search(plain(text)))


def is_customers_statement(text: str, offered: Collection[str]) -> bool:
    """Whether a customer only says something about themselves, so that no answer can exist."""
    return "search_memory" in offered and is_statement(text)


def asks_about_oneself(text: str) -> bool:
    """Whether a text asks for something that only its writer can have told: "what am I allergic to?"."""
    normalized = plain(text)
    is_first_person = talk_words.SAYS_I.search(normalized) is not None
    return is_question(text) and is_first_person and not talk_words.ASKS_WHAT_TO_DO.search(normalized)


def is_visitors_statement(text: str) -> bool:
    """Whether a visitor only says something about themselves: "I have two cats". Visitors seldom write question marks,
    so it must be in the first person, and nothing in it may ask."""
    normalized = plain(text)
    asking = (shapes.ASKS_WHICH, shapes.DO_YOU, shapes.MAY)
    is_of_oneself = talk_words.FIRST_PERSON.search(normalized) is not None
    return is_statement(text) and is_of_oneself and not any(pattern.search(normalized) for pattern in asking)


def is_statement(text: str) -> bool:
    """Whether somebody only says something about themselves."""
    normalized = plain(text)
    return "?" not in text and bool(
        talk_words.EXCLAIMS.match(normalized) or (talk_words.TELLS.match(normalized) and not is_question(text))
    )
