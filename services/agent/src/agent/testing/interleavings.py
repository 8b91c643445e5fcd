"""An explicit-state model checker that walks every interleaving of the turn decisions.

The decisions checked are the service's own (agent.domain.turn.machine); modelled here is only the world around them: a
log with a fence, a journal cell with compare-and-set, deliveries that come again, agents that die, leases that lie (a
delivery comes again while its driver lives, a probe says the contrary), acknowledgements and answers that get lost,
reads that are stale, publishes that arrive late, a clock that jumps, and an executor that runs a call id once.

A violation is found when an answer is doubled, speaks over a human, answers a message that is settled, repeats a tool's
effect, or when a message can be lost: a state in which nothing will happen any more, or nothing good ever can, while a
visitor waits.

Rules that are left out on purpose (class Rules) show that the checker sees what it should.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

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
    Scenario,
    World,
    job_of,
    judged,
)
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.events.chat import OwnerKind


class Rules:
    """What stands between the machine and the world. Nothing, here; a subclass leaves one rule out."""

    taken = "out"
    """What becomes of a delivery when an agent takes it."""
    nakked = "waiting"
    """What becomes of a delivery that is handed back."""

    def event(self, event: effects.Event, handling: DeliveryState, world: World) -> effects.Event:
        """The event that the machine gets; a subclass may change it."""
        del handling, world
        return event

    def effect(
        self, effect: effects.Effect, cause: effects.Event | None, handling: DeliveryState, world: World
    ) -> effects.Effect:
        """The effect that is performed; a subclass may change it."""
        del cause, handling, world
        return effect

    def view(self, facts: tuple[Fact, ...]) -> Snapshot:
        """The view made of a snapshot; a subclass may change it."""
        return judged(facts)

    def trimmed(self, world: World) -> int:
        """How far memory trims the log: all of it when every message is settled, the AI is the owner, and everybody who
        reads the log has acknowledged all; else nothing."""
        view = snapshot_of(world.held)
        pending = any(state != "gone" for _, _, state in world.deliveries)
        return world.trimmed if view.unanswered or view.owner is not OwnerKind.AI or pending else len(world.log)


@dataclass
class Finding:
    """What the walk found. `violation` None: nothing wrong in any of `states` states."""

    states: int
    violation: str | None = None
    path: list[str] = field(default_factory=list[str])


class Violation(Exception):  # noqa: N818 - it is a finding, not a fault of the program
    """A broken promise."""


def explore(scenario: Scenario, rules: Rules | None = None, *, limit: int = 2_000_000) -> Finding:
    """Walks all reachable states, breadth first, and stops at the first violation, with the shortest way to it.

    Raises:
        RuntimeError: more than `limit` states.
    """
    rules = rules or Rules()
    start = World(
        acts=(0,) * len(scenario.actors),
        jobs=(None,) * scenario.agents,
        faults=scenario.faults,
        enabled=scenario.policy.enabled,
    )
    number: dict[World, int] = {start: 0}
    worlds = [start]
    came_from: list[tuple[int, str]] = [(-1, "start")]
    predecessors: list[list[int]] = [[]]
    good: list[int] = []
    at = 0

    def path(index: int, last: str | None = None) -> list[str]:
        steps = [last] if last else []
        while index > 0:
            index, step = came_from[index]
            steps.append(step)
        return steps[::-1]

    while at < len(worlds):
        world = worlds[at]
        moved = False
        try:
            for step, following in _moves(world, scenario, rules):
                moved = True
                found = number.get(following)
                if found is None:
                    found = number[following] = len(worlds)
                    if found > limit:
                        raise RuntimeError(f"{scenario.name}: more than {limit} states")
                    worlds.append(following)
                    came_from.append((at, step))
                    predecessors.append([])
                predecessors[found].append(at)
        except Violation as violation:
            return Finding(len(worlds), str(violation), path(at))
        if not moved:
            if _waits(world, scenario):
                return Finding(len(worlds), "lost: nothing will happen any more and a visitor waits", path(at))
            good.append(at)
        at += 1
    return _can_all_end(worlds, predecessors, good, path)


def _can_all_end(
    worlds: list[World], predecessors: list[list[int]], good: list[int], path: Callable[[int], list[str]]
) -> Finding:
    reaches = bytearray(len(worlds))
    for index in good:
        reaches[index] = 1
    stack = list(good)
    while stack:
        for before in predecessors[stack.pop()]:
            if not reaches[before]:
                reaches[before] = 1
                stack.append(before)
    stuck = reaches.find(0)
    if stuck < 0:
        return Finding(len(worlds))
    return Finding(len(worlds), "lost: from here no run ever ends with the visitor answered", path(stuck))


def _policy(world: World, scenario: Scenario) -> AnswerPolicy:
    return scenario.policy if world.enabled else replace(scenario.policy, enabled=False)


def _waits(world: World, scenario: Scenario) -> bool:
    view = snapshot_of(world.log)
    return view.unanswered and _policy(world, scenario).answers(view.owner)


def _moves(world: World, scenario: Scenario, rules: Rules) -> Iterator[tuple[str, World]]:
    for actor, acts in enumerate(scenario.actors):
        position = world.acts[actor]
        if position < len(acts):
            done = (*world.acts[:actor], position + 1, *world.acts[actor + 1 :])
            yield acts[position].value, _act(world._replace(acts=done), acts[position], rules)
    for index, late in enumerate(world.late):
        rest = world._replace(late=world.late[:index] + world.late[index + 1 :])
        yield "late publish arrives", _stored(rest, late, scenario)[0]
    idle = next((agent for agent, job in enumerate(world.jobs) if job is None), None)
    for index, (seq, visitor, state) in enumerate(world.deliveries):
        again = state == "out" and world.faults.redelivery > 0
        if idle is None or (state != "waiting" and not again):
            continue
        handling, effect = begin(effects.Trigger(seq, visitor), COMPANY, CONVERSATION, time_limit=TIME_LIMIT)
        started = _deliver(world, index, rules.taken)
        if again:
            started = started._replace(faults=world.faults._replace(redelivery=world.faults.redelivery - 1))
        effect = rules.effect(effect, None, handling, world)
        # Idle agents are alike: it is enough that one of them takes the delivery.
        yield f"agent {idle} takes {seq}", _work(started, idle, job_of(index, handling, effect))
    for agent, job in enumerate(world.jobs):
        if job is None:
            continue
        yield from _perform(world, agent, job, scenario, rules)
        if world.faults.crash > 0:
            died = _work(_deliver(world, job.delivery, "waiting"), agent, None)
            yield f"agent {agent} dies", died._replace(faults=world.faults._replace(crash=world.faults.crash - 1))


def _act(world: World, act: Act, rules: Rules) -> World:
    seq = len(world.log) + 1
    newest = snapshot_of(world.held).newest_visitor
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
            fact = Fact(ChatKind.SYSTEM, seq, world.now, basis=snapshot_of(world.log).basis)
        case Act.CANCEL:
            fact = Fact(ChatKind.CANCEL, seq, world.now, basis=max(newest, snapshot_of(world.log).basis))
    world = world._replace(log=(*world.log, fact))
    if fact.kind in (ChatKind.VISITOR, ChatKind.OWNER):
        delivery = (seq, fact.kind is ChatKind.VISITOR, "waiting")
        world = world._replace(deliveries=(*world.deliveries, delivery))
    return world


def _deliver(world: World, index: int, state: str) -> World:
    seq, visitor, old = world.deliveries[index]
    if old == "gone":
        return world
    changed = (seq, visitor, state)
    return world._replace(deliveries=(*world.deliveries[:index], changed, *world.deliveries[index + 1 :]))


def _work(world: World, agent: int, job: Job | None) -> World:
    return world._replace(jobs=(*world.jobs[:agent], job, *world.jobs[agent + 1 :]))


def _spent(world: World, fault: str) -> World:
    left = getattr(world.faults, fault) - 1
    return world._replace(faults=world.faults._replace(**{fault: left}))


def _perform(world: World, agent: int, job: Job, scenario: Scenario, rules: Rules) -> Iterator[tuple[str, World]]:
    effect = job.effect
    match effect:
        case effects.Ack():
            yield f"agent {agent} acks ({effect.reason})", _work(_deliver(world, job.delivery, "gone"), agent, None)
            if world.faults.lost_ack > 0:
                lost = _work(_deliver(world, job.delivery, "waiting"), agent, None)
                yield f"agent {agent}'s ack is lost", _spent(lost, "lost_ack")
        case effects.Retry():
            yield (
                f"agent {agent} naks ({effect.reason})",
                _work(_deliver(world, job.delivery, rules.nakked), agent, None),
            )
        case _:
            for name, event, after in _outcomes(world, agent, job, scenario, rules):
                told = rules.event(event, job.handling, after)
                policy = _policy(after, scenario)
                handling, following = advance(job.handling, told, policy, after.now)
                following = rules.effect(following, event, handling, after)
                yield f"agent {agent}: {name}", _work(after, agent, job_of(job.delivery, handling, following))


def _outcomes(
    world: World, agent: int, job: Job, scenario: Scenario, rules: Rules
) -> Iterator[tuple[str, effects.Event, World]]:
    effect = job.effect
    match effect:
        case effects.ReadConversation():
            yield "looks", effects.ConversationRead(rules.view(world.held), *world.cell), world
            if world.faults.stale > 0:
                for n in range(len(world.log)):
                    yield (
                        f"sees a stale log ({n})",
                        effects.ConversationRead(rules.view(world.log[:n]), *world.cell),
                        _spent(world, "stale"),
                    )
                if world.older_cell != world.cell:
                    stale = effects.ConversationRead(rules.view(world.held), *world.older_cell)
                    yield "sees a stale journal", stale, _spent(world, "stale")
        case effects.Probe():
            others = (other for at, other in enumerate(world.jobs) if at != agent and other is not None)
            driven = any(other.handling.phase is Phase.DRIVING for other in others)
            yield "probes", effects.DriverProbed(driven), world
            if world.faults.probe > 0:
                # A driver that stood still says nothing; a dead one may have said so a moment before.
                yield "is told the contrary by its probe", effects.DriverProbed(not driven), _spent(world, "probe")
        case effects.Save():
            if effect.revision in (world.cell[1], -1):
                revision = world.cell[1] + 1
                after = world._replace(cell=(effect.journal, revision), older_cell=world.cell)
                yield "saves", effects.Saved(revision), after
                if world.faults.lost_puback > 0:
                    yield "saves, unacknowledged", effects.SaveRefused(), _spent(after, "lost_puback")
            else:
                yield "is refused the journal", effects.SaveRefused(), world
        case effects.CallModel():
            yield from _replies(world, agent, effect, scenario)
        case effects.RunCalls():
            yield "runs the tools", *_run(world, effect.journal)
        case effects.Append():
            late = Late(_fact_of(effect.journal, len(world.log) + 1, world.now), effect.fence)
            after, stored = _stored(world, late, scenario)
            yield (
                "appends" if stored else "is refused",
                effects.Stored(len(after.log)) if stored else effects.AppendRefused(len(after.log)),
                after,
            )
            if world.faults.lost_puback > 0:
                yield "appends, unacknowledged", effects.AppendUnknown(), _spent(after, "lost_puback")
                under_way = world._replace(late=(*world.late, late))
                yield "appends, late", effects.AppendUnknown(), _spent(under_way, "lost_puback")
        case effects.ReportFailure():
            yield "reports", effects.Reported(), world
        case effects.Ack() | effects.Retry():
            return


def _fact_of(journal: Journal, seq: int, now: float) -> Fact:
    kind = ChatKind.SYSTEM if journal.failure is not None else ChatKind.ASSISTANT
    return Fact(kind, seq, now, basis=journal.basis)


def _replies(
    world: World, agent: int, effect: effects.CallModel, scenario: Scenario
) -> Iterator[tuple[str, effects.Event, World]]:
    signature = f"agent {agent} attempt {effect.journal.attempts}"
    # A model that sees the order in its turn's calls, or a turn that ended before (memory tells, whatever the log still
    # holds), does not ask for it again.
    ended_before = snapshot_of(world.log[: effect.view.seq]).basis > 0
    if scenario.tools and not effect.journal.calls and not ended_before:
        yield (
            "model asks for a tool",
            effects.ModelReplied(ModelAnswer(calls=(RequestedCall("order", signature),))),
            world,
        )
    else:
        yield "model answers", effects.ModelReplied(ModelAnswer(text="answer")), world
    if world.faults.model > 0:
        yield "model fails", effects.AskFailed("LLM_UNAVAILABLE", "down"), _spent(world, "model")
    policy = _policy(world, scenario)
    if not policy.enabled:
        yield "is switched off", effects.Interrupted(StopReason.DISABLED), world
    for fact in world.log[max(effect.view.seq, world.trimmed) :]:
        reason = stop_reason(fact, basis=effect.journal.basis, forced=effect.journal.forced, policy=policy)
        if reason is not None:
            yield f"is cancelled by {fact.seq}", effects.Interrupted(reason, fact.seq), world
            return


def _run(world: World, journal: Journal) -> tuple[effects.Event, World]:
    known = dict(world.effects)
    for call in journal.unsettled:
        if known.setdefault(call.call_id, call.arguments) != call.arguments:
            raise Violation("an effect's id used for two different calls: two agents drive one turn")
    if len(known) > 1:
        raise Violation("effect twice: the same order made again")
    results: Mapping[str, str] = {call.call_id: "done" for call in journal.unsettled}
    return effects.ToolsFinished(results), world._replace(effects=tuple(sorted(known.items())))


def _stored(world: World, late: Late, scenario: Scenario) -> tuple[World, bool]:
    """What the stream does. -1: no fence is asked for.

    Message ids are left out, as if their window were always over: the fence alone has to do.
    """
    if late.fence not in (world.last, -1):
        return world, False
    view = snapshot_of(world.log)
    if view.basis >= late.fact.basis:
        raise Violation("doubled: an answer to what is already settled")
    if not scenario.policy.answers(view.owner):
        raise Violation("overriding: an answer over a human")
    fact = replace(late.fact, seq=len(world.log) + 1, at=world.now)
    return world._replace(log=(*world.log, fact)), True
