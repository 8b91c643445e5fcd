"""What the agent says after a step of its own: exactly what happened. In es and en."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast, get_args

from agent.domain.prompt.copilot_words import WORDS
from agent.domain.shortcuts.memory_text import listed_facts, told_memory
from agent.domain.shortcuts.memory_words import acts, list_wish, undoes
from agent.domain.shortcuts.steps import DECIDE, FORGET, READ, REMEMBER, UNKNOWN, said, step
from agent.domain.turn.journal import ModelAnswer, TurnCall
from contracts.languages import Language
from contracts.memory_rpc import fact_id
from contracts.own_tools import ACTION_KIND

Fields = dict[str, Any]
_QUOTES: dict[Language, str] = {"es": "«»", "en": "“”"}
FAR = 5
"""Newest answers in which what is taken back, or a list of facts, is looked for."""
MOST_NAMED = 5
"""Facts among which somebody chooses."""
_SAY: dict[str, dict[Language, str]] = {
    "open": {
        "es": "Confirmado: {summary}. La orden está en curso: se ejecuta con los próximos datos del mercado.",
        "en": "Confirmed: {summary}. The order is working: it fills with the next market data.",
    },
    "filled": {
        "es": "Confirmado: {summary}. La orden está ejecutada.",
        "en": "Confirmed: {summary}. The order is filled.",
    },
    "partially_filled": {
        "es": "Confirmado: {summary}. La orden está ejecutada en parte.",
        "en": "Confirmed: {summary}. The order is partly filled.",
    },
    "ended": {
        "es": "Esta orden se confirmó y ya ha terminado ({status}): {summary}.",
        "en": "This order was confirmed and has ended ({status}): {summary}.",
    },
    "too_late": {
        "es": "Esta orden ya estaba confirmada: {summary}. Si quieres retirarla, pídeme que la cancele.",
        "en": "This order was already confirmed: {summary}. To withdraw it, ask me to cancel it.",
    },
    "rejected": {
        "es": "Rechazado: {summary}. No se ha enviado nada.",
        "en": "Rejected: {summary}. Nothing was placed.",
    },
    "was_rejected": {
        "es": "Esta orden ya estaba rechazada: {summary}. No se ha enviado nada.",
        "en": "This order was already rejected: {summary}. Nothing was placed.",
    },
    "expired": {
        "es": "La confirmación ha caducado: {summary}. No se ha enviado nada; pídela otra vez si aún la quieres.",
        "en": "The confirmation has expired: {summary}. Nothing was placed; ask for it again if you still want it.",
    },
    "failed": {
        "es": "No se ha podido enviar: {summary}. Motivo: {reason}.",
        "en": "It could not be placed: {summary}. Reason: {reason}.",
    },
    "own_done": {
        "es": "Confirmado y hecho: {summary}.{outcome}",
        "en": "Confirmed and done: {summary}.{outcome}",
    },
    "own_failed": {
        "es": "No se ha podido hacer: {summary}. Motivo: {reason}.",
        "en": "It could not be done: {summary}. Reason: {reason}.",
    },
    "which": {
        "es": "Hay varias órdenes pendientes. ¿Cuál? Responde, por ejemplo, «sí a la 1», «no a la 2» o «sí a todas»:",
        "en": "Several orders are waiting. Which one? Answer, for example, “yes to 1”, “no to 2” or “yes to all”:",
    },
    "rest": {
        "es": "Sigue pendiente: {rest}.",
        "en": "Still waiting: {rest}.",
    },
    "none": {
        "es": "No hay ninguna orden pendiente de confirmar.",
        "en": "No order is waiting for your confirmation.",
    },
    "away": {
        "es": "Ahora no puedo hacerlo: el servicio no responde. La orden sigue pendiente; di sí otra vez en un rato.",
        "en": "I cannot do that right now: the service is not responding. The order still waits: say yes again later.",
    },
    "unsure": {
        "es": "El servicio no ha respondido a tiempo y aún no sé si se ha hecho. Repítelo en un rato y te diré "
        "cómo está: nunca se hace dos veces.",
        "en": "The service did not answer in time, and I do not know yet whether it was done. Say it again later and I "
        "will tell you: it is never done twice.",
    },
    "changed": {
        "es": "Esta orden no es la que se te mostró. Mírala otra vez antes de confirmarla.",
        "en": "This order is not the one you were shown. Look at it again before you confirm it.",
    },
    "memory_away": {
        "es": "Ahora no puedo consultar lo que recuerdo: vuelve a intentarlo en un momento.",
        "en": "I cannot reach my memory right now: try again in a moment.",
    },
    "memory_unsure": {
        "es": "Ahora no puedo confirmar si ha quedado guardado: pregúntame en un momento qué recuerdo de ti.",
        "en": "I cannot confirm right now whether that is done: ask me in a moment what I remember about you.",
    },
    "forgotten": {
        "es": "Hecho, lo he olvidado: {texts}.",
        "en": "Done, I have forgotten: {texts}.",
    },
    "undo": {
        "es": " Si ha sido un error, di «deshaz eso».",
        "en": " If that was a mistake, say “undo that”.",
    },
    "restored": {"es": " Vuelve a valer: {texts}.", "en": " This applies again: {texts}."},
    "gone": {
        "es": "No puedo recuperarlo: lo que olvido ya no lo guardo. Dímelo otra vez y lo recordaré.",
        "en": "I cannot bring it back: what I forget is no longer kept. Tell me again and I will remember it.",
    },
    "forgotten_all": {
        "es": "Hecho: he olvidado todo lo que recordaba de ti. Las conversaciones siguen guardadas.",
        "en": "Done: I have forgotten everything I remembered about you. Conversations are still kept.",
    },
    "several": {
        "es": "¿Qué olvido: {texts}? Dímelo con sus palabras, o «olvida todo lo de…».",
        "en": "Which should I forget: {texts}? Tell me in the same words, or “forget everything about…”.",
    },
    "no_number": {
        "es": "En la lista no hay ningún {number}. Pregúntame «¿qué recuerdas de mí?» y la verás entera.",
        "en": "There is no {number} in the list. Ask “what do you remember about me?” to see all of it.",
    },
    "noted": {
        "es": "Anotado, lo recordaré: {note}.",
        "en": "Noted, I will remember: {note}.",
    },
}
_REASONS: dict[str, dict[Language, str]] = {
    "insufficient_cash": {"es": "no hay efectivo libre suficiente", "en": "there is not enough free cash"},
    "insufficient_position": {"es": "no hay acciones libres suficientes", "en": "there are not enough free shares"},
    "outcome_unknown": {
        "es": "el servidor no ha respondido a tiempo y no se sabe si llegó a hacerse",
        "en": "the server did not answer in time, and it is not known whether it was done",
    },
    "changed": {"es": "ha cambiado desde que se mostró", "en": "it has changed since it was shown"},
}


def own_answer(calls: Sequence[TurnCall], language: Language) -> str | None:
    """What the settled calls of a step came to; None: nothing that the user meant was found, the model goes on."""
    texts = [_one(call, language) for call in calls]
    told = [text for text in texts if text]
    return "\n".join(dict.fromkeys(told)) if told else None


def meant_answers(answers: Sequence[str], asked: Sequence[str]) -> list[str]:
    """The newest answers about which "undo that" and "forget 3" may be: up to where an order, an alert or a list was
    spoken of. Both newest first, each answer beside what it answered."""
    acted = (place + 1 for place, text in enumerate(asked) if acts(text))
    return list(answers[: min(FAR, next(acted, FAR))])


def of_a_list(text: str, answers: Sequence[str], language: Language) -> ModelAnswer | None:
    """What the user's words ask of a list of facts that the newest answers (`meant_answers`) told."""
    wish = list_wish(text)
    listed = _listed(answers) if wish else {}
    if wish is None or not listed:
        return None
    if not wish.numbers:
        return step((READ, {"after": max(listed)})) if listed_facts(answers[0]) else None
    if missing := [number for number in wish.numbers if number not in listed]:
        return said(_SAY["no_number"][language].format(number=missing[0]))
    facts = [listed[number] for number in wish.numbers]
    if wish.text:
        return step((REMEMBER, {"note": wish.text, "instead": facts[0]}))
    return step(*((FORGET, {"about": fact_id(one)}) for one in facts))


