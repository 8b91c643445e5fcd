"""What the offline assistant says, in Spanish and English. Figures and facts are quoted from tools' results."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.analysis.chat_text import told
from agent.domain.analysis.formats import figure, moment, signed
from agent.domain.offline.calculator_answers import DISCLAIMER, position_size, risk_reward
from agent.domain.offline.copilot_answers import copilot_answer, how_many, needs_a_plan
from agent.domain.offline.day_answers import on_day
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import TITLE_END
from agent.domain.offline.quotations import quoted
from agent.domain.offline.slots import date_in
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import plain
from contracts.languages import Language

NOTICE: dict[Language, str] = {
    "es": "Soy un asistente automático: respondo con reglas y herramientas, sin un modelo de lenguaje.",
    "en": "I am an automatic assistant: I answer with rules and tools, without a language model.",
}
_OFFER: dict[Language, str] = {
    "es": "¿Quieres que te atienda una persona del equipo? Di «sí» y la aviso.",
    "en": "Would you like somebody from the team to take over? Say “yes” and I will ask them.",
}
_SAY: dict[Intent, dict[Language, str]] = {
    Intent.HANDOFF: {
        "es": "Claro. Desde aquí no puedo avisar a nadie: pulsa «Hablar con una persona» en el chat de la web.",
        "en": "Of course. I cannot call anybody from here: press “Talk to a person” in the chat on the site.",
    },
    Intent.GREETING: {"es": "¡Hola! ¿En qué te ayudo?", "en": "Hello! How can I help?"},
    Intent.STATED: {
        "es": "Entendido, lo tendré en cuenta. Cuando quieras, pregúntame «¿qué recuerdas de mí?».",
        "en": "Got it, I will keep that in mind. You can ask me at any time: “what do you remember about me?”.",
    },
    Intent.TOLD: {
        "es": "Gracias por contármelo. ¿En qué te ayudo? Si lo prefieres, pide hablar con una persona.",
        "en": "Thank you for telling me. What can I help you with? If you like, ask for a person.",
    },
    Intent.UPSET: {
        "es": f"Siento no haberte ayudado. {_OFFER['es']}",
        "en": f"I am sorry I could not help. {_OFFER['en']}",
    },
    Intent.WAITED: {
        "es": f"Siento que hayas tenido que esperar o repetirte. {_OFFER['es']}",
        "en": f"I am sorry you had to wait or repeat yourself. {_OFFER['en']}",
    },
    Intent.WRONGED: {
        "es": f"Siento lo ocurrido. Eso lo tiene que mirar una persona. {_OFFER['es']}",
        "en": f"I am sorry about that. A person has to look into it. {_OFFER['en']}",
    },
    Intent.TONGUE: {
        "es": "Sí: puedes escribirme en español o en inglés, como prefieras.",
        "en": "Yes: you can write to me in English or Spanish, whichever you prefer.",
    },
    Intent.FORGET: {
        "es": "¿Qué quieres que olvide? Dime, por ejemplo, «olvida que prefiero el riesgo bajo».",
        "en": "What should I forget? Say, for example, “forget that I prefer low risk”.",
    },
    Intent.NOT_REMEMBERED: {
        "es": "No recuerdo nada así de ti. Pregúntame «¿qué recuerdas de mí?» y lo verás todo.",
        "en": "I do not remember anything like that about you. Ask “what do you remember about me?” to see everything.",
    },
    Intent.UNDO: {
        "es": "Aquí no hay nada reciente que pueda deshacer. Puedo deshacer lo último que me pediste recordar u "
        "olvidar; "
        "una orden o una alerta se retira diciendo «cancélala».",
        "en": "There is nothing recent here that I can undo. I can undo the last thing that you asked me to remember "
        "or "
        "to forget; an order or an alert is withdrawn by saying “cancel it”.",
    },
    Intent.THANKS: {"es": "¡De nada! ¿Algo más?", "en": "You are welcome! Anything else?"},
    Intent.FINE: {"es": "De acuerdo. ¿Algo más?", "en": "All right. Anything else?"},
    Intent.ADVICE: {
        "es": "No doy consejos de inversión: eso lo decides tú. Puedo darte precios, indicadores, noticias o el "
        "tamaño de una "
        "posición.",
        "en": "I do not give investment advice: that is for you to decide. I can give you prices, indicators, news or "
        "the size of "
        "a position.",
    },
    Intent.FAREWELL: {"es": "¡Hasta pronto!", "en": "Goodbye!"},
}
_UNKNOWN: tuple[dict[Language, str], dict[Language, str]] = (
    {
        "es": "No lo sé: no lo encuentro en el sitio, y no quiero inventarlo.",
        "en": "I do not know: I cannot find it on the site, and I will not make it up.",
    },
    {"es": "Tampoco lo sé.", "en": "I do not know that either."},
)
"""The first time in a conversation, and from then on."""
_NOTHING_ABOUT: dict[Language, str] = {
    "es": "no encuentro en el sitio nada sobre «{word}»",
    "en": "I cannot find anything on the site about “{word}”",
}
_PERSON: tuple[dict[Language, str], dict[Language, str]] = (
    {"es": "Si lo prefieres, pide hablar con una persona.", "en": "If you like, ask for a person."},
    _OFFER,
)
_UNSURE: dict[Language, str] = {
    "es": "No estoy seguro de que esto responda a tu pregunta.",
    "en": "I am not sure this answers your question.",
}
_NEAREST: dict[Language, str] = {
    "es": "No lo sé con certeza: {why}. Esto es lo más cercano:",
    "en": "I do not know for certain: {why}. This comes closest:",
}
_NOTHING_CLEAR: dict[Language, str] = {
    "es": "no encuentro una respuesta clara en el sitio",
    "en": "I cannot find a clear answer on the site",
}
_SAYS: dict[Language, str] = {"es": "El sitio dice:", "en": "The site says:"}
_SAYS_UNDER: dict[Language, str] = {"es": "En «{name}» el sitio dice:", "en": "Under “{name}” the site says:"}
_OTHERWISE: tuple[dict[Language, str], dict[Language, str]] = (
    {
        "es": "Si no es lo que buscas, pide hablar con una persona.",
        "en": "If that is not what you are looking for, ask for a person.",
    },
    _OFFER,
)
_UNREAD: dict[Language, str] = {
    "es": "Ahora mismo no puedo leer el sitio ({reason}), así que no lo sé. Si lo prefieres, pide hablar con una "
    "persona.",
    "en": "I cannot read the site right now ({reason}), so I do not know. If you like, ask for a person.",
}
_NOT_SEARCHED: dict[Language, str] = {
    "es": "Ahora mismo no puedo consultar la información de la empresa, así que no lo sé. Prueba dentro de un "
    "momento, o pide "
    "hablar con una persona.",
    "en": "I cannot search the company's information right now, so I do not know. Try again in a moment, or ask for a "
    "person.",
}
_ABLE: tuple[tuple[str, dict[Language, str]], ...] = (
    ("fetch_page", {"es": "respondo con lo que dicen las páginas de este sitio", "en": "answer from this site's "
    "pages"}),
    ("get_price", {"es": "consulto precios («¿a cuánto cotiza AAPL?»)",
                   "en": "look up prices (“what is AAPL trading at?”)"}),
    ("get_indicators", {"es": "calculo indicadores («RSI de MSFT»)", "en": "work out indicators (“RSI of MSFT”)"}),
    ("get_news", {"es": "busco noticias", "en": "find news"}),
    ("fundamentals_events", {"es": "doy fundamentales y fechas de resultados", "en": "tell fundamentals and "
    "earnings dates"}),
    ("explain_concept", {"es": "explico conceptos («¿qué es un stop loss?»)",
                         "en": "explain concepts (“what is a stop loss?”)"}),
    ("calculate_position_size", {"es": "calculo el tamaño de una posición", "en": "work out the size of a position"}),
    ("get_watchlist", {"es": "llevo tu lista de seguimiento", "en": "keep your watchlist"}),
    ("search_memory", {"es": "recuerdo lo que me cuentas («¿qué recuerdas de mí?»)",
                       "en": "remember what you tell me (“what do you remember about me?”)"}),
    ("get_portfolio", {"es": "enseño tu cartera", "en": "show your portfolio"}),
    ("create_paper_order", {"es": "preparo órdenes simuladas, que tú confirmas («compra 5 AAPL»)",
                            "en": "prepare paper orders, which you confirm (“buy 5 AAPL”)"}),
    ("create_alert", {"es": "creo alertas de precio", "en": "set price alerts"}),
    ("get_sentiment", {"es": "digo el sentimiento de las noticias", "en": "tell the sentiment of the news"}),
    ("get_ml_signals", {"es": "doy señales de los modelos", "en": "tell the models' signals"}),
)  # fmt: skip
_WHICH: dict[str, dict[Language, str]] = {
    "symbol": {"es": "¿De qué valor? Dime su símbolo, como AAPL.", "en": "Which one? Tell me its symbol, such as "
    "AAPL."},
    "none": {"es": "No encuentro ninguna que encaje con eso.", "en": "I cannot find one that matches."},
    "symbols": {"es": "No sé qué valores entran en «{group}». Dime sus símbolos.",
                "en": "I do not know which shares belong to “{group}”. Tell me their symbols."},
    "several": {"es": "Hay varias. ¿Cuál? Dime su símbolo{prices}:", "en": "There are several. Which one? Tell me "
    "its symbol{prices}:"},
    "position": {"es": "No tienes esa posición en la cartera.", "en": "You do not hold that position."},
    "fewer": {"es": "No tienes más que eso.", "en": "You do not hold more than that."},
    "positions": {"es": "Tienes varias posiciones ({names}). ¿De cuál?", "en": "You hold several positions "
    "({names}). Which one?"},
}  # fmt: skip
_NO_LATER: dict[Language, str] = {
    "es": "No puedo guardar una orden para otro momento: llega al mercado en cuanto la confirmas. Di «ahora» y la "
    "preparo, o dime a qué precio tiene que esperar. También puedes pedírmela cuando llegue el momento.",
    "en": "I cannot keep an order for a later time: it goes to the market as soon as you confirm it. Say “now” and I "
    "will prepare it, or name the price that it should wait for. You can also ask me again when the time comes.",
}
_CHOSEN: dict[Language, str] = {
    "es": "Dime qué hago con eso; para quitarlo basta «bórrala».",
    "en": "Tell me what to do with it; to remove it, say “delete it”.",
}
_OF_THE_DEMO = re.compile(r" \([“«][^”»]*AAPL[^”»]*[”»]\)|, (?:como|such as) AAPL")
NOT_ASKED = "NOT_ASKED"
"""The code of a call that the user's own words did not ask for."""
_NOT_ASKED: dict[Language, str] = {
    "es": "No lo he hecho, porque no estoy seguro de que me lo hayas pedido. Dímelo con todas sus palabras.",
    "en": "I have not done that, because I am not sure you asked for it. Tell me in full what you want.",
}
_PARTS: dict[str, dict[Language, str]] = {
    "capital": {"es": "el capital", "en": "the capital"},
    "entry_price": {"es": "el precio de entrada", "en": "the entry price"},
    "stop_loss_price": {"es": "el stop", "en": "the stop"},
    "take_profit_price": {"es": "el objetivo", "en": "the target"},
    "risk_percent": {"es": "el riesgo en %", "en": "the risk in %"},
    "side": {"es": "si es compra o venta", "en": "whether to buy or to sell"},
    "limit_price": {"es": "el precio límite", "en": "the limit price"},
    "stop_price": {"es": "el stop", "en": "the stop"},
    "quantity": {"es": "la cantidad", "en": "the quantity"},
    "symbol": {"es": "el símbolo", "en": "the symbol"},
    "price": {"es": "el precio", "en": "the price"},
    "concept": {"es": "el concepto", "en": "the concept"},
    "query": {"es": "qué busco", "en": "what to look for"},
}


