"""Publishes analysis.completed.v1 to FACTS once for each analysis; a repeat has the same id. The refusal of an
unreadable request has a different id, because the same analysis may be requested correctly a moment later."""

from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.analysis import AnalysisCompleted
from contracts.ids import derive_id
from runtime.bus.publisher import Publisher

SOURCE = "/nexus/agent"
TYPE = "analysis.completed.v1"


class AnalysisFacts:
    """Publishes the outcomes of analyses."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, outcome: AnalysisCompleted) -> None:
        """Publishes the outcome of a finished analysis; raises PublishFailedError."""
        await self._publish(outcome, "completed")

    async def refuse(self, outcome: AnalysisCompleted) -> None:
        """Publishes that a request could not be read; raises PublishFailedError."""
        await self._publish(outcome, "refused")

    async def _publish(self, outcome: AnalysisCompleted, ending: str) -> None:
        ids = (outcome.company_id, outcome.user_id, outcome.analysis_id)
        event = CloudEvent(
            id=derive_id(*ids, ending),
            source=SOURCE,
            type=TYPE,
            subject=f"{outcome.company_id}/{outcome.user_id}",
            data=outcome,
        )
        subject = channels.fact(TYPE, outcome.company_id, outcome.user_id)
        msg_id = f"{channels.analysis_msg_id(*ids)}.{ending}"
        await self._publisher.append(subject, event, stream="FACTS", msg_id=msg_id)
