"""Records in memory which pages load a company's chat, so that an admin sees that the tag is on their page."""

import structlog

from contracts.company_rpc import SIGHTING_NOTE, SIGHTINGS, CompanyRequest, Sighting, SightingNoted
from gateway.adapters.service_calls import ask
from gateway.errors import GatewayError
from runtime.calls.rpc import RpcClient
from runtime.clock import Clock
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

REPEAT_SECONDS = 60.0
"""Seconds before this process records the same origin again."""
MAX_REMEMBERED = 4096


class BusSightings:
    """Records and lists sightings."""

    def __init__(self, rpc: RpcClient, clock: Clock) -> None:
        self._rpc = rpc
        self._clock = clock
        self._recorded = Bounded[tuple[str, str], float](MAX_REMEMBERED)

    async def note(self, company: str, origin: str) -> None:
        """Records that a page of this origin has loaded the chat; the record may be lost."""
        key, now = (company, origin), self._clock.monotonic()
        if now - self._recorded.get(key, float("-inf")) < REPEAT_SECONDS:
            return
        self._recorded[key] = now
        try:
            await ask(self._rpc, SIGHTING_NOTE, SightingNoted(company_id=company, origin=origin))
        except GatewayError as error:
            self._recorded.pop(key, None)
            log.info("sighting.not_noted", company=company, error=error.message)

    async def of_company(self, company: str) -> list[Sighting]:
        """The company's sightings, newest first; raises UnavailableError."""
        return (await ask(self._rpc, SIGHTINGS, CompanyRequest(company_id=company))).items