def plain_answer(
    wish: Wish, language: Language, offered: Collection[str] = (), *, missed: bool = False, demo: bool = True
) -> str:
    """The answer to a wish that needs no tool, or cannot have one. `missed`: it did not know before either; `demo`: of
    the demo company, whose examples name a share that nobody else may have."""
    said = _plain_answer(wish, language, offered, missed=missed)
    return said if demo else _OF_THE_DEMO.sub("", said)


def _plain_answer(wish: Wish, language: Language, offered: Collection[str], *, missed: bool) -> str:
    if wish.withheld:
        return needs_a_plan(wish.withheld, language, customer="search_memory" in offered)
    if wish.intent is Intent.ABILITIES:
        return abilities(offered, language)
    if wish.missing == ("symbol",):
        return which("symbols", language, group=wish.shown) if wish.shown else _WHICH["symbol"][language]
    if "quantity" in wish.missing and not wish.way and "symbol" in wish.calls[0][1]:
        return how_many(wish.calls[0][1], language)
    if wish.intent is Intent.CHOSEN:
        return f"{wish.shown}\n{_CHOSEN[language]}"
    if wish.missing == ("when",):
        return _NO_LATER[language]
    if wish.missing:
        parts = ", ".join(_PARTS.get(name, {}).get(language, name) for name in wish.missing)
        if wish.way:
            return {"es": f"Dime la cifra exacta: {parts}.", "en": f"Tell me the exact figure: {parts}."}[language]
        return {"es": f"Para calcularlo me falta: {parts}.", "en": f"To work that out I still need: {parts}."}[language]
    return _SAY[wish.intent][language] if wish.intent in _SAY else unknown(language, missed=missed)


