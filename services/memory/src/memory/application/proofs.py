"""After a customer's turn: what a model may rest its proposals on, and what of them the customer's words prove.

The turn is learned from by the rules first, so that a model is shown what they have understood already.
"""

from dataclasses import dataclass
from datetime import datetime

from contracts.proposal_rpc import AnsweredTurn, ProposalGround, ProposalsJudged, ProposalsRequest
from memory.adapters.chat_log import StreamLog
from memory.application.history import HistoryReader
from memory.application.learner import Learner
from memory.application.memories import Memories
from memory.domain.keys import LogPosition
from memory.domain.proposals import Judged, ground, is_judged, judged, may_state_facts
from memory.domain.remembered import Remembered
from memory.errors import ServiceUnavailableError


@dataclass(frozen=True, slots=True)
class _Heard:
    """A customer's turn in which something was told. `texts`: each with its place in the log."""

    user: str
    texts: tuple[tuple[LogPosition, str], ...]
    at: datetime

    def since(self, forgotten: LogPosition) -> list[str]:
        return [text for position, text in self.texts if position > forgotten]


class Proofs:
    """Proposals of a model, held against what its user wrote."""

    def __init__(self, *, learner: Learner, memories: Memories, histories: HistoryReader, log: StreamLog) -> None:
        self._learner = learner
        self._memories = memories
        self._histories = histories
        self._log = log

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        """What may be proposed about a turn. The rules learn from the turn first.

        Raises:
            StoreUnavailableError, ProjectionBehindError, UnknownSequenceError: all worth another try.
        """
        heard = await self._heard(turn)
        if heard is None:
            return ProposalGround(said=[])
        held = await self._learned(turn, heard)
        if is_judged(held, turn.turn_id):
            return ProposalGround(said=[])
        return ground(held.memory, heard.since(held.forgotten_up_to))

    async def judge(self, request: ProposalsRequest) -> ProposalsJudged:
        """Takes the proposals that are proven, once for each turn; raises as `ground` does."""
        heard = await self._heard(request)
        if heard is None:
            return ProposalsJudged(accepted=0)
        await self._learned(request, heard)
        last: list[Judged] = []

        def take(held: Remembered) -> Remembered:
            last[:] = [judged(held, request.turn_id, heard.at, heard.since(held.forgotten_up_to), request.proposals)]
            return last[0].state

        before, after = await self._memories.change(request.company_id, heard.user, take, turn=request.turn_id)
        if before is after:
            return ProposalsJudged(accepted=0)
        refused = list(last[0].refused)
        return ProposalsJudged(accepted=len(request.proposals) - len(refused), refused=refused)

    async def _heard(self, turn: AnsweredTurn) -> _Heard | None:
        found = await self._learner.unanswered_messages(turn.company_id, turn.conversation_id, turn.basis)
        if found is None:
            return None
        user, said = found
        if not may_state_facts([one.text for one in said]):
            return None  # most turns only ask: nothing more is read for them
        answer = await self._histories.newest(turn.company_id, turn.conversation_id, turn.answered, 1, exact=True)
        if not answer.messages or answer.messages[-1].turn_id != turn.turn_id:
            return None
        texts = tuple((LogPosition(self._log.era, one.seq), one.text) for one in said)
        return _Heard(user, texts, answer.messages[-1].created_at)

    async def _learned(self, turn: AnsweredTurn, heard: _Heard) -> Remembered:
        """What is remembered once the rules have learned the turn, if they can now."""
        held = await self._memories.held(turn.company_id, heard.user)
        if turn.turn_id not in held.learned:
            try:
                await self._learner.turn(
                    turn.company_id, turn.conversation_id, turn.turn_id, turn.basis, heard.at, patient=True
                )
            except ServiceUnavailableError:
                # The rules wait for it, on account of the turn's symbols; what is proposed speaks of no prices.
                return held
            held = await self._memories.held(turn.company_id, heard.user)
        return held
