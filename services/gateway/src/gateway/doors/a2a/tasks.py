"""A2A's methods over conversations: a task is identified by its id, and its state is read from the log."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import orjson
from fastapi import Request

from contracts.channels import ChatKind
from contracts.conversation import AnswerRules, Fact, message_view
from contracts.conversation_rpc import ConversationsRequest, MessageView
from contracts.events.chat import ActionState, Role
from contracts.languages import Language
from gateway.chat.exchange import Exchange
from gateway.chat.thread import Thread
from gateway.domain import server_frames
from gateway.doors.a2a import request as wire
from gateway.doors.a2a.rpc import A2AError, Json, invalid, task_not_found, unsupported
from gateway.doors.a2a.task import INPUT_REQUIRED, SUBMITTED, TERMINAL, WORKING, Task, TaskName
from gateway.doors.completions.route import while_connected
from gateway.doors.translation import Tell
from gateway.errors import RefusedError, TookTooLongError
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api

DOOR = "a2a"
STOPPED_SECONDS = 5.0
"""Seconds to wait until the cancellation is read back from the log."""
QUESTION_SECONDS = 600.0
"""Seconds for which a subscription to a task that waits for its user stays open."""
MOST_CONVERSATIONS = 20
"""The caller's newest conversations whose tasks are listed."""
MOST_PAGES = 20
"""Pages of facts read of one conversation, for a list."""
_KINDS = frozenset(kind.value for kind in ChatKind)


