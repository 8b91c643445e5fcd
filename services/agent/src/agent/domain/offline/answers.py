"""What the offline assistant says, in es and en. Figures and facts come from tools' results, word for word."""

from typing import Any

from agent.domain.analysis.telling import told
from agent.domain.analysis.wording import figure, moment, percent, signed
from agent.domain.offline.copilot_answers import copilot_answer, how_many, needs_a_plan
from agent.domain.offline.intents import Intent, Wish
from agent.domain.offline.reading import stems
from agent.domain.prompt.layers import Language

NOTICE: dict[Language, str] = {
    "es": "Soy el asistente sin conexión: respondo con reglas y herramientas, sin un modelo de lenguaje.",
    "en": "I am the offline assistant: I answer with rules and tools, without a language model.",
}
_SAY: dict[Intent, dict[Language, str]] = {
    Intent.HANDOFF: {
        "es": "Claro. Pulsa «Hablar con una persona» y alguien del equipo seguirá esta conversación.",
        "en": "Of course. Press “Talk to a person” and someone of the team will go on with this conversation.",
    },
    Intent.GREETING: {
        "es": "¡Hola! Puedo leer las páginas de este sitio, consultar precios y calcular posiciones. ¿En qué te ayudo?",
        "en": "Hello! I can read this site's pages, look up prices and size positions. How can I help?",
    },
    Intent.ABILITIES: {
        "es": "Leo las páginas de este sitio («¿cuánto cuesta el plan Pro?»), consulto precios («¿a cuánto cotiza "
        "AAPL?»), explico conceptos («¿qué es un stop loss?») y calculo el tamaño de una posición. Para lo demás, pide "
        "hablar con una persona.",
        "en": "I read this site's pages (“what does the Pro plan cost?”), look up prices (“what is AAPL trading at?”), "
        "explain concepts (“what is a stop loss?”) and work out the size of a position. For anything else, ask for a "
        "person.",
    },
    Intent.STATED: {
        "es": "Entendido, lo tendré en cuenta. Cuando quieras, pregúntame «¿qué recuerdas de mí?».",
        "en": "Understood, I will keep that in mind. You can ask me any time: “what do you remember about me?”.",
    },
    Intent.THANKS: {"es": "¡De nada! ¿Algo más?", "en": "You are welcome! Anything else?"},
    Intent.UNKNOWN: {
        "es": "No lo sé: solo entiendo preguntas sencillas, como «¿cuánto cuesta el plan Pro?» o «¿a cuánto cotiza "
        "AAPL?». Si lo prefieres, pide hablar con una persona.",
        "en": "I do not know: I understand simple questions only, such as “what does the Pro plan cost?” or “what is "
        "AAPL trading at?”. If you like, ask for a person.",
    },
}
_PARTS: dict[str, dict[Language, str]] = {
    "capital": {"es": "el capital", "en": "the capital"},
    "entry_price": {"es": "el precio de entrada", "en": "the entry price"},
    "stop_loss_price": {"es": "el stop", "en": "the stop"},
    "take_profit_price": {"es": "el objetivo", "en": "the target"},
    "risk_percent": {"es": "el riesgo en %", "en": "the risk in %"},
}
_DISCLAIMER: dict[Language, str] = {
    "es": "No es asesoramiento financiero.",
    "en": "This is not financial advice.",
}
_MAX_LINES = 3


def plain_answer(wish: Wish, language: Language) -> str:
    """The answer to a wish that needs no tool, or cannot have one."""
    if wish.withheld:
        return needs_a_plan(language)
    if wish.intent is Intent.COPILOT and wish.missing:
        return how_many(wish.calls[0][1], language)
    if wish.missing:
        parts = ", ".join(_PARTS[name][language] for name in wish.missing)
        return {"es": f"Para calcularlo me falta: {parts}.", "en": f"To work that out I still need: {parts}."}[language]
    return _SAY.get(wish.intent, _SAY[Intent.UNKNOWN])[language]


def answer_from(tool: str, arguments: dict[str, Any], body: dict[str, Any], question: str, language: Language) -> str:
    """One tool's result in a sentence or two; `body` is its data, or {"error": …}."""
    if "error" in body:
        return _error(tool, arguments, body["error"] or {}, language)
    said = copilot_answer(tool, body, language)
    if said is not None:
        return said
    match tool:
        case "fetch_page":
            return _from_page(body, question, language)
        case "market_analysis":
            return told(body, language)
        case "get_price":
            return _price(body, language)
        case "calculate_position_size":
            return _position(body, language)
        case "calculate_risk_reward":
            return _ratio(body, language)
        case _:
            return "; ".join(f"{name}: {moment(value, language)}" for name, value in body.items())


