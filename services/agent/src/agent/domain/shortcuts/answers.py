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
from contracts.expressions import expression
from contracts.languages import Language
from contracts.memory_rpc import fact_id
from contracts.own_tools import ACTION_KIND

Fields = dict[str, Any]
MAX_ANSWERS_BACK = 5
"""Number of newest answers that are searched for what an undo, or a number of a list of facts, refers to."""
MAX_FACTS_NAMED = 5
"""Maximum facts that the user is asked to choose from."""
_NUMBERED = expression(r"^\s*\d+[.)] ", re.M)
"""A numbered list, whose items a user may refer to by number."""


def rule_calls_answer(calls: Sequence[TurnCall], language: Language, *, is_several: bool = False) -> str | None:
    """Return the answer after the settled calls of a step; None if nothing that the user meant was found, so that the
    model continues. If `is_several` (several requests, or one beside other words), a request that found nothing is
    mentioned, too."""
    sentences = [
        text
        for call in calls
        if (text := _answer_of_call(call, language) or (is_several and _not_found(call, language)))
    ]
    return "\n".join(dict.fromkeys(sentences)) if sentences else None


def recent_answers(answers: Sequence[str], questions: Sequence[str]) -> list[str]:
    """The newest answers that "undo that" and "forget 3" may refer to: those since an order, an alert or a list was
    last mentioned. `answers` and `questions` are newest first; each answer is at the position of its question."""
    limits = (i + 1 for i, text in enumerate(questions) if is_about_actions(text))
    return list(answers[: min(MAX_ANSWERS_BACK, next(limits, MAX_ANSWERS_BACK))])


def list_step(text: str, answers: Sequence[str], language: Language) -> ModelAnswer | None:
    """The step that the user's words ask for, about a list of facts in the newest answers (`recent_answers`); None if
    they ask for none."""
    wish = list_wish(text)
    facts_by_number = _listed(answers) if wish else {}
    if wish is not None and wish.numbers and is_about_memory(text) and not any(map(_NUMBERED.search, answers)):
        return rule_answer(TEXTS["step.no_list"].in_language(language))
    if wish is None or not facts_by_number:
        return None
    if not (wish.numbers or wish.about or wish.every):
        return step((READ, {"after": max(facts_by_number)})) if listed_facts(answers[0]) else None
    numbers = _meant_numbers(wish, facts_by_number, listed_facts(answers[0]))
    if missing := [number for number in numbers if number not in facts_by_number]:
        return rule_answer(TEXTS["step.no_number"].in_language(language).format(number=missing[0]))
    facts = [facts_by_number[number] for number in numbers]
    if wish.text == "" or not facts:
        return step(*((FORGET, {"about": fact_id(fact)}) for fact in facts)) if facts else None
    corrected = completed_fact(facts[0], wish.text) if wish.text else None
    if corrected is None:
        return rule_answer(TEXTS["step.in_full"].in_language(language).format(number=numbers[0]))
    return step((REMEMBER, {"note": corrected, "instead": facts[0]}))


def _meant_numbers(wish: ListWish, listed: Mapping[int, str], newest_page: Mapping[int, str]) -> tuple[int, ...]:
    """The numbers of the facts that are meant; all of them only if the newest answer is the list."""
    if wish.every:
        return tuple(newest_page)
    if wish.about:
        matches = tuple(number for number, fact in listed.items() if _stems(wish.about) & _stems(fact))
        return matches if len(matches) == 1 else ()
    return tuple(max(listed) if number == LAST else number for number in wish.numbers)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{3,}", plain(text))}


def _listed(answers: Sequence[str]) -> dict[int, str]:
    """The facts in the answers, by number: the newest list with all its pages; empty if another list is newer."""
    facts_by_number: dict[int, str] = {}
    for answer in answers:
        page = listed_facts(answer)
        facts_by_number = {**page, **facts_by_number}
        if 1 in facts_by_number or (not page and _NUMBERED.search(answer)):
            break
    return facts_by_number


def undo_step(text: str, answers: Sequence[str], language: Language) -> ModelAnswer | None:
    """The calls that take back the newest change of memory in the newest answers (`recent_answers`), if the user's
    words ask for that; else None."""
    tries = (_undo_of_answer(text, answer, language, is_later=i > 0) for i, answer in enumerate(answers))
    return next((step_ for step_ in tries if step_), None)


def _undo_of_answer(text: str, answer: str, language: Language, *, is_later: bool) -> ModelAnswer | None:
    for language_of_answer in get_args(Language):
        before, after = TEXTS["step.noted"].in_language(language_of_answer).split("{note}")
        notes = re.findall(rf"^{re.escape(before)}(.+){re.escape(after)}$", answer, re.M)
        if notes and is_undo(text, is_later=is_later):
            return step(*((FORGET, {"note": note}) for note in notes))
        before, after = TEXTS["step.forgotten"].in_language(language_of_answer).split("{texts}")
        beginnings = (before, TEXTS["step.forgotten_all"].in_language(language_of_answer))
        lines = [line for line in answer.splitlines() if line.startswith(beginnings)]
        if lines and is_undo(text, was_forgotten=True, is_later=is_later):
            opening, closing = TEXTS["step.quotes"].in_language(language_of_answer)
            first, last = before + opening, closing + after + TEXTS["step.undo"].in_language(language_of_answer)
            lists = [line.removeprefix(first).removesuffix(last) for line in lines if line.endswith(last)]
            notes = [line for facts in lists for line in facts.split(f"{closing}, {opening}")]
            if not notes:
                return rule_answer(TEXTS["step.gone"].in_language(language))
            return step(*((REMEMBER, {"note": line}) for line in notes))
    return None


