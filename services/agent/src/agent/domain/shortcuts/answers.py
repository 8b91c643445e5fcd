"""The agent's sentences after its own steps, which say exactly what happened, in Spanish and English."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from agent.domain.prompt.copilot_words import VALUES
from agent.domain.shortcuts.memory_text import listed_facts, memory_in_words
from agent.domain.shortcuts.memory_words import (
    LAST,
    ListWish,
    completed_fact,
    is_about_actions,
    is_about_memory,
    is_undo,
    list_wish,
)
from agent.domain.shortcuts.steps import DECIDE, FORGET, READ, REMEMBER, UNKNOWN, rule_answer, step
from agent.domain.text_features import plain
from agent.domain.turn.journal import ModelAnswer, TurnCall
from agent.texts import TEXTS
from contracts.languages import Language
from contracts.memory_rpc import fact_id
from contracts.own_tools import ACTION_KIND

Fields = dict[str, Any]
FAR = 5
"""Newest answers in which what is taken back, or a list of facts, is looked for."""
MOST_NAMED = 5
"""Facts among which somebody chooses."""
_NUMBERED = re.compile(r"^\s*\d+[.)] ", re.M)
"""A list whose items somebody may call by their numbers."""


def rule_calls_answer(calls: Sequence[TurnCall], language: Language, *, of_several: bool = False) -> str | None:
    """The answer after the settled calls of a step; None: nothing that the user meant was found, and the model
    continues. `of_several`: they are several requests, or one beside other words; each is told of."""
    told = [text for call in calls if (text := _one(call, language) or (of_several and _not_found(call, language)))]
    return "\n".join(dict.fromkeys(told)) if told else None


def recent_answers(answers: Sequence[str], asked: Sequence[str]) -> list[str]:
    """The newest answers about which "undo that" and "forget 3" may be: up to where an order, an alert or a list was
    spoken of. Both newest first, each answer beside what it answered."""
    acted = (place + 1 for place, text in enumerate(asked) if is_about_actions(text))
    return list(answers[: min(FAR, next(acted, FAR))])


def list_step(text: str, answers: Sequence[str], language: Language) -> ModelAnswer | None:
    """What the user's words ask about a list of facts in the newest answers (`recent_answers`)."""
    wish = list_wish(text)
    listed = _listed(answers) if wish else {}
    if wish is not None and wish.numbers and is_about_memory(text) and not any(map(_NUMBERED.search, answers)):
        return rule_answer(TEXTS["step.no_list"].in_language(language))
    if wish is None or not listed:
        return None
    if not (wish.numbers or wish.about or wish.every):
        return step((READ, {"after": max(listed)})) if listed_facts(answers[0]) else None
    numbers = _named(wish, listed, listed_facts(answers[0]))
    if missing := [number for number in numbers if number not in listed]:
        return rule_answer(TEXTS["step.no_number"].in_language(language).format(number=missing[0]))
    facts = [listed[number] for number in numbers]
    if wish.text == "" or not facts:
        return step(*((FORGET, {"about": fact_id(one)}) for one in facts)) if facts else None
    new = completed_fact(facts[0], wish.text) if wish.text else None
    if new is None:
        return rule_answer(TEXTS["step.in_full"].in_language(language).format(number=numbers[0]))
    return step((REMEMBER, {"note": new, "instead": facts[0]}))


def _named(wish: ListWish, listed: Mapping[int, str], newest: Mapping[int, str]) -> tuple[int, ...]:
    """The numbers of the facts that are meant; all of them only where the newest answer is the list."""
    if wish.every:
        return tuple(newest)
    if wish.about:
        found = tuple(number for number, fact in listed.items() if _stems(wish.about) & _stems(fact))
        return found if len(found) == 1 else ()
    return tuple(max(listed) if number == LAST else number for number in wish.numbers)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{3,}", plain(text))}


def _listed(answers: Sequence[str]) -> dict[int, str]:
    """The facts that the answers told, by their numbers: the newest list, with all its pages; none where another list
    is newer."""
    found: dict[int, str] = {}
    for answer in answers:
        page = listed_facts(answer)
        found = {**page, **found}
        if 1 in found or (not page and _NUMBERED.search(answer)):
            break
    return found