def relevant_lines(text: str, question: str) -> list[str]:
    """The lines of a page that the question is about, in the page's order; a heading brings the lines below it."""
    asked = stems(question)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    scores = [len(asked & stems(line)) + 0.5 * _has_figure(line) for line in lines]
    best = max(scores, default=0.0)
    if best < 1:
        return []
    chosen: list[int] = []
    for index, score in enumerate(scores):
        if score < max(best - 0.5, 1):
            continue
        if lines[index].startswith("#"):
            chosen.extend(i for i in (index + 1, index + 2) if i < len(lines) and not lines[i].startswith("#"))
        else:
            chosen.append(index)
    return [lines[index].lstrip("#-| ").strip() for index in dict.fromkeys(chosen)][:_MAX_LINES]


def _has_figure(line: str) -> bool:
    return any(character.isdigit() for character in line)


def _from_page(body: dict[str, Any], question: str, language: Language) -> str:
    title, url = body.get("title") or body.get("url"), body.get("url")
    lines = relevant_lines(str(body.get("text", "")), question)
    if not lines:
        return {
            "es": f"He leído «{title}» ({url}) y no dice nada sobre eso. ¿Puedes preguntar algo más concreto?",
            "en": f"I read “{title}” ({url}) and it says nothing about that. Could you ask something more specific?",
        }[language]
    quoted = " ".join(line if line.endswith((".", "!", "?")) else f"{line}." for line in lines)
    return {"es": f"{quoted} (Fuente: {title}, {url})", "en": f"{quoted} (Source: {title}, {url})"}[language]


def _price(body: dict[str, Any], language: Language) -> str:
    moves = [body.get(name) for name in ("change", "change_percent")]
    told = [signed(figure(round(one, 2), language)) for one in moves if one is not None]
    moved = f" ({told[0]}, {told[1]} %)" if len(told) == len(moves) else ""
    symbol, price, currency = body.get("symbol"), figure(body["price"], language), body.get("currency") or "USD"
    source, as_of = body.get("source"), moment(body.get("as_of"), language)
    return {
        "es": f"{symbol}: {price} {currency}{moved}, a fecha de {as_of} (fuente: {source}). {_DISCLAIMER['es']}",
        "en": f"{symbol}: {price} {currency}{moved}, as of {as_of} (source: {source}). {_DISCLAIMER['en']}",
    }[language]


def _position(body: dict[str, Any], language: Language) -> str:
    quantity, value, risk = (figure(body[name], language) for name in ("quantity", "position_value", "risk_amount"))
    capped = bool(body.get("capped_by_cash"))
    if language == "es":
        limit = " El límite es el efectivo disponible." if capped else ""
        return (
            f"Tamaño de la posición: {quantity} unidades por {value}, con {risk} en riesgo.{limit} {_DISCLAIMER['es']}"
        )
    limit = " Available cash is what limits it." if capped else ""
    return f"Position size: {quantity} units worth {value}, with {risk} at risk.{limit} {_DISCLAIMER['en']}"


def _ratio(body: dict[str, Any], language: Language) -> str:
    ratio, risk, reward = (figure(body[name], language) for name in ("ratio", "risk", "reward"))
    rate = body.get("break_even_win_rate")
    even = percent(rate, language) if isinstance(rate, int | float) else "?"
    return {
        "es": f"Beneficio/riesgo: {ratio} a 1 (riesgo {risk}, beneficio {reward}); sin ganar ni perder con un {even} "
        f"de aciertos. {_DISCLAIMER['es']}",
        "en": f"Reward to risk: {ratio} to 1 (risk {risk}, reward {reward}); it breaks even at a win rate of {even}. "
        f"{_DISCLAIMER['en']}",
    }[language]


def _error(tool: str, arguments: dict[str, Any], error: dict[str, Any], language: Language) -> str:
    about = next((str(value) for value in arguments.values() if isinstance(value, str)), tool)
    if language == "es" and error.get("reason") == "not_in_sample":
        return f"{about} no está en los datos de muestra, que son los que hay sin un proveedor de mercado."
    reason = error.get("message") or error.get("code") or "?"
    if tool in ("create_paper_order", "cancel_paper_order", "create_alert", "delete_alert"):
        return {"es": f"No he podido hacerlo: {reason}", "en": f"I could not do that: {reason}"}[language]
    return {
        "es": f"No he podido consultar {about}: {reason}",
        "en": f"I could not look up {about}: {reason}",
    }[language]