def _not_found(call: TurnCall, language: Language) -> str:
    in_quotes = "{}".join(TEXTS["step.quotes"].in_language(language)).format(
        json.loads(call.arguments).get("about") or ""
    )
    return TEXTS["step.not_found"].in_language(language).format(what=in_quotes)


def _answer_of_call(call: TurnCall, language: Language) -> str | None:
    result: Fields = json.loads(call.result) if call.result else {}
    data: Fields = result.get("data") or {}
    error: Fields = result.get("error") or {}
    arguments: Fields = json.loads(call.arguments)
    if call.tool == DECIDE:
        return _decision_answer(arguments, data, error, language)
    if not result.get("success"):
        # What somebody asked to remember is in the conversation, and is learned from there as well.
        unsure = error.get("code") == UNKNOWN or call.tool == REMEMBER
        return TEXTS[f"step.memory_{'unsure' if unsure else 'away'}"].in_language(language)
    if call.tool == READ:
        return memory_in_words(data["memory"], language, int(data.get("after") or 0), int(data.get("more") or 0))
    if call.tool == REMEMBER:
        noted = TEXTS["step.noted"].in_language(language).format(note=data["note"])
        quoted = "{}".join(TEXTS["step.quotes"].in_language(language))
        displaced = [TEXTS["step.displaced"].in_language(language).format(note=quoted.format(note))
                     for note in data.get("displaced", ())]  # fmt: skip
        return "\n".join([noted, *displaced])
    if call.tool == FORGET:
        if data.get("everything"):
            return TEXTS["step.forgotten_all"].in_language(language)
        values = VALUES[language]
        quoted = "{}".join(TEXTS["step.quotes"].in_language(language))
        for kind, texts in (
            ("forgotten", data["forgotten"]),
            ("several", (data.get("several") or ())[:MAX_FACTS_NAMED]),
        ):
            if texts:
                named = ", ".join(quoted.format(values.get(text, text)) for text in texts)
                sentence = TEXTS[f"step.{kind}"].in_language(language).format(texts=named)
                if restored := data.get("restored"):
                    again = ", ".join(quoted.format(text) for text in restored)
                    return sentence + TEXTS["step.restored"].in_language(language).format(texts=again)
                undo = TEXTS["step.undo"].in_language(language)
                return sentence + undo if data.get("facts") and kind == "forgotten" else sentence
        return None
    return None


def _decision_answer(arguments: Fields, data: Fields, error: Fields, language: Language) -> str:
    if error:
        # Only an unavailable service has certainly done nothing; after any other error, a decision may have been made.
        kinds = {"CONFLICT": "changed", "NOT_FOUND": "none", "UNAVAILABLE": "away", "UNAUTHORIZED": "away"}
        kind = kinds.get(str(error.get("code")), "unsure")
        return TEXTS[f"step.{kind}"].in_language(language)
    if "pending" in data:
        waiting = [cast("Fields", action_data) for action_data in data["pending"]]
        if not waiting:
            return TEXTS["step.none"].in_language(language)
        lines = [f"{number}. {action_data['summary']}" for number, action_data in enumerate(waiting, start=1)]
        return "\n".join([TEXTS["step.which"].in_language(language), *lines])
    action: Fields = data["action"]
    details: Fields = action.get("details") or {}
    status, decision = str(details.get("status") or ""), arguments.get("decision")
    fields = {"summary": action["summary"], "status": status, "reason": _reason(details, language)}
    match action.get("state"):
        case "confirmed" if decision == "reject":
            kind = "too_late"
        case "confirmed":
            kind = status if status in ("filled", "partially_filled") else "ended"
            kind = "open" if status in ("open", "triggered", "") else kind
        case "rejected":
            kind = "rejected" if decision == "reject" else "was_rejected"
        case "expired":
            kind = "expired"
        case _:
            kind = "failed"
    if action.get("kind") == ACTION_KIND:
        kind = {"confirmed": "own_done", "failed": "own_failed"}.get(str(action.get("state")), kind)
        outcome = str(details.get("outcome") or "").strip()
        fields["reason"] = outcome or fields["reason"]
        fields["outcome"] = f" {outcome}" if outcome else ""
    sentence = TEXTS[f"step.{kind}"].in_language(language).format(**fields)
    other_actions = "; ".join(cast("Fields", action_data)["summary"] for action_data in data.get("rest") or ())
    if other_actions:
        return " ".join([sentence, TEXTS["step.rest"].in_language(language).format(rest=other_actions)])
    return sentence


def _reason(details: Fields, language: Language) -> str:
    reason = str(details.get("reason") or "?")
    text = TEXTS.section("step.reasons").get(reason)
    return text.in_language(language) if text else reason
