"""Other uses of the results of a turn's tool calls: repeats, citations, live notices."""

import json
from collections.abc import Iterator

from agent.domain.knowledge import SEARCH_TOOL
from agent.domain.offline.answers import NOT_ASKED
from agent.domain.prompt.messages import PAGE_TOOL
from agent.domain.turn.journal import Journal, TurnCall
from contracts.errors import OUTCOME_UNKNOWN, UNRECORDED, ToolCode
from contracts.events.chat import Citation
from contracts.json_values import JsonObject, object_of

MAX_RESULT = 60_000
"""Characters of one result that are kept in the journal."""
MAX_RESULTS = 300_000
"""Characters of all results of a turn. A journal is one message of the bus, whose limit is 1 MiB."""
MIN_RESULT = 1_000
_REPEAT_NOTE = "This call was already made in this turn; here is the first call's result. Do not call it again."


def answered_from_earlier(journal: Journal) -> dict[str, str]:
    """Results for unsettled calls that repeat an earlier call (same tool and arguments): its result, with a note."""
    results: dict[str, str] = {}
    for call, original in _repeats(journal):
        if call.result is None and original.result is not None and not _may_change(original.result):
            results[call.call_id] = marked_as_repeat(original.result)
    return results


def asked_again(journal: Journal) -> dict[str, TurnCall]:
    """Unsettled calls that repeat an earlier call with an unknown outcome, each with that call. The earlier call is
    requested again under its own id, which returns its outcome; under a new id the effect could happen twice."""
    return {
        call.call_id: original
        for call, original in _repeats(journal)
        if call.result is None and original.result is not None and is_outcome_unknown(original.result)
    }


def is_outcome_unknown(result: str) -> bool:
    """Whether the call failed but may have had its effect, so that its result is not final."""
    details = _error_of(result)
    return details.get("code") == ToolCode.UNKNOWN_OUTCOME or details.get("reason") == OUTCOME_UNKNOWN


def is_unrecorded(result: str) -> bool:
    """Whether the error only says that this request had no effect."""
    return _error_of(result).get("code") in UNRECORDED


def _error_of(result: str) -> JsonObject:
    return object_of(json.loads(result).get("error"))


def _may_change(result: str) -> bool:
    """Whether the same call may return something else: its outcome is unknown, or the user may have asked for it
    since."""
    return _error_of(result).get("code") == NOT_ASKED or is_outcome_unknown(result)


def _repeats(journal: Journal) -> Iterator[tuple[TurnCall, TurnCall]]:
    """Yields each call that repeats an earlier one, with the first of its kind."""
    first: dict[tuple[str, str], TurnCall] = {}
    for call in journal.calls:
        original = first.setdefault((call.tool, canonical(call.arguments)), call)
        if original is not call:
            yield call, original


def repeats_within(journal: Journal) -> dict[str, str]:
    """The ids of unsettled calls that repeat another unsettled one, with the id of the call to wait for."""
    first: dict[tuple[str, str], str] = {}
    repeats: dict[str, str] = {}
    for call in journal.unsettled:
        original = first.setdefault((call.tool, canonical(call.arguments)), call.call_id)
        if original != call.call_id:
            repeats[call.call_id] = original
    return repeats


def marked_as_repeat(result: str) -> str:
    """The result for a repeated call, with a note."""
    return json.dumps({**json.loads(result), "note": _REPEAT_NOTE}, ensure_ascii=False)


def citations(journal: Journal) -> tuple[Citation, ...]:
    """The sources of the answer, each page and heading once: the passages that it cites, then the pages that were
    fetched. The offline rules read more pages than they use, so only those that they quote count."""
    by_place = {(citation.url, tuple(citation.heading or ())): citation for citation in journal.citations}
    passages = {citation.url.partition("#")[0] for citation in journal.citations}
    by_rules = journal.provider == "offline" and journal.answer is not None
    for call in journal.calls:
        if call.tool != PAGE_TOOL or call.result is None:
            continue
        data = data_of(call.result)
        url = data.get("url")
        # A page without text is no source, even if an older executor or its cache calls it a success.
        has_text = isinstance(url, str) and url and str(data.get("text") or "").strip()
        if not has_text or url in passages or (by_rules and not _quotes_page(str(journal.answer), str(url))):
            continue
        by_place.setdefault((str(url), ()), Citation(url=str(url), title=str(data.get("title") or url)))
    return tuple(by_place.values())


def _quotes_page(answer: str, url: str) -> bool:
    return f", {url})" in answer or f", {url};" in answer


def searches(journal: Journal) -> list[dict[str, object]]:
    """The data of the turn's searches in the company's knowledge."""
    return [data_of(call.result) for call in journal.calls if call.tool == SEARCH_TOOL]


def room_for_each(journal: Journal) -> int:
    """Characters that each unsettled call's result may have, so that there is room for later steps."""
    used = sum(len(call.result) for call in journal.calls if call.result is not None)
    return max(min(MAX_RESULT, (MAX_RESULTS - used) // (2 * max(len(journal.unsettled), 1))), MIN_RESULT)


def cut_result(result: str, room: int) -> str:
    """The result, cut to `room` characters of data if it is longer, and marked as truncated."""
    if len(result) <= room:
        return result
    parsed = json.loads(result)
    data = parsed.get("data")
    fields = object_of(data)
    if fields.get("truncated") is True and len(str(fields.get("text", ""))) <= room:
        return result  # already cut, and short enough
    identification = {name: fields[name] for name in ("url", "title") if name in fields}
    text = json.dumps(data, ensure_ascii=False)[:room]
    return json.dumps({**parsed, "data": {**identification, "truncated": True, "text": text}}, ensure_ascii=False)


def data_of(result: str | None) -> dict[str, object]:
    """The data of a successful call; empty for any other."""
    parsed: dict[str, object] = json.loads(result) if result is not None else {}
    data = parsed.get("data") if parsed.get("success") else None
    return object_of(data)


def canonical(arguments: str) -> str:
    """Arguments in a form that can be compared."""
    return json.dumps(json.loads(arguments), sort_keys=True)