@dataclass(frozen=True, slots=True)
class TaskStream:
    """A task as it is, the thread that has what follows (None: nothing does), and `rest`, which tells it."""

    task: Json
    thread: Thread | None
    rest: Callable[[Thread, Tell], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Tasks:
    """One caller's tasks, during one request."""

    api: Api
    caller: TokenCaller
    request: Request
    language: Language | None

    # ------------------------------------------------------------------ methods

    async def send(self, params: Mapping[str, Any]) -> Json:
        """SendMessage: the task, once it has ended, waits for its user, or was left to a person."""
        wanted = wire.read(wire.SendMessage, params)
        async with self._sent(wanted) as (task, thread):
            if thread is not None and not wanted.configuration.return_immediately:
                await while_connected(self.request, _follow(task, thread))
            return {"task": task.view(wanted.configuration.history_length)}

    async def stream(self, params: Mapping[str, Any]) -> TaskStream:
        """SendStreamingMessage: the task, then its updates."""
        wanted = wire.read(wire.SendMessage, params)
        async with self._sent(wanted) as (task, thread):
            shown: Json = {"task": task.view(wanted.configuration.history_length)}
            return TaskStream(shown, thread and thread.detach(), partial(_follow, task))

    async def get(self, params: Mapping[str, Any]) -> Json:
        """GetTask."""
        wanted = wire.read(wire.TaskRef, params)
        async with self._current(wanted.id) as (task, _):
            return task.view(wanted.history_length)

    async def subscribe(self, params: Mapping[str, Any]) -> TaskStream:
        """SubscribeToTask: the task as it is, then its updates."""
        async with self._current(wire.read(wire.TaskRef, params).id) as (task, thread):
            if task.state in TERMINAL:
                raise unsupported(f"the task is {task.state}: get it")
            rest = partial(self._decisions if task.state == INPUT_REQUIRED else _follow, task)
            return TaskStream({"task": task.view()}, thread.detach(), rest)

    async def cancel(self, params: Mapping[str, Any]) -> Json:
        """CancelTask: stops the answer; a waiting order is rejected."""
        wanted = wire.read(wire.TaskRef, params)
        async with self._current(wanted.id) as (task, thread):
            if task.state in TERMINAL:
                raise A2AError(-32002, "TASK_NOT_CANCELABLE", f"the task is {task.state}")
            if task.state == INPUT_REQUIRED:
                await self._decide(task, "reject")
                return task.view(wanted.history_length)
            try:
                await thread.cancel(task.name.seq)
            except RefusedError as error:
                raise A2AError(-32002, "TASK_NOT_CANCELABLE", "the task has just ended") from error
            with suppress(TimeoutError):
                async with asyncio.timeout(STOPPED_SECONDS):
                    thread.follow(task.name.seq)
                    while events := await thread.next_events():
                        for event in events:
                            task.hear(event)
            return task.view(wanted.history_length)

    async def listed(self, params: Mapping[str, Any]) -> Json:
        """ListTasks: the newest first; without a context those of the caller's newest conversations."""
        wanted = wire.read(wire.ListTasks, params)
        before = wanted.before
        if wanted.context_id:
            conversations = await self._mine(wanted.context_id)
        else:
            reply = await self.api.memory.conversations(
                ConversationsRequest(
                    company_id=self.caller.company, user_id=self.caller.subject, limit=MOST_CONVERSATIONS
                )
            )
            conversations = [one.id for one in reply.items]
        found = [task for conversation in conversations for task in await self._all(conversation)]
        state = wanted.status if wanted.status not in {"", "TASK_STATE_UNSPECIFIED"} else None
        after = wanted.status_timestamp_after
        found = [one for one in found if state in {None, one.state} and (after is None or one.changed >= after)]
        found.sort(key=lambda task: task.place, reverse=True)
        rest = [one for one in found if before is None or one.place < before]
        page = rest[: wanted.page_size]
        more = "{}-{}".format(*page[-1].place) if len(page) < len(rest) else ""
        return {
            "tasks": [one.view(wanted.history_length, artifacts=wanted.include_artifacts) for one in page],
            "nextPageToken": more,
            "pageSize": len(page),
            "totalSize": len(found),
        }

    # ------------------------------------------------------------------ inside

    @asynccontextmanager
    async def _sent(self, wanted: wire.SendMessage) -> AsyncGenerator[tuple[Task, Thread | None]]:
        """The task that the message creates or continues; with a thread if more is to come."""
        wanted.check()
        message = wanted.message
        if message.task_id:
            async with self._continued(message) as going_on:
                yield going_on
            return
        if any("data" in part for part in message.parts):
            raise A2AError(-32005, "CONTENT_TYPE_NOT_SUPPORTED", "message.parts: data is read as an answer alone")
        sent = message.sent()
        if message.context_id:
            conversation = await self._own(message.context_id)
        else:
            # The same message again, whose answer was lost, must find the conversation that it has begun.
            conversation = await self.api.threads.conversation_named(self.caller, DOOR, f"message {message.message_id}")
        async with self._open(conversation) as thread:
            stored = await thread.send(sent)
            asked = MessageView(
                id=sent.identity,
                seq=stored.seq,
                role=Role.USER,
                text=sent.text,
                client_message_id=message.message_id,
                created_at=self.api.clock.now(),
            )
            yield await self._task(TaskName(conversation, stored.seq), asked), thread

    async def _task(self, name: TaskName, asked: MessageView) -> Task:
        return Task(name, asked, await self.api.companies.language_for(self.caller.company, self.language, asked.text))

    @asynccontextmanager
    async def _continued(self, message: wire.Message) -> AsyncGenerator[tuple[Task, Thread | None]]:
        """A message for an existing task: the answer to its question, or more about its subject."""
        async with self._current(message.task_id or "") as (task, _):
            if message.context_id not in {None, "", task.name.conversation}:
                raise invalid("message.contextId", "not the context of this task")
        if task.state in TERMINAL:
            raise unsupported(f"the task is {task.state}: send a message without taskId, in the same context")
        if task.state == INPUT_REQUIRED:
            approved, edits = message.answer(), message.edits()
            if approved is not None:
                await self._decide(task, "confirm" if approved else "reject", edits)
            # Anything else is no answer: the question stands.
            yield task, None
            return
        async with self._open(task.name.conversation) as thread:
            await thread.send(message.sent())
            yield task, thread

    @asynccontextmanager
    async def _current(self, identity: str) -> AsyncGenerator[tuple[Task, Thread]]:
        """The task as it is now, and the thread with its further events."""
        name = TaskName.read(identity)
        if name is None:
            raise task_not_found()
        try:
            conversation = await self.api.threads.own_conversation(self.caller, name.conversation)
        except RefusedError as error:
            raise task_not_found() from error
        async with self._open(conversation, after=name.seq - 1) as thread:
            told = await thread.events_so_far(name.seq, await_person=True)
            if thread.question is None:
                raise task_not_found()
            task = await self._task(name, thread.question)
            for event in told:
                task.hear(event)
            yield task, thread

    def _open(self, conversation: str, after: int | None = None) -> Thread:
        address = client_address(self.request.scope)
        return self.api.threads.open(
            self.caller, conversation, address=address, locale=self.language, after=after, door=DOOR
        )

    async def _own(self, context: str) -> str:
        try:
            return await self.api.threads.own_conversation(self.caller, context)
        except RefusedError as error:
            raise invalid("contextId", "there is no such context: leave it out to begin one") from error

    async def _mine(self, context: str) -> list[str]:
        """The context, if it is the caller's. Another's is treated like one that does not exist."""
        try:
            return [await self.api.threads.own_conversation(self.caller, context)]
        except RefusedError:
            return []

    async def _decide(self, task: Task, decision: Literal["confirm", "reject"], edits: Json | None = None) -> None:
        if edits is not None and len(task.actions) > 1:
            raise invalid("message.parts", "which of the orders do the edits change? say it in words")
        decide = self.api.actions.decide
        task.decided([await decide(self.caller, one.id, decision, self.language, edits) for one in task.actions])

    async def _decisions(self, task: Task, thread: Thread, tell: Tell) -> None:
        """The decision on its question, by anyone. Expiry is not announced, so the state is polled."""
        now = self.api.clock.now()
        ends = [one.expires_at for one in task.actions if one.expires_at is not None and one.expires_at > now]
        left = (min(ends) - now).total_seconds() + 1 if ends else QUESTION_SECONDS
        actions = {one.id: one for one in task.actions}
        try:
            async with asyncio.timeout(min(left, QUESTION_SECONDS)), aclosing(thread.decisions()) as decided:
                async for action in decided:
                    if action.id in actions:
                        actions[action.id] = action
                        await tell(task.decided(list(actions.values())))
                    if task.state in TERMINAL:
                        return
        except TimeoutError:
            known = await self.api.actions.states(self.caller.company, self.caller.subject, list(actions))
            if any(one.state is not ActionState.PENDING for one in known):
                await tell(task.decided(known))

    async def _all(self, conversation: str) -> list[Task]:
        """Reads every task of a conversation from its facts."""
        company = self.caller.company
        newest = await self.api.threads.newest_question_seq(self.caller, conversation)
        facts: list[Fact] = []
        for _ in range(MOST_PAGES):
            reply = await self.api.memory.facts(company, conversation, facts[-1].seq if facts else 0, newest)
            known = [one for one in reply.facts if one.kind in _KINDS]
            facts += [Fact.of(ChatKind(one.kind), one.seq, one.event) for one in known]
            if reply.complete or not known:
                break
        facts = await self.api.action_states.facts_with_current_states(
            company, conversation, facts, self.caller.subject
        )
        frames = [orjson.loads(told) for fact in facts if (told := server_frames.fact_frame(conversation, fact))]
        tasks: list[Task] = []
        rules = AnswerRules.of(await self.api.companies.get(company))
        for fact in facts:
            if fact.kind is not ChatKind.VISITOR:
                continue
            asked = MessageView.model_validate(message_view(fact))
            task = await self._task(TaskName(conversation, fact.seq), asked)
            exchange = Exchange(company, conversation, fact.seq, rules, await_person=True)
            for frame in frames:
                for event in exchange.read(frame):
                    task.hear(event)
            if task.state == SUBMITTED:
                # That somebody works on it is told live alone, and is so within moments of its being in the log.
                task.state = WORKING
            tasks.append(task)
        return tasks


async def _follow(task: Task, thread: Thread, tell: Tell | None = None) -> None:
    """Tells the task's updates up to its end; a task that only a person can answer ends without an error. Without
    `tell` it goes on until a person has the task, or it has taken too long. Raises A2AError: the task was deleted."""
    try:
        thread.follow(task.name.seq, await_person=True)
        while events := await thread.next_events():
            updates = [update for event in events for update in task.hear(event)]
            if tell is not None and updates:
                await tell(updates)
            if tell is None and task.left_to_person:
                return
    except TookTooLongError:
        if tell is not None and not task.left_to_person:
            raise
    except RefusedError as error:
        raise task_not_found() from error