def undo_step(text: str, answers: Sequence[str], language: Language) -> ModelAnswer | None:
    """The call that takes back the newest change of memory in the newest answers (`recent_answers`), if the user's
    words ask for that."""
    tries = (_undone(text, answer, language, later=place > 0) for place, answer in enumerate(answers))
    return next((found for found in tries if found), None)


def _undone(text: str, answer: str, language: Language, *, later: bool) -> ModelAnswer | None:
    for spoken in get_args(Language):
        before, after = TEXTS["step.noted"].in_language(spoken).split("{note}")
        notes = re.findall(rf"^{re.escape(before)}(.+){re.escape(after)}$", answer, re.M)
        if notes and is_undo(text, later=later):
            return step(*((FORGET, {"note": note}) for note in notes))
        before, after = TEXTS["step.forgotten"].in_language(spoken).split("{texts}")
        begun = (before, TEXTS["step.forgotten_all"].in_language(spoken))
        told = [one for one in answer.splitlines() if one.startswith(begun)]
        if told and is_undo(text, forgotten=True, later=later):
            opening, closing = TEXTS["step.quotes"].in_language(spoken)
            first, last = before + opening, closing + after + TEXTS["step.undo"].in_language(spoken)
            lists = [one.removeprefix(first).removesuffix(last) for one in told if one.endswith(last)]
            notes = [one for facts in lists for one in facts.split(f"{closing}, {opening}")]
            if not notes:
                return rule_answer(TEXTS["step.gone"].in_language(language))
            return step(*((REMEMBER, {"note": one}) for one in notes))
    return None


def _not_found(call: TurnCall, language: Language) -> str:
    quoted = "{}".join(TEXTS["step.quotes"].in_language(language)).format(json.loads(call.arguments).get("about") or "")
    return TEXTS["step.not_found"].in_language(language).format(what=quoted)


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
        return TEXTS[f"step.memory_{'unsure' if unsure else 'away'}"].in_language(language)
    if call.tool == READ:
        return memory_in_words(data["memory"], language, int(data.get("after") or 0), int(data.get("more") or 0))
    if call.tool == REMEMBER:
        return TEXTS["step.noted"].in_language(language).format(note=data["note"])
    if call.tool == FORGET:
        if data.get("everything"):
            return TEXTS["step.forgotten_all"].in_language(language)
        values = VALUES[language]
        quoted = "{}".join(TEXTS["step.quotes"].in_language(language))
        for kind, texts in (("forgotten", data["forgotten"]), ("several", (data.get("several") or ())[:MOST_NAMED])):
            if texts:
                named = ", ".join(quoted.format(values.get(text, text)) for text in texts)
                told = TEXTS[f"step.{kind}"].in_language(language).format(texts=named)
                if restored := data.get("restored"):
                    again = ", ".join(quoted.format(text) for text in restored)
                    return told + TEXTS["step.restored"].in_language(language).format(texts=again)
                undo = TEXTS["step.undo"].in_language(language)
                return told + undo if data.get("facts") and kind == "forgotten" else told
        return None
    return None


def _decided(arguments: Fields, data: Fields, error: Fields, language: Language) -> str:
    if error:
        # Only who is not there has done nothing for certain; any other silence may hide a decision that was made.
        kinds = {"CONFLICT": "changed", "NOT_FOUND": "none", "UNAVAILABLE": "away", "UNAUTHORIZED": "away"}
        kind = kinds.get(str(error.get("code")), "unsure")
        return TEXTS[f"step.{kind}"].in_language(language)
    if "pending" in data:
        waiting = [cast("Fields", one) for one in data["pending"]]
        if not waiting:
            return TEXTS["step.none"].in_language(language)
        lines = [f"{number}. {one['summary']}" for number, one in enumerate(waiting, start=1)]
        return "\n".join([TEXTS["step.which"].in_language(language), *lines])
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
    told = TEXTS[f"step.{kind}"].in_language(language).format(**fields)
    rest = "; ".join(cast("Fields", one)["summary"] for one in data.get("rest") or ())
    return " ".join([told, TEXTS["step.rest"].in_language(language).format(rest=rest)]) if rest else told


def _reason(details: Fields, language: Language) -> str:
    reason = str(details.get("reason") or "?")
    text = TEXTS.section("step.reasons").get(reason)
    return text.in_language(language) if text else reason
