"""A small model's proposals of what to remember about a customer after a turn. Memory supplies the material and
accepts only what the customer's own words prove; it calls no model itself."""

from typing import Literal

from pydantic import Field

from contracts import agent_rpc
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.memory_rpc import QUEUE
from contracts.rpc import Rpc

MAX_PROPOSALS = 20
MAX_KNOWN_FACTS = 20
"""The maximum number of facts that the model is shown."""


class AnsweredTurn(Wire):
    """An answered turn of a customer. Sequences in the stream CHAT: `basis` of the answered message, `answered` of
    the answer."""

    company_id: CompanyId
    conversation_id: Id
    turn_id: Id
    basis: int = Field(ge=1)
    answered: int = Field(ge=1)


class UnproposedTurn(AnsweredTurn):
    """An answered turn of `user_id` about which an agent shall have its small model propose."""

    user_id: Id


class TurnProposed(Wire):
    """`done` is false if it shall be asked again later: the model or memory did not answer, or the agent is busy."""

    done: bool


class KnownFact(Wire):
    """A fact that is currently true, in the user's words, and its id."""

    id: str
    fact: str


class ProposalGround(Wire):
    """`said`: the user's statements in the turn that may hold something lasting; empty if there are none, or
    proposals were already made. `facts`: known facts that they may affect, found by search, at most 20."""

    said: list[str]
    facts: list[KnownFact] = Field(default_factory=list[KnownFact])


class FactProposal(Wire):
    """One proposed change. `quote`: the user's exact words that prove it. add: remember them. end: the fact `id` is
    no longer true. supersede: what `fact` says (words of the quote; None: all of it) replaces the fact `id`."""

    do: Literal["add", "end", "supersede"]
    quote: str = Field(min_length=1, max_length=1_000)
    id: str | None = Field(default=None, max_length=64)
    fact: str | None = Field(default=None, min_length=1, max_length=500)


class ProposalsRequest(AnsweredTurn):
    """The model's proposals after a turn. Each turn's count once; a repeat changes nothing."""

    proposals: list[FactProposal] = Field(max_length=MAX_PROPOSALS)


class ProposalsJudged(Wire):
    """The number of accepted proposals, and the reasons why the others were refused: not_said, no_kind, no_such_fact,
    other_thing, both_true, not_over, newer, known or forgotten."""

    accepted: int = Field(ge=0)
    refused: list[str] = Field(default_factory=list[str])


PROPOSAL_GROUND = Rpc("rpc.memory.long_term.ground.v1", AnsweredTurn, ProposalGround, queue=QUEUE)
# Safe to repeat: a turn's proposals count once.
PROPOSE = Rpc("rpc.memory.long_term.propose.v1", ProposalsRequest, ProposalsJudged, queue=QUEUE)
# Not safe to repeat: each call may cost tokens.
PROPOSE_LATE = Rpc("rpc.agent.propose.v1", UnproposedTurn, TurnProposed, queue=agent_rpc.QUEUE, safe=False)