def _listed(answers: Sequence[str]) -> dict[int, str]:
    """The facts that the answers told, by their numbers: the newest list, with all its pages; none where another list
    is newer."""
    found: dict[int, str] = {}
    for answer in answers:
        page = listed_facts(answer)
        found = {**page, **found}
        if 1 in found or (not page and re.search(r"^\d+\. ", answer, re.M)):
            break
    return found


def undone(text: str, answers: Sequence[str], language: Language) -> ModelAnswer | None:
    """What takes back the newest change of memory that the newest answers (`meant_answers`) told, if the user's words
    ask for that."""
    tries = (_undone(text, answer, language, later=place > 0) for place, answer in enumerate(answers))
    return next((found for found in tries if found), None)


def _undone(text: str, answer: str, language: Language, *, later: bool) -> ModelAnswer | None:
    for spoken in get_args(Language):
        before, after = _SAY["noted"][spoken].split("{note}")
        notes = re.findall(rf"^{re.escape(before)}(.+){re.escape(after)}$", answer, re.M)
        if notes and undoes(text, later=later):
            return step(*((FORGET, {"note": note}) for note in notes))
        before, after = _SAY["forgotten"][spoken].split("{texts}")
        told = [one for one in answer.splitlines() if one.startswith((before, _SAY["forgotten_all"][spoken]))]
        if told and undoes(text, forgotten=True, later=later):
            opening, closing = _QUOTES[spoken]
            first, last = before + opening, closing + after + _SAY["undo"][spoken]
            lists = [one.removeprefix(first).removesuffix(last) for one in told if one.endswith(last)]
            notes = [one for facts in lists for one in facts.split(f"{closing}, {opening}")]
            return step(*((REMEMBER, {"note": one}) for one in notes)) if notes else said(_SAY["gone"][language])
    return None


