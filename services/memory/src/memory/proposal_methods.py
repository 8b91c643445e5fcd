"""The methods that let a small model propose what to remember about a customer after a turn."""

from contracts.proposal_rpc import PROPOSAL_GROUND, PROPOSE
from memory.adapters.chat_log import StreamLog
from memory.application.history import HistoryReader
from memory.application.learner import Learner
from memory.application.memories import Memories
from memory.application.proofs import Proofs
from runtime.service import Service


def serve(service: Service, learner: Learner, memories: Memories, histories: HistoryReader, log: StreamLog) -> None:
    proofs = Proofs(learner=learner, memories=memories, histories=histories, log=log)
    service.serve(PROPOSAL_GROUND, proofs.ground)
    service.serve(PROPOSE, proofs.judge)
