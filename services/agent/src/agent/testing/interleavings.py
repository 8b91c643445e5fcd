"""An explicit-state model checker that explores every interleaving of the turn decisions.

It checks the service's own decisions (agent.domain.turn.machine) and models only the world around them: a log with a
fence, a journal cell with compare-and-set, redeliveries, agents that die, wrong leases (a delivery comes again while
its driver lives, or a probe reports the contrary of the truth), lost acknowledgements and replies, stale reads,
publishes that arrive late, a clock that jumps, and an executor that runs each call id once.

It reports a violation if an answer is sent twice, overrides a human, answers a settled message or repeats a tool's
effect, or if a message can be lost: a visitor waits in a state from which nothing happens any more, or from which no
answer can be reached.

Tests leave out a rule on purpose (class Rules) to show that the checker finds the resulting fault.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from agent.domain.turn import effects
from agent.domain.turn.journal import Journal, ModelAnswer, RequestedCall
from agent.domain.turn.machine import DeliveryState, Phase, advance, begin
from agent.domain.turn.policy import AnswerPolicy, StopReason, stop_reason
from agent.testing.world import (
    COMPANY,
    CONVERSATION,
    TIME_LIMIT,
    Act,
    Job,
    Late,
    Log,
    Scenario,
    World,
    appended,
    cell_of,
    job_of,
    judged,
    part,
    snapshot,
    with_delivery_state,
    with_fault_used,
    with_job,
)
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot
from contracts.events.chat import OwnerKind

MAX_STATES = 2_000_000


class Rules:
    """Hooks between the machine and the world, which change nothing here; a subclass leaves out one rule."""

    taken = "out"
    """The state of a delivery after an agent has taken it."""
    nakked = "waiting"
    """The state of a delivery after it has been handed back (NAK)."""

    def event(self, event: effects.Event, handling: DeliveryState, world: World) -> effects.Event:
        """Returns the event that the machine gets; a subclass may change it."""
        return event

    def effect(
        self, effect: effects.Effect, cause: effects.Event | None, handling: DeliveryState, world: World
    ) -> effects.Effect:
        """Returns the effect that is performed; a subclass may change it."""
        return effect

    def view(self, facts: Log) -> Snapshot:
        """Returns the snapshot of these facts; a subclass may change it."""
        return judged(facts)

    def trimmed(self, world: World) -> int:
        """Returns how many facts are trimmed after memory trims the log: all if every message is settled, the AI is
        the owner and every delivery is acknowledged, else as many as before."""
        view = snapshot(world.held)
        is_pending = any(state != "gone" for _, _, state in world.deliveries)
        return world.trimmed if view.unanswered or view.owner is not OwnerKind.AI or is_pending else len(world.log)


@dataclass
class Finding:
    """The result of an exploration of `states` states. `violation` is None if all of them are right, else `path` holds
    the steps that lead to it."""

    states: int
    violation: str | None = None
    path: list[str] = field(default_factory=list[str])


class Violation(Exception):  # noqa: N818 - it is a finding, not a fault of the program
    """A promise to visitors or operators that a step breaks."""


def explore(scenario: Scenario, rules: Rules | None = None) -> Finding:
    """Explores all reachable states, breadth first, and stops at the first violation; its path is the shortest one.

    Raises:
        RuntimeError: if there are more than MAX_STATES states.
    """
    rules = rules or Rules()
    start = World(
        acts=(0,) * len(scenario.actors),
        jobs=(None,) * scenario.agents,
        faults=scenario.faults,
        enabled=scenario.policy.enabled,
    )
    index_of: dict[World, int] = {start: 0}
    worlds = [start]
    came_from: list[tuple[int, str]] = [(-1, "start")]
    predecessors: list[list[int]] = [[]]
    good_ends: list[int] = []
    current = 0
    numbers: dict[Job | None, int] = {}

    def ordered(world: World) -> World:
        """Agents are alike, unless their tools tell them apart: of the worlds that differ in who does what, one is
        explored. In a path an agent may so change its number."""
        if scenario.tools:
            return world
        jobs = tuple(sorted(world.jobs, key=lambda job: numbers.setdefault(job, len(numbers))))
        return world if jobs == world.jobs else world._replace(jobs=jobs)

    def path(index: int, last: str | None = None) -> list[str]:
        steps = [last] if last else []
        while index > 0:
            index, step = came_from[index]
            steps.append(step)
        return steps[::-1]

    while current < len(worlds):
        world = worlds[current]
        has_moves = False
        try:
            for step, following in _moves(world, scenario, rules):
                has_moves = True
                following = ordered(following)
                next_index = index_of.get(following)
                if next_index is None:
                    next_index = index_of[following] = len(worlds)
                    if next_index > MAX_STATES:
                        raise RuntimeError(f"{scenario.name}: more than {MAX_STATES} states")
                    worlds.append(following)
                    came_from.append((current, step))
                    predecessors.append([])
                predecessors[next_index].append(current)
        except Violation as violation:
            return Finding(len(worlds), str(violation), path(current))
        if not has_moves:
            if _has_waiting_visitor(world, scenario):
                return Finding(len(worlds), "lost: nothing will happen any more and a visitor waits", path(current))
            good_ends.append(current)
        current += 1
    return _check_all_can_end(worlds, predecessors, good_ends, path)


def _check_all_can_end(
    worlds: list[World], predecessors: list[list[int]], good_ends: list[int], path: Callable[[int], list[str]]
) -> Finding:
    """Looks for a state from which no good end can be reached."""
    can_end = bytearray(len(worlds))
    for index in good_ends:
        can_end[index] = 1
    stack = list(good_ends)
    while stack:
        for before in predecessors[stack.pop()]:
            if not can_end[before]:
                can_end[before] = 1
                stack.append(before)
    stuck = can_end.find(0)
    if stuck < 0:
        return Finding(len(worlds))
    return Finding(len(worlds), "lost: from here no run ever ends with the visitor answered", path(stuck))


def _policy(world: World, scenario: Scenario) -> AnswerPolicy:
    return scenario.policy if world.enabled else replace(scenario.policy, enabled=False)


def _has_waiting_visitor(world: World, scenario: Scenario) -> bool:
    view = snapshot(world.log)
    return view.unanswered and _policy(world, scenario).answers(view.owner)


def _moves(world: World, scenario: Scenario, rules: Rules) -> Iterator[tuple[str, World]]:
    for actor, acts in enumerate(scenario.actors):
        position = world.acts[actor]
        if position < len(acts):
            next_acts = (*world.acts[:actor], position + 1, *world.acts[actor + 1 :])
            yield acts[position].value, _act(world._replace(acts=next_acts), acts[position], rules)
    for index, late in enumerate(world.late):
        without_late = world._replace(late=world.late[:index] + world.late[index + 1 :])
        yield "late publish arrives", _append_late(without_late, late, scenario)[0]
    idle = next((agent for agent, job in enumerate(world.jobs) if job is None), None)
    for index, (seq, visitor, state) in enumerate(world.deliveries):
        is_redelivery = state == "out" and world.faults.redelivery > 0
        if idle is None or (state != "waiting" and not is_redelivery):
            continue
        handling, effect = begin(effects.Trigger(seq, visitor), COMPANY, CONVERSATION, time_limit=TIME_LIMIT)
        started = with_delivery_state(world, index, rules.taken)
        if is_redelivery:
            started = with_fault_used(started, "redelivery")
        effect = rules.effect(effect, None, handling, world)
        # Idle agents are interchangeable, so only the first of them takes the delivery.
        yield f"agent {idle} takes {seq}", with_job(started, idle, job_of(index, handling, effect))
    for agent, job in enumerate(world.jobs):
        if job is None:
            continue
        yield from _perform(world, agent, job, scenario, rules)
        if world.faults.crash > 0:
            after_death = with_job(with_delivery_state(world, job.delivery, "waiting"), agent, None)
            yield f"agent {agent} dies", with_fault_used(after_death, "crash")


def _act(world: World, act: Act, rules: Rules) -> World:
    seq = len(world.log) + 1
    newest = snapshot(world.held).newest_visitor
    match act:
        case Act.TRIM:
            return world._replace(trimmed=rules.trimmed(world))
        case Act.DISABLE:
            return world._replace(enabled=False)
        case Act.WAIT:
            return world._replace(now=world.now + 10.0)
        case Act.BACK:
            return world._replace(now=world.now - 10.0)
        case Act.VISITOR:
            fact = Fact(ChatKind.VISITOR, seq, world.now)
        case Act.TAKE:
            fact = Fact(ChatKind.OWNER, seq, world.now, owner=OwnerKind.HUMAN)
        case Act.RELEASE:
            fact = Fact(ChatKind.OWNER, seq, world.now, owner=OwnerKind.AI)
        case Act.OPERATOR:
            fact = Fact(ChatKind.OPERATOR, seq, world.now)
        case Act.NOTICE:
            fact = Fact(ChatKind.SYSTEM, seq, world.now, basis=snapshot(world.log).basis)
        case Act.CANCEL:
            fact = Fact(ChatKind.CANCEL, seq, world.now, basis=max(newest, snapshot(world.log).basis))
    world = world._replace(log=appended(world.log, fact))
    if fact.kind in (ChatKind.VISITOR, ChatKind.OWNER):
        delivery = (seq, fact.kind is ChatKind.VISITOR, "waiting")
        world = world._replace(deliveries=(*world.deliveries, delivery))
    return world


def _perform(world: World, agent: int, job: Job, scenario: Scenario, rules: Rules) -> Iterator[tuple[str, World]]:
    effect = job.effect
    match effect:
        case effects.Ack():
            yield (
                f"agent {agent} acks ({effect.reason})",
                with_job(with_delivery_state(world, job.delivery, "gone"), agent, None),
            )
            if world.faults.lost_ack > 0:
                after_loss = with_job(with_delivery_state(world, job.delivery, "waiting"), agent, None)
                yield f"agent {agent}'s ack is lost", with_fault_used(after_loss, "lost_ack")
        case effects.Retry():
            yield (
                f"agent {agent} naks ({effect.reason})",
                with_job(with_delivery_state(world, job.delivery, rules.nakked), agent, None),
            )
        case _:
            for name, event, after in _outcomes(world, agent, job, scenario, rules):
                machine_event = rules.event(event, job.handling, after)
                policy = _policy(after, scenario)
                # The results of tools are a mapping, and so no key of a cache.
                step = _advanced.__wrapped__ if isinstance(machine_event, effects.ToolsFinished) else _advanced
                next_job = step(job, machine_event, policy, after.now)
                following = rules.effect(next_job.effect, event, next_job.handling, after)
                if following is not next_job.effect:
                    next_job = job_of(job.delivery, next_job.handling, following)
                yield f"agent {agent}: {name}", with_job(after, agent, next_job)


@cache
def _advanced(job: Job, event: effects.Event, policy: AnswerPolicy, now: float) -> Job:
    """The job after the event: what the machine decides depends on nothing else."""
    return job_of(job.delivery, *advance(job.handling, event, policy, now))


def _outcomes(
    world: World, agent: int, job: Job, scenario: Scenario, rules: Rules
) -> Iterator[tuple[str, effects.Event, World]]:
    effect, cell = job.effect, world.cell
    match effect:
        case effects.ReadConversation():
            yield "looks", effects.ConversationRead(rules.view(world.held), cell.journal, cell.revision), world
            if world.faults.stale > 0:
                for length in range(len(world.log)):
                    yield (
                        f"sees a stale log ({length})",
                        effects.ConversationRead(rules.view(part(world.log, 0, length)), cell.journal, cell.revision),
                        with_fault_used(world, "stale"),
                    )
                if (older := world.older_cell) is not cell:
                    stale = effects.ConversationRead(rules.view(world.held), older.journal, older.revision)
                    yield "sees a stale journal", stale, with_fault_used(world, "stale")
        case effects.Probe():
            others = (other for index, other in enumerate(world.jobs) if index != agent and other is not None)
            is_driven = any(other.handling.phase is Phase.DRIVING for other in others)
            yield "probes", effects.DriverProbed(is_driven), world
            if world.faults.probe > 0:
                # A frozen driver does not reply; a dead one may have replied a moment before its death.
                yield (
                    "is told the contrary by its probe",
                    effects.DriverProbed(not is_driven),
                    with_fault_used(world, "probe"),
                )
        case effects.Save():
            if effect.revision in (cell.revision, -1):
                revision = cell.revision + 1
                after = world._replace(cell=cell_of(effect.journal, revision), older_cell=cell)
                yield "saves", effects.Saved(revision), after
                if world.faults.lost_puback > 0:
                    yield "saves, unacknowledged", effects.SaveRefused(), with_fault_used(after, "lost_puback")
            else:
                yield "is refused the journal", effects.SaveRefused(), world
        case effects.CallModel():
            yield from _model_replies(world, agent, effect, scenario)
        case effects.RunCalls():
            yield "runs the tools", *_run_calls(world, effect.journal)
        case effects.Append():
            late = Late(_answer_fact(effect.journal, len(world.log) + 1, world.now), effect.fence)
            after, is_stored = _append_late(world, late, scenario)
            yield (
                "appends" if is_stored else "is refused",
                effects.Stored(len(after.log)) if is_stored else effects.AppendRefused(len(after.log)),
                after,
            )
            if world.faults.lost_puback > 0:
                yield "appends, unacknowledged", effects.AppendUnknown(), with_fault_used(after, "lost_puback")
                pending = world._replace(late=(*world.late, late))
                yield "appends, late", effects.AppendUnknown(), with_fault_used(pending, "lost_puback")
        case effects.ReportFailure():
            yield "reports", effects.Reported(), world
        case effects.Ack() | effects.Retry():
            return


def _answer_fact(journal: Journal, seq: int, now: float) -> Fact:
    kind = ChatKind.SYSTEM if journal.failure is not None else ChatKind.ASSISTANT
    return Fact(kind, seq, now, basis=journal.basis)


def _model_replies(
    world: World, agent: int, effect: effects.CallModel, scenario: Scenario
) -> Iterator[tuple[str, effects.Event, World]]:
    signature = f"agent {agent} attempt {effect.journal.attempts}"
    # The model does not ask for the order again if it sees it among the calls of this turn or of an earlier one, which
    # memory supplies even if the log is trimmed.
    has_earlier_turn = snapshot(part(world.log, 0, effect.view.seq)).basis > 0
    if scenario.tools and not effect.journal.calls and not has_earlier_turn:
        yield (
            "model asks for a tool",
            effects.ModelReplied(ModelAnswer(calls=(RequestedCall("order", signature),))),
            world,
        )
    else:
        yield "model answers", effects.ModelReplied(ModelAnswer(text="answer")), world
    if world.faults.model > 0:
        yield "model fails", effects.AskFailed("LLM_UNAVAILABLE", "down"), with_fault_used(world, "model")
    policy = _policy(world, scenario)
    if not policy.enabled:
        yield "is switched off", effects.Interrupted(StopReason.DISABLED), world
    for fact in world.log[max(effect.view.seq, world.trimmed) :]:
        reason = stop_reason(fact, basis=effect.journal.basis, forced=effect.journal.forced, policy=policy)
        if reason is not None:
            yield f"is cancelled by {fact.seq}", effects.Interrupted(reason, fact.seq), world
            return


def _run_calls(world: World, journal: Journal) -> tuple[effects.Event, World]:
    effects_by_id = dict(world.effects)
    for call in journal.unsettled:
        if effects_by_id.setdefault(call.call_id, call.arguments) != call.arguments:
            raise Violation("an effect's id used for two different calls: two agents drive one turn")
    if len(effects_by_id) > 1:
        raise Violation("effect twice: the same order made again")
    results: Mapping[str, str] = {call.call_id: "done" for call in journal.unsettled}
    return effects.ToolsFinished(results), world._replace(effects=tuple(sorted(effects_by_id.items())))


def _append_late(world: World, late: Late, scenario: Scenario) -> tuple[World, bool]:
    """Appends a publish as the stream does; returns whether it was stored. A fence of -1 means none.

    Message ids are not modelled, as if their window were always over, so the fence alone must suffice.
    """
    if late.fence not in (world.last, -1):
        return world, False
    view = snapshot(world.log)
    if view.basis >= late.fact.basis:
        raise Violation("doubled: an answer to what is already settled")
    if not scenario.policy.answers(view.owner):
        raise Violation("overriding: an answer over a human")
    fact = replace(late.fact, seq=len(world.log) + 1, at=world.now)
    return world._replace(log=appended(world.log, fact)), True
