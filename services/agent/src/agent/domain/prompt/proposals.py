"""The prompt by which a small model proposes changes to a user's remembered facts, and the parser of its answer."""

import json
from contextlib import suppress

from pydantic import ValidationError

from agent.domain.prompt.messages import task_messages
from agent.domain.texts import json_in
from agent.texts import TEXTS
from contracts.json_values import JsonObject, is_list, object_of
from contracts.languages import Language
from contracts.proposal_rpc import MAX_PROPOSALS, FactProposal, ProposalGround

MAX_CHARACTERS = 6_000
"""Characters of all statements together; the newest are kept."""
_FORM = (
    '{"changes": [{"do": "add", "quote": "…"}, {"do": "supersede", "id": "…", "quote": "…"}, '
    '{"do": "end", "id": "…", "quote": "…"}]}'
)
_NONE = '{"changes": []}'


def proposal_messages(ground: ProposalGround, language: Language) -> list[JsonObject]:
    """The messages of the model call."""
    statements: list[str] = []
    room = MAX_CHARACTERS
    for text in reversed(ground.said):
        room -= len(text)
        if room < 0:
            break
        statements.insert(0, text)
    shown = {"said": statements, "facts": [{"id": fact.id, "fact": fact.fact} for fact in ground.facts]}
    task = TEXTS["prompt.proposals"].in_language(language).format(form=_FORM, none=_NONE)
    return task_messages(task, json.dumps(shown, ensure_ascii=False))


def parse_proposals(text: str) -> list[FactProposal] | None:
    """The proposals in a model's answer, at most `MAX_PROPOSALS`; malformed ones are left out, and of an answer that
    was cut off those count that are whole. None if the answer has another format."""
    changes = object_of(json_in(text, "{}")).get("changes")
    if not is_list(changes):
        changes = _whole_changes(text)
    if changes is None:
        return None
    proposals: list[FactProposal] = []
    for change in changes:
        with suppress(ValidationError):
            proposals.append(FactProposal.model_validate(change))
    return proposals[:MAX_PROPOSALS]


def _whole_changes(text: str) -> list[object] | None:
    """The changes of an answer that ends too early; None if it has none."""
    decoder, changes = json.JSONDecoder(), list[object]()
    start = text.find("{", text.find('"changes"'))
    with suppress(ValueError, RecursionError):
        while start >= 0 and len(changes) < MAX_PROPOSALS:
            change, end = decoder.raw_decode(text, start)
            changes.append(change)
            start = text.find("{", end)
    return changes or None
