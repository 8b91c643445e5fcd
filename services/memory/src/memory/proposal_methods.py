"""What the agent asks after a customer's turn: what may be proposed about it, and what of a model's proposals "
"counts."""

from contracts.proposal_rpc import PROPOSAL_GROUND, PROPOSE
from memory.adapters.chat_log import ChatLog
from memory.application.history import Histories
from memory.application.learning import Learner
from memory.application.memories import Memories
from memory.application.proofs import Proofs
from memory.handlers import answering
from runtime.service import Service


def serve(service: Service, learner: Learner, memories: Memories, histories: Histories, log: ChatLog) -> None:
    """Both methods."""
    proofs = Proofs(learner=learner, memories=memories, histories=histories, log=log)
    service.serve(PROPOSAL_GROUND, answering(proofs.ground))
    service.serve(PROPOSE, answering(proofs.judge))
