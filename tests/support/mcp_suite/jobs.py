"""The diagnostic tools whose calls are tasks: what they do is the suite's own definition, kept in memory."""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import mcp_types as types

from gateway.doors.mcp.offer import Context, caller_of, principal_of
from gateway.doors.mcp.tasks import Json, accepts_tasks, tasks_required
from runtime.testing.servers import eventually
from tests.support.mcp_suite.rounds import NAME, question
from tests.support.mcp_suite.tools import TEXT, Diagnostic, Outcome, Params, Run, arguments, said

TTL_MS = 600_000
LONGEST = 60.0
"""Seconds that a client which knows no tasks is kept waiting."""


@dataclass
class Job:
    """One task: what it waits for, and what becomes of it when its time has come."""

    owner: str
    seconds: float
    ending: Callable[[Mapping[str, Any]], Json]
    asks: types.InputRequests = field(default_factory=dict[str, Any])
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    began: float = field(default_factory=time.monotonic)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    cancelled: bool = False

    @property
    def handle(self) -> Json:
        """The extension's Task, as it begins."""
        at = self.at.isoformat()
        times: Json = {"createdAt": at, "lastUpdatedAt": at, "ttlMs": TTL_MS, "pollIntervalMs": 200}
        return {"taskId": self.id, "status": "working", **times}

    def now(self) -> Json:
        """Its DetailedTask."""
        if self.cancelled:
            return self.handle | {"status": "cancelled"}
        if waits := {key: asked for key, asked in self.asks.items() if key not in self.answers}:
            told = {
                key: asked.model_dump(by_alias=True, mode="json", exclude_none=True) for key, asked in waits.items()
            }
            return self.handle | {"status": "input_required", "inputRequests": told}
        over = time.monotonic() >= self.began + self.seconds
        return self.handle | (self.ending(self.answers) if over else {})


class Jobs:
    """All of them (tasks.TaskHandlers)."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def begin(self, context: Context, job: Job) -> Json:
        """A job's handle; raises MCPError for a client that knows none."""
        if not accepts_tasks(context):
            raise tasks_required()
        self._jobs[job.id] = job
        return job.handle | {"resultType": "task"}

    async def get(self, context: Context, task_id: str) -> Json | None:
        """How it stands."""
        job = self._of(context, task_id)
        return None if job is None else job.now()

    async def update(self, context: Context, task_id: str, responses: Mapping[str, Any]) -> bool:
        """Its answers; what nobody asked is nothing."""
        if (job := self._of(context, task_id)) is None:
            return False
        job.answers |= {key: said for key, said in responses.items() if key in job.asks.keys() - job.answers.keys()}
        return True

    async def cancel(self, context: Context, task_id: str) -> bool:
        """Over, unless it was before."""
        if (job := self._of(context, task_id)) is None:
            return False
        job.cancelled = job.now()["status"] in ("working", "input_required", "cancelled")
        return True

    def _of(self, context: Context, task_id: str) -> Job | None:
        job = self._jobs.get(task_id)
        return job if job is not None and job.owner == principal_of(caller_of(context)) else None


JOBS = Jobs()


def completed(text: str, *, wrong: bool = False) -> Json:
    """The end of a job that says something."""
    result = types.CallToolResult(content=[types.TextContent(text=text)], is_error=wrong)
    return {"status": "completed", "result": result.model_dump(by_alias=True, mode="json", exclude_none=True)}


def job(seconds: float, ending: Callable[[Mapping[str, Any]], Json], **asks: types.ElicitRequest) -> Run:
    """A tool that is always a task."""

    async def run(context: Context, params: Params) -> Outcome:
        del params
        return JOBS.begin(context, Job(principal_of(caller_of(context)), seconds, ending, dict(asks)))

    return run


async def greet(context: Context, params: Params) -> Outcome:
    """Never a task."""
    del context
    return said(f"Hello, {(params.arguments or {}).get('name')}!")


async def slow_compute(context: Context, params: Params) -> Outcome:
    """A task for whoever knows them; another client waits."""
    seconds = float((params.arguments or {}).get("seconds", 0))
    job = Job(principal_of(caller_of(context)), seconds, lambda _: completed("computed"))
    if accepts_tasks(context):
        return JOBS.begin(context, job)
    await eventually(lambda: job.now()["status"] == "completed", LONGEST)
    return said("computed")


async def name_then_task(context: Context, params: Params) -> Outcome:
    """A question in rounds, and then a task that knows the answer."""
    answer = (params.input_responses or {}).get("user_name")
    if not isinstance(answer, types.ElicitResult):
        return types.InputRequiredResult(input_requests=NAME, request_state="asked")
    name = (answer.content or {}).get("name")
    return JOBS.begin(context, Job(principal_of(caller_of(context)), 0, lambda _: completed(f"Hello, {name}!")))


_FAILED: Json = {"status": "failed", "statusMessage": "it broke", "error": {"code": -32603, "message": "it broke"}}
_SURE = question("Delete it?", confirm={"type": "boolean"})
JOB_TOOLS: tuple[Diagnostic, ...] = (
    Diagnostic("greet", greet, arguments(name=TEXT)),
    Diagnostic("slow_compute", slow_compute, {"type": "object", "properties": {"seconds": {"type": "number"}}}),
    Diagnostic("failing_job", job(0.5, lambda _: completed("it went wrong", wrong=True))),
    Diagnostic("protocol_error_job", job(0.2, lambda _: _FAILED)),
    Diagnostic("confirm_delete", job(0, lambda _: completed("deleted"), confirm=_SURE), arguments(filename=TEXT)),
    Diagnostic("multi_input", job(0, lambda _: completed("all said"), first=_SURE, second=_SURE)),
    Diagnostic("test_tool_with_task", name_then_task),
)
