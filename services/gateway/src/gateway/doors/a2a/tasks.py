"""A2A's methods on conversations: a task is found by its id, and its state is read from the log."""

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
from gateway.adapters.memory import facts_in
from gateway.chat.exchange import Exchange
from gateway.chat.sent_messages import SentMessage
from gateway.chat.thread import Thread
from gateway.domain import server_frames
from gateway.doors.a2a import request as wire
from gateway.doors.a2a.rpc import A2AError, Json, invalid_param, task_not_found, unsupported
from gateway.doors.a2a.task import INPUT_REQUIRED, SUBMITTED, TERMINAL, WORKING, Task, TaskId
from gateway.doors.completions.route import while_connected
from gateway.doors.translation import Send
from gateway.errors import RefusedError, TookTooLongError
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api

DOOR = "a2a"
CANCEL_SECONDS = 5.0
"""Seconds to wait for the cancellation to arrive from the log."""
QUESTION_SECONDS = 600.0
"""Seconds for which a subscription to a task that waits for its user stays open."""
MAX_CONVERSATIONS = 20
"""The caller's newest conversations whose tasks are listed."""
MAX_PAGES = 20
"""Pages of facts that a list reads of one conversation."""


@dataclass(frozen=True, slots=True)
class TaskStream:
    """A task's current state, the thread with its further events (None: there are none), and `send_rest`, which sends
    their updates."""

    task: Json
    thread: Thread | None
    send_rest: Callable[[Thread, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Tasks:
    """One caller's tasks, during one request."""

    api: Api
    caller: TokenCaller
    request: Request
    language: Language | None

    # ------------------------------------------------------------------ methods

    async def send(self, params: Mapping[str, Any]) -> Json:
        """SendMessage: the task, as soon as it has ended, waits for its user, or was left to a person."""
        request = wire.parse_params(wire.SendMessage, params)
        async with self._send_message(request) as (task, thread):
            if thread is not None and not request.configuration.return_immediately:
                await while_connected(self.request, _follow(task, thread))
            return {"task": task.view(request.configuration.history_length)}

    async def stream(self, params: Mapping[str, Any]) -> TaskStream:
        """SendStreamingMessage: the task, then its updates."""
        request = wire.parse_params(wire.SendMessage, params)
        async with self._send_message(request) as (task, thread):
            first: Json = {"task": task.view(request.configuration.history_length)}
            return TaskStream(first, thread and thread.detach(), partial(_follow, task))

    async def get(self, params: Mapping[str, Any]) -> Json:
        """GetTask."""
        request = wire.parse_params(wire.TaskRef, params)
        async with self._open_task(request.id) as (task, _):
            return task.view(request.history_length)

    async def subscribe(self, params: Mapping[str, Any]) -> TaskStream:
        """SubscribeToTask: the task in its current state, then its updates."""
        async with self._open_task(wire.parse_params(wire.TaskRef, params).id) as (task, thread):
            if task.state in TERMINAL:
                raise unsupported(f"the task is {task.state}: get it")
            send_rest = partial(self._send_decisions if task.state == INPUT_REQUIRED else _follow, task)
            return TaskStream({"task": task.view()}, thread.detach(), send_rest)

    async def cancel(self, params: Mapping[str, Any]) -> Json:
        """CancelTask: stops the answer, or rejects a pending order."""
        request = wire.parse_params(wire.TaskRef, params)
        async with self._open_task(request.id) as (task, thread):
            if task.state in TERMINAL:
                raise A2AError(-32002, "TASK_NOT_CANCELABLE", f"the task is {task.state}")
            if task.state == INPUT_REQUIRED:
                await self._decide(task, "reject")
                return task.view(request.history_length)
            try:
                await thread.cancel(task.id.seq)
            except RefusedError as error:
                raise A2AError(-32002, "TASK_NOT_CANCELABLE", "the task has just ended") from error
            with suppress(TimeoutError):
                async with asyncio.timeout(CANCEL_SECONDS):
                    thread.follow(task.id.seq)
                    while events := await thread.next_events():
                        for event in events:
                            task.events_for(event)
            return task.view(request.history_length)

    async def list_tasks(self, params: Mapping[str, Any]) -> Json:
        """ListTasks: tasks, newest first; without a context, those of the caller's newest conversations."""
        request = wire.parse_params(wire.ListTasks, params)
        page_start = request.page_start
        if request.context_id:
            conversations = await self._own_conversations(request.context_id)
        else:
            reply = await self.api.memory.conversations(
                ConversationsRequest(
                    company_id=self.caller.company, user_id=self.caller.subject, limit=MAX_CONVERSATIONS
                )
            )
            conversations = [conversation.id for conversation in reply.items]
        tasks = [task for conversation in conversations for task in await self._all_tasks(conversation)]
        state = request.status if request.status not in {"", "TASK_STATE_UNSPECIFIED"} else None
        after = request.status_timestamp_after
        tasks = [task for task in tasks if state in {None, task.state} and (after is None or task.changed_at >= after)]
        tasks.sort(key=lambda task: task.sort_key, reverse=True)
        remaining = [task for task in tasks if page_start is None or task.sort_key < page_start]
        page = remaining[: request.page_size]
        next_page_token = "{}-{}".format(*page[-1].sort_key) if len(page) < len(remaining) else ""
        return {
            "tasks": [task.view(request.history_length, artifacts=request.include_artifacts) for task in page],
            "nextPageToken": next_page_token,
            "pageSize": len(page),
            "totalSize": len(tasks),
        }

    # ------------------------------------------------------------------ inside

    @asynccontextmanager
    async def _send_message(self, request: wire.SendMessage) -> AsyncGenerator[tuple[Task, Thread | None]]:
        """The task that the message creates or continues; with a thread if it has further events."""
        request.check()
        message = request.message
        if message.task_id:
            async with self._continue_task(message) as continued:
                yield continued
            return
        if any("data" in part for part in message.parts):
            raise A2AError(-32005, "CONTENT_TYPE_NOT_SUPPORTED", "message.parts: data is read as an answer alone")
        sent_message = message.to_sent_message()
        if message.context_id:
            conversation = await self._context_conversation(message.context_id)
        else:
            # If the response was lost and the message is sent again, it must find the conversation that it started.
            conversation = await self.api.threads.conversation_named(self.caller, DOOR, f"message {message.message_id}")
        async with self._open_thread(conversation) as thread:
            stored = await thread.send(sent_message)
            yield await self._begin_task(TaskId(conversation, stored.seq), sent_message, message.message_id), thread

    async def _begin_task(self, task_id: TaskId, sent_message: SentMessage, message_id: str) -> Task:
        """The task of a message that has just been stored."""
        question = MessageView(
            id=sent_message.identity,
            seq=task_id.seq,
            role=Role.USER,
            text=sent_message.text,
            client_message_id=message_id,
            created_at=self.api.clock.now(),
        )
        return await self._new_task(task_id, question)

    async def _new_task(self, task_id: TaskId, question: MessageView) -> Task:
        return Task(
            task_id, question, await self.api.companies.language_for(self.caller.company, self.language, question.text)
        )

    @asynccontextmanager
    async def _continue_task(self, message: wire.Message) -> AsyncGenerator[tuple[Task, Thread | None]]:
        """The existing task of a message: the message answers its question, or adds to its subject."""
        async with self._open_task(message.task_id or "") as (task, _):
            if message.context_id not in {None, "", task.id.conversation}:
                raise invalid_param("message.contextId", "not the context of this task")
        is_ended = task.state in TERMINAL
        if task.actions:
            approved, edits = message.answer(), message.edits()
            if approved is not None:
                # The first decision counts; a repeated one, whose answer was lost, gets what came of it.
                if not is_ended:
                    await self._decide(task, "confirm" if approved else "reject", edits)
                yield task, None
                return
        if is_ended and not await self._is_repeated(message, task.id.conversation):
            raise unsupported(f"the task is {task.state}: send a message without taskId, in the same context")
        async with self._open_thread(task.id.conversation) as thread:
            sent_message = message.to_sent_message()
            stored = await thread.send(sent_message)
            if is_ended or task.state == INPUT_REQUIRED:
                # Words that are neither yes nor no ("make it 2") are a task of their own, with its own question.
                task = await self._begin_task(
                    TaskId(task.id.conversation, stored.seq), sent_message, message.message_id
                )
            yield task, thread

    async def _is_repeated(self, message: wire.Message, conversation: str) -> bool:
        """Whether other words than a yes or no are in the conversation already, and are sent again because their answer
        was lost."""
        if message.answer() is not None:
            return False
        identity = message.to_sent_message().identity
        return any(task.question.client_message_id == identity for task in await self._all_tasks(conversation))

    @asynccontextmanager
    async def _open_task(self, text: str) -> AsyncGenerator[tuple[Task, Thread]]:
        """The task in its current state, and the thread with its further events."""
        task_id = TaskId.parse(text)
        if task_id is None:
            raise task_not_found()
        try:
            conversation = await self.api.threads.own_conversation(self.caller, task_id.conversation)
        except RefusedError as error:
            raise task_not_found() from error
        async with self._open_thread(conversation, after=task_id.seq - 1) as thread:
            events = await thread.events_so_far(task_id.seq, await_person=True)
            if thread.question is None:
                raise task_not_found()
            task = await self._new_task(task_id, thread.question)
            for event in events:
                task.events_for(event)
            yield task, thread

    def _open_thread(self, conversation: str, after: int | None = None) -> Thread:
        address = client_address(self.request.scope)
        return self.api.threads.open(
            self.caller, conversation, address=address, locale=self.language, after=after, door=DOOR
        )

    async def _context_conversation(self, context: str) -> str:
        try:
            return await self.api.threads.own_conversation(self.caller, context)
        except RefusedError as error:
            raise invalid_param("contextId", "there is no such context: leave it out to begin one") from error

    async def _own_conversations(self, context: str) -> list[str]:
        """The context's conversation, if it is the caller's; none if it is not, or does not exist."""
        try:
            return [await self.api.threads.own_conversation(self.caller, context)]
        except RefusedError:
            return []

    async def _decide(self, task: Task, decision: Literal["confirm", "reject"], edits: Json | None = None) -> None:
        if edits is not None and len(task.actions) > 1:
            raise invalid_param("message.parts", "which of the orders do the edits change? say it in words")
        decide = self.api.actions.decide
        task.apply_decisions(
            [await decide(self.caller, action.id, decision, self.language, edits) for action in task.actions]
        )

    async def _send_decisions(self, task: Task, thread: Thread, send: Send) -> None:
        """Sends the decision on the task's question, by any client. Expiry is not announced, so it is checked later."""
        now = self.api.clock.now()
        expiries = [
            action.expires_at for action in task.actions if action.expires_at is not None and action.expires_at > now
        ]
        seconds = (min(expiries) - now).total_seconds() + 1 if expiries else QUESTION_SECONDS
        actions = {action.id: action for action in task.actions}
        try:
            async with asyncio.timeout(min(seconds, QUESTION_SECONDS)), aclosing(thread.decisions()) as decisions:
                async for action in decisions:
                    if action.id in actions:
                        actions[action.id] = action
                        await send(task.apply_decisions(list(actions.values())))
                    if task.state in TERMINAL:
                        return
        except TimeoutError:
            states = await self.api.actions.states(self.caller.company, self.caller.subject, list(actions))
            if any(action.state is not ActionState.PENDING for action in states):
                await send(task.apply_decisions(states))

    async def _all_tasks(self, conversation: str) -> list[Task]:
        """All tasks of a conversation, read from its facts."""
        company = self.caller.company
        newest_seq = await self.api.threads.newest_question_seq(self.caller, conversation)
        facts: list[Fact] = []
        for _ in range(MAX_PAGES):
            reply = await self.api.memory.facts(company, conversation, facts[-1].seq if facts else 0, newest_seq)
            page = facts_in(reply)
            facts += page
            if reply.complete or not page:
                break
        facts = await self.api.action_states.facts_with_current_states(
            company, conversation, facts, self.caller.subject
        )
        frames = [orjson.loads(frame) for fact in facts if (frame := server_frames.fact_frame(conversation, fact))]
        tasks: list[Task] = []
        rules = AnswerRules.of(await self.api.companies.get(company))
        for fact in facts:
            if fact.kind is not ChatKind.VISITOR:
                continue
            question = MessageView.model_validate(message_view(fact))
            task = await self._new_task(TaskId(conversation, fact.seq), question)
            exchange = Exchange(company, conversation, fact.seq, rules, await_person=True)
            for frame in frames:
                for event in exchange.read(frame):
                    task.events_for(event)
            if task.state == SUBMITTED:
                # Only live signs say that an agent works on it, which is so moments after it was stored.
                task.state = WORKING
            tasks.append(task)
        return tasks


async def _follow(task: Task, thread: Thread, send: Send | None = None) -> None:
    """Sends the task's updates up to its end; if a person has the task and does not reply in time, it returns without
    an error. Without `send` it only waits: until the end, until a person has the task, or until it takes too long.
    Raises A2AError if the task was deleted."""
    try:
        thread.follow(task.id.seq, await_person=True)
        while events := await thread.next_events():
            updates = [update for event in events for update in task.events_for(event)]
            if send is not None and updates:
                await send(updates)
            if send is None and task.left_to_person:
                return
    except TookTooLongError:
        if send is not None and not task.left_to_person:
            raise
    except RefusedError as error:
        raise task_not_found() from error
