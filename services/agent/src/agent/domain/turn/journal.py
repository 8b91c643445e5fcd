"""The journal of a turn and its transitions. One value per conversation, replaced by compare-and-set.

Its contents survive the agent: a redelivered turn continues from its last step, without paying again for a recorded
reply and without a second effect of a tool.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.domain.turn.policy import MAX_BURST_SECONDS, StopReason
from contracts.conversation import Snapshot
from contracts.events.chat import Citation
from contracts.knowledge import Grounding


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The token counts of a model call."""

    prompt: int = 0
    completion: int = 0

    def __add__(self, other: "TokenCount") -> "TokenCount":
        return TokenCount(self.prompt + other.prompt, self.completion + other.completion)


@dataclass(frozen=True, slots=True)
class TurnCall:
    """A tool call. `arguments` and `result` are JSON texts; `model_id` is the model's own name for the call."""

    call_id: str
    tool: str
    arguments: str
    model_id: str = ""
    result: str | None = None


@dataclass(frozen=True, slots=True)
class TurnStep:
    """One reply of the model that requested tools. `basis`: of the turn in which it was made."""

    basis: int
    text: str
    calls: tuple[TurnCall, ...]
    usage: TokenCount = TokenCount()
    model: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call as the model requests it."""

    tool: str
    arguments: str
    model_id: str = ""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One reply of the model: text, or calls (perhaps with text). `cut`: it ended at its token limit; `citations`: the
    passages that the answer is based on; `grounding`: how well, if the company's knowledge was searched.
    """

    text: str = ""
    calls: tuple[RequestedCall, ...] = ()
    usage: TokenCount = TokenCount()
    model: str = ""
    provider: str = ""
    cut: bool = False
    citations: tuple[Citation, ...] = ()
    grounding: Grounding | None = None


MAX_ANSWERED_IDS = 8
"""Answered messages of a conversation whose later copies are recognised."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A turn as recorded. Times are seconds since the epoch by the bus's clock.

    Once `answer` (with `citations` and `grounding`) or `failure` (a code) is set, the turn ends with it, and no model
    is called again. `message`: the id of the visitor's message at `basis`; None if it is unknown. `answered`: those of
    earlier turns. `released`: its driver has declared that it no longer drives the turn."""

    turn_id: str
    basis: int
    started_at: float
    deadline: float
    steps: tuple[TurnStep, ...] = ()
    cancels: int = 0
    released: bool = False
    forced: bool = False
    owner_since: int = 0
    attempts: int = 0
    failures: int = 0
    answer: str | None = None
    failure: str | None = None
    detail: str = ""
    usage: TokenCount = TokenCount()
    model: str = ""
    provider: str = ""
    citations: tuple[Citation, ...] = ()
    grounding: Grounding | None = None
    message: str | None = None
    answered: tuple[str, ...] = ()

    @property
    def has_answered(self) -> tuple[str, ...]:
        """The ids of the messages answered last, including this turn's."""
        own_id = (self.message,) if self.message is not None and self.answer is not None else ()
        return (*self.answered, *own_id)[-MAX_ANSWERED_IDS:]

    @property
    def ended(self) -> bool:
        """Whether the turn's end is known."""
        return self.answer is not None or self.failure is not None

    @property
    def iterations(self) -> int:
        """The number of this turn's replies that requested tools, without a predecessor's."""
        return sum(step.basis == self.basis for step in self.steps)

    @property
    def calls(self) -> tuple[TurnCall, ...]:
        """All calls, a predecessor's first."""
        return tuple(call for step in self.steps for call in step.calls)

    @property
    def unsettled(self) -> tuple[TurnCall, ...]:
        """The calls without an outcome."""
        return tuple(call for call in self.calls if call.result is None)


MAX_CANCELS = 2
"""After this many cancellations a turn is finished all the same, so that someone who keeps typing is answered."""


def open_journal(previous: Journal | None, view: Snapshot, *, turn_id: str, now: float, time_limit: float) -> Journal:
    """Returns the journal with which to drive the turn of the newest visitor message, from the snapshot `view`.

    The same turn continues where it was. A successor inherits the calls of a predecessor that was never answered, so
    that their effects do not happen again.
    """
    if previous is not None and previous.basis == view.newest_visitor:
        journal = previous
        if view.owner_seq > previous.owner_since:
            # Given back by a human: the time and attempts used while it was not ours do not count.
            journal = replace(
                journal, owner_since=view.owner_seq, started_at=now, deadline=now + time_limit, attempts=0, failures=0
            )
    else:
        journal = Journal(
            turn_id,
            view.newest_visitor,
            started_at=now,
            deadline=now + time_limit,
            owner_since=view.owner_seq,
            message=view.newest_message,
            answered=() if previous is None else previous.has_answered,
        )
        if previous is not None and previous.basis >= view.unanswered_from:
            kept_steps = tuple(step for step in previous.steps if step.basis >= view.unanswered_from)
            cancels = previous.cancels + (0 if previous.released else 1)
            journal = replace(journal, steps=kept_steps, cancels=cancels)
    waited_long = view.first_unanswered_at is not None and now - view.first_unanswered_at >= MAX_BURST_SECONDS
    forced = journal.cancels >= MAX_CANCELS or waited_long
    return replace(journal, forced=forced, released=False, attempts=journal.attempts + 1)


def with_reply(journal: Journal, reply: ModelAnswer, *, last: bool) -> Journal:
    """The journal with the model's reply: calls become a step with new ids, text alone is the answer."""
    usage, model = journal.usage + reply.usage, reply.model or journal.model
    provider = reply.provider or journal.provider
    if last or not reply.calls:
        outcome = {"answer": reply.text, "citations": reply.citations, "grounding": reply.grounding}
        return replace(journal, usage=usage, model=model, provider=provider, **outcome)
    index = journal.iterations
    calls = tuple(
        TurnCall(f"{journal.turn_id}-{index}-{position}", call.tool, call.arguments, call.model_id)
        for position, call in enumerate(reply.calls)
    )
    step = TurnStep(journal.basis, reply.text, calls, reply.usage, reply.model, reply.provider)
    return replace(journal, steps=(*journal.steps, step), usage=usage, model=model, provider=provider)


def with_results(journal: Journal, results: Mapping[str, str]) -> Journal:
    """The journal with the outcomes of calls, by call id."""
    steps = tuple(
        replace(step, calls=tuple(replace(c, result=results.get(c.call_id, c.result)) for c in step.calls))
        for step in journal.steps
    )
    return replace(journal, steps=steps)


def with_stop(journal: Journal, reason: StopReason) -> Journal:
    """The journal after a model call was given up. Only a newer visitor message counts as a cancellation."""
    return replace(journal, released=True, cancels=journal.cancels + (reason is StopReason.SUPERSEDED))


def with_pause(journal: Journal) -> Journal:
    """The journal after an attempt in which no provider answered; the turn will be retried."""
    return replace(journal, released=True, failures=journal.failures + 1)


def with_failure(journal: Journal, code: str, detail: str) -> Journal:
    """The journal of a turn that ends in a visible system message with this code."""
    return replace(journal, failure=code, detail=detail)


def usage_on_the_wire(journal: Journal) -> dict[str, int]:
    """The token counts of a turn in the wire format."""
    return {"promptTokens": journal.usage.prompt, "completionTokens": journal.usage.completion}