def unknown(
    language: Language,
    *,
    missed: bool,
    nearest: Sequence[Excerpt] = (),
    around: Sequence[Excerpt] = (),
    word: str = "",
) -> str:
    """That nothing known answers this for certain, and a person is offered. `nearest`: what may be the answer all the
    same; `around`: what only stands near it. Each is quoted as no more than that. `word`: what the question is about
    and nothing was found about."""
    about = _NOTHING_ABOUT[language].format(word=word) if word else ""
    if not nearest and not around:
        said = _UNKNOWN[missed][language]
        said = f"{said.partition(':')[0].rstrip('.')}: {about}." if word else said
        return f"{said} {_PERSON[missed][language]}"
    shown = [one if one.heading else replace(one, heading=TITLE_END.split(one.title)[0]) for one in nearest or around]
    told, other = quoted(shown, language), _OTHERWISE[missed][language]
    near_it = _NEAREST[language].format(why=about or _NOTHING_CLEAR[language])
    says = f"{_UNSURE[language]} {_SAYS[language]}" if nearest else near_it
    if len({one.heading for one in shown}) > 1:
        return f"{says}\n{told}\n{other}"
    if not nearest:
        return f"{says} {shown[0].heading}: {told} {other}"
    return f"{_UNSURE[language]} {_SAYS_UNDER[language].format(name=shown[0].heading)} {told} {other}"


