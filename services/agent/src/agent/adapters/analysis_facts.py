"""analysis.completed.v1 in FACTS, once for each analysis, with an id that a repeat shares."""

from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.analysis import AnalysisCompleted, AnalysisRecord
from contracts.ids import derive_id
from runtime.publishing import Publisher

SOURCE = "/nexus/agent"
TYPE = "analysis.completed.v1"


class AnalysisFacts:
    """Outcomes."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def tell(self, record: AnalysisRecord) -> None:
        """Raises PublishFailed."""
        request = record.request
        where = (request.company_id, request.user_id, request.analysis_id)
        event = CloudEvent(
            id=derive_id(*where, "completed"),
            source=SOURCE,
            type=TYPE,
            subject=f"{request.company_id}/{request.user_id}",
            data=AnalysisCompleted(
                analysis_id=request.analysis_id,
                company_id=request.company_id,
                user_id=request.user_id,
                status="done" if record.status == "done" else "failed",
                report=record.report,
                error=record.error,
                conversation_id=request.conversation_id,
            ),
        )
        subject = channels.fact(TYPE, request.company_id, request.user_id)
        msg_id = f"{channels.analysis_msg_id(*where)}.completed"
        await self._publisher.append(subject, event, stream="FACTS", msg_id=msg_id)
