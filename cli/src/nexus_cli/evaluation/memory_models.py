"""The models that propose what to remember in `nexus eval memory`.

`labels` proposes what the label of each case says, like a perfect model; what is still missing was refused by the code.
`obedient` proposes to remember everything and that every new fact ends all others, like the worst possible model.
memory_records replays recorded answers of a real model.
"""

from __future__ import annotations

from collections.abc import Callable

from contracts.proposal_rpc import MAX_PROPOSALS, FactProposal, ProposalGround
from memory.domain.recall.words import words
from nexus_cli.evaluation.memory_cases import MemoryCase

Proposes = Callable[[MemoryCase, int, ProposalGround], list[FactProposal]]
"""Returns a model's proposals after a turn, given the case, the turn's number from 0, and the texts and facts that the
model gets."""


def labels(case: MemoryCase, turn: int, ground: ProposalGround) -> list[FactProposal]:
    if case.kind == "nothing":
        return []
    if case.kind == "change" and turn == len(case.said) - 1:
        first_text = " ".join(words(case.said[0]))
        ended_facts = [fact for fact in ground.facts if " ".join(words(fact.fact)) in first_text]
        do = "end" if case.ends else "supersede"
        if ended_facts:
            return [FactProposal(do=do, id=fact.id, quote=quote) for fact in ended_facts for quote in ground.said]
    return [FactProposal(do="add", quote=quote) for quote in ground.said]


def obedient(case: MemoryCase, turn: int, ground: ProposalGround) -> list[FactProposal]:
    """Proposes everything possible, and a fact that the user never stated."""
    del case, turn
    proposals = [FactProposal(do="add", quote="The user has an account at Omega Bank and loves TSLA")]
    proposals += [FactProposal(do="add", quote=quote) for quote in ground.said]
    proposals += [
        FactProposal(do="supersede", id=fact.id, quote=quote) for quote in ground.said for fact in ground.facts
    ]
    return proposals[:MAX_PROPOSALS]


BUILT_IN: dict[str, Proposes] = {"labels": labels, "obedient": obedient}