def not_searched(language: Language) -> str:
    """That what the company says cannot be searched now: whether it tells this is open."""
    return _NOT_SEARCHED[language]


def nobody_yet(language: Language) -> str:
    """To somebody who asked for a person, once the conversation is the assistant's again."""
    return {
        "es": "El equipo verá que lo has pedido. Mientras tanto sigo aquí: dime qué necesitas.",
        "en": "The team can see that you asked for them. In the meantime I am here: tell me what you need.",
    }[language]


_BEGINNINGS = tuple(
    said.partition("{")[0] for texts in (_NEAREST, _NOTHING_ABOUT, *_UNKNOWN) for said in texts.values()
)


def is_unknown(text: str) -> bool:
    """Whether an answer was that nothing is known, or nothing for certain."""
    return tells_nothing(text) or any(said in text for said in _UNSURE.values())


def tells_nothing(text: str) -> bool:
    """Whether an answer was that nothing is known, or nothing but what stands near it."""
    return any(said in text for said in _BEGINNINGS)


def told_before(facts: Sequence[str], language: Language) -> str:
    """What the user has told of themselves, in their own words."""
    said: dict[Language, tuple[str, str]] = {"es": ("Me contaste", "«{}»"), "en": ("You told me", "“{}”")}
    begins, quoted = said[language]
    return f"{begins} {', '.join(map(quoted.format, facts))}."


