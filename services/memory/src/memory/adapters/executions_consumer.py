"""Every outcome of a tool call goes into the execution log: a durable pull consumer of FACTS."""

from nats.aio.client import Client
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted
from contracts.ids import NOBODY, check_company
from contracts.streams import FACTS
from memory.ports import ExecutionStore
from runtime.outcomes import DeadLetter, Done, Outcome
from runtime.pulling import Delivery, PullWorker

DURABLE = "memory-executions"
TYPE = "tools.call.completed.v1"
SLOTS = 16


def executions_consumer(client: Client, executions: ExecutionStore) -> PullWorker:
    """The worker; a store that is away is tried again, an event that fits no contract is dead-lettered at once."""

    async def record(delivery: Delivery) -> Outcome:
        try:
            event = CloudEvent[ToolCallCompleted].model_validate_json(delivery.data)
            company, user = delivery.subject.removeprefix(f"{TYPE}.").split(".")
            check_company(company)
        except (ValidationError, ValueError) as error:
            return DeadLetter(f"no outcome of a tool call: {str(error)[:300]}")
        # Whose call it was is in the subject: publishers have permission for subjects, not for what they write.
        call = event.data.model_copy(update={"company_id": company, "user_id": None if user == NOBODY else user})
        await executions.add(company, event.id, event.time, call)
        return Done()

    return PullWorker(client, FACTS.name, DURABLE, [f"{TYPE}.>"], record, slots=SLOTS, service="memory")
