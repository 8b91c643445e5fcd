"""Checks a model's proposals of facts to remember against what the customer wrote in the turn.

The rules learn from the turn first, so that the model is shown what they have understood already.
"""

from dataclasses import dataclass
from datetime import datetime

from contracts.proposal_rpc import AnsweredTurn, ProposalGround, ProposalsJudged, ProposalsRequest
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_lessons import MongoLessons
from memory.application.history import HistoryReader
from memory.application.learner import Learner
from memory.application.memories import Memories
from memory.domain.keys import LogPosition
from memory.domain.proposals import Judged, ground, is_judged, judged, may_state_facts
from memory.domain.remembered import Remembered
from memory.errors import ServiceUnavailableError


@dataclass(frozen=True, slots=True)
class _TurnTexts:
    """A customer's messages in a turn from which something may be learned. `texts`: each with its position in the
    log."""

    user: str
    texts: tuple[tuple[LogPosition, str], ...]
    at: datetime

    def since(self, forgotten: LogPosition) -> list[str]:
        return [text for position, text in self.texts if position > forgotten]


class Proofs:
    """Supplies what a model needs to propose facts, and accepts the proposals that the user's messages prove."""

    def __init__(
        self, *, learner: Learner, lessons: MongoLessons, memories: Memories, histories: HistoryReader, log: StreamLog
    ) -> None:
        self._lessons = lessons
        self._learner = learner
        self._memories = memories
        self._histories = histories
        self._log = log

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        """Returns what proposals about a turn may be based on; empty if there is nothing to propose. The rules learn
        first.

        Raises:
            StoreUnavailableError, ProjectionBehindError, UnknownSequenceError: a retry may succeed.
        """
        turn_texts = await self._read_texts(turn)
        if turn_texts is None:
            return ProposalGround(said=[])
        memory = await self._learn(turn, turn_texts)
        if is_judged(memory, turn.turn_id):
            return ProposalGround(said=[])
        evidence = ground(memory.memory, turn_texts.since(memory.forgotten_up_to))
        if not evidence.said:
            await self._lessons.drop(turn.company_id, turn.conversation_id, turn.turn_id)
        return evidence

    async def judge(self, request: ProposalsRequest) -> ProposalsJudged:
        """Accepts the proposals that are proven, once per turn; raises as `ground` does."""
        turn_texts = await self._read_texts(request)
        if turn_texts is None:
            return ProposalsJudged(accepted=0)
        await self._learn(request, turn_texts)
        judgements: list[Judged] = []

        def take(memory: Remembered) -> Remembered:
            judgements[:] = [
                judged(
                    memory, request.turn_id, turn_texts.at, turn_texts.since(memory.forgotten_up_to), request.proposals
                )
            ]
            return judgements[0].state

        before, after = await self._memories.change(request.company_id, turn_texts.user, take, turn=request.turn_id)
        await self._lessons.drop(request.company_id, request.conversation_id, request.turn_id)
        if before is after:
            return ProposalsJudged(accepted=0)
        refused = list(judgements[0].refused)
        return ProposalsJudged(accepted=len(request.proposals) - len(refused), refused=refused)

    async def _read_texts(self, turn: AnsweredTurn) -> _TurnTexts | None:
        author_messages = await self._learner.unanswered_messages(turn.company_id, turn.conversation_id, turn.basis)
        if author_messages is None:
            return None
        user, messages = author_messages
        if not may_state_facts([message.text for message in messages]):
            return None  # most turns only ask something: nothing more is read for them
        answer = await self._histories.newest(turn.company_id, turn.conversation_id, turn.answered, 1, exact=True)
        if not answer.messages or answer.messages[-1].turn_id != turn.turn_id:
            return None
        texts = tuple((LogPosition(self._log.era, message.seq), message.text) for message in messages)
        return _TurnTexts(user, texts, answer.messages[-1].created_at)

    async def _learn(self, turn: AnsweredTurn, turn_texts: _TurnTexts) -> Remembered:
        """Lets the rules learn from the turn, if they can now, and returns what is remembered after that."""
        memory = await self._memories.held(turn.company_id, turn_texts.user)
        if turn.turn_id not in memory.learned:
            try:
                await self._learner.turn(
                    turn.company_id, turn.conversation_id, turn.turn_id, turn.basis, turn_texts.at, patient=True
                )
            except ServiceUnavailableError:
                # The rules wait for the market because of the turn's symbols; proposals contain no prices.
                return memory
            memory = await self._memories.held(turn.company_id, turn_texts.user)
        return memory