def _one(call: TurnCall, language: Language) -> str | None:
    result: Fields = json.loads(call.result) if call.result else {}
    data: Fields = result.get("data") or {}
    error: Fields = result.get("error") or {}
    arguments: Fields = json.loads(call.arguments)
    if call.tool == DECIDE:
        return _decided(arguments, data, error, language)
    if not result.get("success"):
        # What somebody asked to remember stands in the conversation, and is learned from there as well.
        unsure = error.get("code") == UNKNOWN or call.tool == REMEMBER
        return _SAY["memory_unsure" if unsure else "memory_away"][language]
    if call.tool == READ:
        return told_memory(data["memory"], language, int(data.get("after") or 0), int(data.get("more") or 0))
    if call.tool == REMEMBER:
        return _SAY["noted"][language].format(note=data["note"])
    if call.tool == FORGET:
        if data.get("everything"):
            return _SAY["forgotten_all"][language]
        values = _values(language)
        quoted = "{}".join(_QUOTES[language])
        for kind, texts in (("forgotten", data["forgotten"]), ("several", (data.get("several") or ())[:MOST_NAMED])):
            if texts:
                named = ", ".join(quoted.format(values.get(text, text)) for text in texts)
                told = _SAY[kind][language].format(texts=named)
                if restored := data.get("restored"):
                    again = ", ".join(quoted.format(text) for text in restored)
                    return told + _SAY["restored"][language].format(texts=again)
                return told + (_SAY["undo"][language] if data.get("facts") and kind == "forgotten" else "")
        return None
    return None


def _decided(arguments: Fields, data: Fields, error: Fields, language: Language) -> str:
    if error:
        # Only who is not there has done nothing for certain; any other silence may hide a decision that was made.
        kinds = {"CONFLICT": "changed", "NOT_FOUND": "none", "UNAVAILABLE": "away", "UNAUTHORIZED": "away"}
        kind = kinds.get(str(error.get("code")), "unsure")
        return _SAY[kind][language]
    if "pending" in data:
        waiting = [cast("Fields", one) for one in data["pending"]]
        if not waiting:
            return _SAY["none"][language]
        lines = [f"{number}. {one['summary']}" for number, one in enumerate(waiting, start=1)]
        return "\n".join([_SAY["which"][language], *lines])
    action: Fields = data["action"]
    details: Fields = action.get("details") or {}
    status, wanted = str(details.get("status") or ""), arguments.get("decision")
    fields = {"summary": action["summary"], "status": status, "reason": _reason(details, language)}
    match action.get("state"):
        case "confirmed" if wanted == "reject":
            kind = "too_late"
        case "confirmed":
            kind = status if status in ("filled", "partially_filled") else "ended"
            kind = "open" if status in ("open", "triggered", "") else kind
        case "rejected":
            kind = "rejected" if wanted == "reject" else "was_rejected"
        case "expired":
            kind = "expired"
        case _:
            kind = "failed"
    if action.get("kind") == ACTION_KIND:
        kind = {"confirmed": "own_done", "failed": "own_failed"}.get(str(action.get("state")), kind)
        outcome = str(details.get("outcome") or "").strip()
        fields["reason"] = outcome or fields["reason"]
        fields["outcome"] = f" {outcome}" if outcome else ""
    told = _SAY[kind][language].format(**fields)
    rest = "; ".join(cast("Fields", one)["summary"] for one in data.get("rest") or ())
    return f"{told} {_SAY['rest'][language].format(rest=rest)}" if rest else told


def _values(language: Language) -> dict[str, str]:
    """How the values that a memory keeps as codes are said."""
    words = WORDS[language]
    return {**words.risks, **words.experiences, **words.styles, **words.languages}


def _reason(details: Fields, language: Language) -> str:
    reason = str(details.get("reason") or "?")
    return _REASONS.get(reason, {}).get(language, reason)
