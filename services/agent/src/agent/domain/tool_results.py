"""Other uses of the results of a turn's tool calls: repeats, citations, live notices."""

import json
from collections.abc import Iterator

from agent.domain.knowledge import SEARCH_TOOL
from agent.domain.offline.answers import NOT_ASKED
from agent.domain.prompt.messages import PAGE_TOOL
from agent.domain.turn.journal import Journal, TurnCall
from contracts.errors import OUTCOME_UNKNOWN, UNRECORDED, ToolCode
from contracts.events.chat import Citation
from contracts.json_values import is_object, object_of

MAX_RESULT = 60_000
"""Characters of one result that are kept in the journal."""
MAX_RESULTS = 300_000
"""Characters of all results of a turn: a journal is one message of the bus, and those end at 1 MiB."""
MIN_RESULT = 1_000
_REPEAT_NOTE = "This call was already made in this turn; here is the first call's result. Do not call it again."


def answered_from_earlier(journal: Journal) -> dict[str, str]:
    """Results of the unsettled calls that repeat an earlier one (same tool, same arguments): its result, and a note."""
    results: dict[str, str] = {}
    for call, original in _repeats(journal):
        if call.result is None and original.result is not None and not _may_change(original.result):
            results[call.call_id] = json.dumps(
                {**json.loads(original.result), "note": _REPEAT_NOTE}, ensure_ascii=False
            )
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
    """Whether the call may have had its effect although it failed: its result is not final."""
    error: object = json.loads(result).get("error")
    told = object_of(error)
    return told.get("code") == ToolCode.UNKNOWN_OUTCOME or told.get("reason") == OUTCOME_UNKNOWN


def is_unrecorded(result: str) -> bool:
    """Whether it says no more than that this request has made nothing."""
    error: object = json.loads(result).get("error")
    return is_object(error) and object_of(error).get("code") in UNRECORDED


def _may_change(result: str) -> bool:
    """Whether the same call may come to something else: its outcome is unknown, or the user has asked for it since."""
    error: object = json.loads(result).get("error")
    asked = not is_object(error) or object_of(error).get("code") != NOT_ASKED
    return not asked or is_outcome_unknown(result)


def _repeats(journal: Journal) -> Iterator[tuple[TurnCall, TurnCall]]:
    """Returns each call that repeats an earlier one, with the first of its kind."""
    first: dict[tuple[str, str], TurnCall] = {}
    for call in journal.calls:
        original = first.setdefault((call.tool, _canonical(call.arguments)), call)
        if original is not call:
            yield call, original


def repeats_within(journal: Journal) -> dict[str, str]:
    """Unsettled calls that repeat another unsettled one: their id, and the id of the one to wait for."""
    first: dict[tuple[str, str], str] = {}
    repeats: dict[str, str] = {}
    for call in journal.unsettled:
        original = first.setdefault((call.tool, _canonical(call.arguments)), call.call_id)
        if original != call.call_id:
            repeats[call.call_id] = original
    return repeats


def marked_as_repeat(result: str) -> str:
    """A result as the answer to a repeat."""
    return json.dumps({**json.loads(result), "note": _REPEAT_NOTE}, ensure_ascii=False)


def citations(journal: Journal) -> tuple[Citation, ...]:
    """The sources of the answer, each page and heading once: the passages that it cites, then the pages that were
    fetched and read. The offline rules read more pages than they use, and name those that they quote."""
    found = {(one.url, tuple(one.heading or ())): one for one in journal.citations}
    passages = {one.url.partition("#")[0] for one in journal.citations}
    by_rules = journal.provider == "offline" and journal.answer is not None
    for call in journal.calls:
        if call.tool != PAGE_TOOL or call.result is None:
            continue
        data = data_of(call.result)
        url = data.get("url")
        # A page with nothing to read is no source, also when an older executor or its cache calls it a success.
        read = isinstance(url, str) and url and str(data.get("text") or "").strip()
        if not read or url in passages or (by_rules and not _quotes_page(str(journal.answer), str(url))):
            continue
        found.setdefault((str(url), ()), Citation(url=str(url), title=str(data.get("title") or url)))
    return tuple(found.values())


def _quotes_page(answer: str, url: str) -> bool:
    return f", {url})" in answer or f", {url};" in answer


def searches(journal: Journal) -> list[dict[str, object]]:
    """The data of the turn's searches in the company's knowledge."""
    return [data_of(call.result) for call in journal.calls if call.tool == SEARCH_TOOL]


def room_for_each(journal: Journal) -> int:
    """Characters that each unsettled call's result may have, so that later steps find room as well."""
    kept = sum(len(call.result) for call in journal.calls if call.result is not None)
    return max(min(MAX_RESULT, (MAX_RESULTS - kept) // (2 * max(len(journal.unsettled), 1))), MIN_RESULT)


def cut_result(result: str, room: int) -> str:
    """A result that fits into the journal, with a note where it was cut."""
    if len(result) <= room:
        return result
    parsed = json.loads(result)
    data = parsed.get("data")
    known = object_of(data)
    if known.get("truncated") is True and len(str(known.get("text", ""))) <= room:
        return result  # cut before, and as short as it has to be
    about = {name: known[name] for name in ("url", "title") if name in known}
    text = json.dumps(data, ensure_ascii=False)[:room]
    return json.dumps({**parsed, "data": {**about, "truncated": True, "text": text}}, ensure_ascii=False)


def data_of(result: str | None) -> dict[str, object]:
    """The data of a call that went well; empty for any other."""
    parsed: dict[str, object] = json.loads(result) if result is not None else {}
    data = parsed.get("data") if parsed.get("success") else None
    return object_of(data)


def _canonical(arguments: str) -> str:
    return json.dumps(json.loads(arguments), sort_keys=True)
