"""What a small model proposes to remember of a customer after their turn. Memory shows what it may rest on, and takes
what the customer's own words prove; it calls no model itself.
"""

from typing import Literal

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.memory_rpc import QUEUE
from contracts.rpc import Method, Rpc

MOST_PROPOSALS = 20
MOST_KNOWN = 20
"""Facts that a model is shown."""


class AnsweredTurn(Wire):
    """A turn of a customer that has been answered. `basis`: the sequence of the message that was answered; `answered`:
    of the answer, both in the stream CHAT."""

    company_id: CompanyId
    conversation_id: Id
    turn_id: Id
    basis: int = Field(ge=1)
    answered: int = Field(ge=1)


class KnownFact(Wire):
    """A fact that stands as true, in the user's words, and what it is called."""

    id: str
    fact: str


class ProposalGround(Wire):
    """`said`: the user's own statements in the turn that may tell something lasting; empty: there is nothing to
    propose, or it has been proposed. `facts`: those that it may touch, found by search, at most 20."""

    said: list[str]
    facts: list[KnownFact] = Field(default_factory=list[KnownFact])


class FactProposal(Wire):
    """One change. `quote`: the user's exact words that it rests on. add: they are remembered. end: the fact `id` is so
    no longer. supersede: what `fact` says (words of the quote; None: all of it) takes the place of the fact `id`."""

    do: Literal["add", "end", "supersede"]
    quote: str = Field(min_length=1, max_length=1_000)
    id: str | None = Field(default=None, max_length=64)
    fact: str | None = Field(default=None, min_length=1, max_length=500)


class ProposalsRequest(AnsweredTurn):
    """What the model proposes after a turn. A turn's proposals count once: what comes again changes nothing."""

    proposals: list[FactProposal] = Field(max_length=MOST_PROPOSALS)


class ProposalsJudged(Wire):
    """How many were taken, and for each of the others why not: not_said, no_kind, no_such_fact, other_thing, both_true,
    not_over, newer, known or forgotten."""

    accepted: int = Field(ge=0)
    refused: list[str] = Field(default_factory=list[str])


PROPOSAL_GROUND = Rpc("rpc.memory.long_term.ground.v1", AnsweredTurn, ProposalGround, queue=QUEUE)
# A turn's proposals sent again are known by the turn.
PROPOSE = Rpc("rpc.memory.long_term.propose.v1", ProposalsRequest, ProposalsJudged, queue=QUEUE)

METHODS: tuple[Method, ...] = (PROPOSAL_GROUND, PROPOSE)