def offers_person(text: str) -> bool:
    """Whether an answer asked if a person shall go on."""
    return tells_nothing(text) or any(offer in text for offer in _OFFER.values())


def abilities(offered: Collection[str], language: Language) -> str:
    """What the requester can have done, by the tools that they really have."""
    parts = [said[language] for tool, said in _ABLE if tool in offered]
    if not parts:
        return {"es": "Puedo pasarte con una persona del equipo: pídemelo.",
                "en": "I can pass you on to somebody from the team: just ask."}[language]  # fmt: skip
    told = "; ".join(parts)
    return {
        "es": f"Soy un asistente automático. Esto es lo que puedo hacer: {told}. Para lo demás, pide hablar con una "
        f"persona.",
        "en": f"I am an automatic assistant. This is what I can do: {told}. For anything else, ask for a person.",
    }[language]


def which(kind: str, language: Language, **names: str) -> str:
    """What has to be told before something can be done."""
    return _WHICH[kind][language].format(**names) if names else _WHICH[kind][language].replace("{prices}", "")


def multiplied(price: float, factor: float, language: Language) -> str:
    """So many times a price."""
    times, one, product = (figure(round(each, 4), language) for each in (factor, price, round(price * factor, 2)))
    return f"{times} × {one} = {product}"


def unread(reason: str, language: Language) -> str:
    """That the site cannot be read."""
    return _UNREAD[language].format(reason=reason.rstrip("."))


def answer_from(tool: str, arguments: dict[str, Any], body: dict[str, Any], question: str, language: Language) -> str:
    """One tool's result in a sentence or two; `body` is its data, or {"error": …}."""
    if "error" in body:
        return _error(tool, arguments, body["error"] or {}, language)
    if tool == "get_ohlcv" and (day := date_in(plain(question))) is not None:
        return on_day(body, day.isoformat(), language)
    if (said := copilot_answer(tool, body, language)) is not None:
        return said
    match tool:
        case "market_analysis":
            return told(body, language)
        case "get_price":
            return _price(body, language)
        case "calculate_position_size":
            return position_size(body, language)
        case "calculate_risk_reward":
            return risk_reward(body, language)
        case _:
            return "; ".join(f"{name}: {moment(value, language)}" for name, value in body.items())


def _price(body: dict[str, Any], language: Language) -> str:
    moves = [body.get(name) for name in ("change", "change_percent")]
    told = [signed(figure(round(one, 2), language)) for one in moves if one is not None]
    moved = f" ({told[0]}, {told[1]} %)" if len(told) == len(moves) else ""
    symbol, price, currency = body.get("symbol"), figure(body["price"], language), body.get("currency") or "USD"
    source, as_of = body.get("source"), moment(body.get("as_of"), language)
    return {
        "es": f"{symbol}: {price} {currency}{moved}, a fecha de {as_of} (fuente: {source}). {DISCLAIMER['es']}",
        "en": f"{symbol}: {price} {currency}{moved}, as of {as_of} (source: {source}). {DISCLAIMER['en']}",
    }[language]


def _error(tool: str, arguments: dict[str, Any], error: dict[str, Any], language: Language) -> str:
    about = next((str(value) for value in arguments.values() if isinstance(value, str)), tool)
    if error.get("code") == NOT_ASKED:
        return _NOT_ASKED[language]
    reason = error.get("message") or error.get("code") or "?"
    if tool in ("create_paper_order", "cancel_paper_order", "create_alert", "delete_alert"):
        return {"es": f"No he podido hacerlo: {reason}", "en": f"I could not do that: {reason}"}[language]
    return {
        "es": f"No he podido consultar {about}: {reason}",
        "en": f"I could not look up {about}: {reason}",
    }[language]
