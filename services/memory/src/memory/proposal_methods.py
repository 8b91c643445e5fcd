"""What the agent asks after a customer's turn: what may be proposed about it, and what of a model's proposals "
"counts."""

from contracts.proposal_rpc import PROPOSAL_GROUND, PROPOSE
from memory.application.proofs import Proofs
from memory.handlers import answering
from runtime.service import Service


def serve(service: Service, proofs: Proofs) -> None:
    """Both methods."""
    service.serve(PROPOSAL_GROUND, answering(proofs.ground))
    service.serve(PROPOSE, answering(proofs.judge))
