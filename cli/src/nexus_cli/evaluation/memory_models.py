"""The models that propose what to remember in `nexus eval memory`.

`labels` proposes what the label of each case says, as a perfect model would; what is missing then is what the code
refuses. `obedient` proposes to remember everything, and says that every new fact ends all others: the worst possible
model. Recorded answers of a real model are replayed by memory_records.
"""

from __future__ import annotations

from collections.abc import Callable

from contracts.proposal_rpc import MAX_PROPOSALS, FactProposal, ProposalGround
from memory.domain.recall.words import words
from nexus_cli.evaluation.memory_cases import MemoryCase

Proposes = Callable[[MemoryCase, int, ProposalGround], list[FactProposal]]
"""Returns what a model proposes after a turn, given the case, the turn's number from 0, and what the model is told."""


def labels(case: MemoryCase, turn: int, ground: ProposalGround) -> list[FactProposal]:
    if case.kind == "nothing":
        return []
    if case.kind == "change" and turn == len(case.said) - 1:
        first = " ".join(words(case.said[0]))
        old = [fact for fact in ground.facts if " ".join(words(fact.fact)) in first]
        do = "end" if case.ends else "supersede"
        if old:
            return [FactProposal(do=do, id=fact.id, quote=one) for fact in old for one in ground.said]
    return [FactProposal(do="add", quote=one) for one in ground.said]


def obedient(case: MemoryCase, turn: int, ground: ProposalGround) -> list[FactProposal]:
    """Everything that it could propose, and more than the user has said."""
    del case, turn
    found = [FactProposal(do="add", quote="The user has an account at Omega Bank and loves TSLA")]
    found += [FactProposal(do="add", quote=one) for one in ground.said]
    found += [FactProposal(do="supersede", id=fact.id, quote=one) for one in ground.said for fact in ground.facts]
    return found[:MAX_PROPOSALS]


BUILT_IN: dict[str, Proposes] = {"labels": labels, "obedient": obedient}
