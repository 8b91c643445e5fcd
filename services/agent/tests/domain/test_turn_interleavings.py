"""Every interleaving of the turn decisions, for small logs; and one that breaks for each rule left out."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from agent.domain.turn.effects import (
    Ack,
    Append,
    AppendRefused,
    AppendUnknown,
    ConversationRead,
    Effect,
    Event,
    ModelReplied,
    RunCalls,
    Save,
)
from agent.domain.turn.journal import Journal
from agent.domain.turn.machine import DeliveryState
from agent.domain.turn.policy import AnswerPolicy
from agent.testing.interleavings import Rules, explore
from agent.testing.world import Act, Faults, Log, Scenario, World
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.events.chat import OwnerKind

V, TAKE, RELEASE, OPERATOR = Act.VISITOR, Act.TAKE, Act.RELEASE, Act.OPERATOR
DELAYED = AnswerPolicy(enabled=True, delay=1.0)

SAFE = [
    Scenario("every fault at once", ((V,),), Faults(crash=1, lost_ack=1, lost_puback=1, stale=1)),
    Scenario("redelivered while driven", ((V,),), Faults(crash=1, redelivery=1, model=1, probe=1, lost_puback=1)),
    Scenario("a tool, and every fault", ((V,),), Faults(crash=1, lost_puback=1, redelivery=1, probe=1), tools=True),
    Scenario("burst, crash", ((V, V),), Faults(crash=1, lost_ack=1)),
    Scenario("burst, publishes unacknowledged", ((V, V),), Faults(lost_puback=1)),
    Scenario("burst, stale reads", ((V, V),), Faults(stale=1, redelivery=1)),
    Scenario("burst with a tool, crash", ((V, V),), Faults(crash=1), tools=True),
    Scenario("burst with a tool, lost answers", ((V, V),), Faults(lost_puback=1, probe=1), tools=True),
    Scenario("someone who keeps typing", ((V, V, V),)),
    Scenario("a delay, and time", ((V, V, Act.WAIT),), Faults(crash=1), policy=DELAYED),
    Scenario("a delay, time between", ((V, Act.WAIT, V, Act.WAIT),), policy=DELAYED),
    Scenario("taken and given back, crash", ((V,), (TAKE, RELEASE)), Faults(crash=1)),
    Scenario("taken and given back, stale reads", ((V,), (TAKE, RELEASE)), Faults(stale=1)),
    Scenario("taken, answered by hand, given back", ((V,), (TAKE, OPERATOR, RELEASE)), Faults(lost_puback=1)),
    Scenario("taken, answers arriving late", ((V,), (TAKE,)), Faults(lost_puback=2)),
    Scenario("taken within a burst", ((V, V), (TAKE,)), Faults(lost_puback=1)),
    Scenario("stopped by the visitor", ((V, V), (Act.CANCEL,)), Faults(crash=1)),
    Scenario("switched off", ((V,), (Act.DISABLE,)), Faults(crash=1)),
    Scenario("a notice in between", ((V,), (Act.NOTICE,)), Faults(crash=1, lost_puback=1)),
    Scenario("no model, and a human", ((V,), (TAKE,)), Faults(model=3)),
    Scenario("beside a human", ((V,), (TAKE, RELEASE)), policy=AnswerPolicy(enabled=True, beside_human=True)),
    Scenario("three agents, burst", ((V, V),), Faults(redelivery=1), agents=3),
    Scenario("three agents, taken", ((V,), (TAKE,)), Faults(redelivery=1, crash=1), agents=3),
    Scenario("trimmed, and back", ((V, Act.TRIM, V),), Faults(crash=1, lost_ack=1, lost_puback=1)),
    Scenario("trimmed, and back, with a tool", ((V, Act.TRIM, V),), Faults(crash=1), tools=True),
    Scenario("trimmed, stale reads", ((V, Act.TRIM, V),), Faults(stale=1)),
    Scenario("trimmed at any time", ((V, V), (Act.TRIM,)), Faults(lost_puback=1)),
    Scenario("trimmed while taken over", ((V,), (TAKE, OPERATOR), (Act.TRIM,)), Faults(lost_puback=1)),
    Scenario("trimmed when given back", ((V,), (TAKE, OPERATOR, RELEASE, Act.TRIM, V))),
    Scenario("three agents, a tool", ((V,),), Faults(redelivery=2, probe=1), agents=3, tools=True),
    Scenario("leases that lie", ((V,),), Faults(redelivery=2, probe=1, crash=1), agents=3),
    Scenario("leases that lie, a tool", ((V,),), Faults(redelivery=2, probe=2, crash=1), tools=True),
    Scenario("leases that lie, publishes late", ((V,),), Faults(redelivery=2, probe=2, lost_puback=1)),
    Scenario("leases that lie within a burst", ((V, V),), Faults(redelivery=2, probe=2)),
    Scenario("leases that lie, taken", ((V,), (TAKE,)), Faults(redelivery=2, probe=2, crash=1)),
    Scenario("leases that lie, time jumps", ((V, V), (Act.BACK, Act.WAIT)), Faults(probe=1, crash=1)),
]


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """Without the collector, which would walk every world again and again: there are no cycles among them."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("scenario", SAFE, ids=lambda s: s.name)
def test_no_interleaving_loses_doubles_or_overrides_an_answer(scenario: Scenario) -> None:
    finding = explore(scenario)
    assert finding.violation is None, "\n".join([finding.violation or "", *finding.path])
    assert finding.states > 50


class AckOnRefusal(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return Ack("refused") if isinstance(cause, AppendRefused) else effect


class AckOnLostAcknowledgement(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return Ack("surely stored") if isinstance(cause, AppendUnknown) else effect


class BlindRefence(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        if isinstance(cause, AppendRefused | AppendUnknown) and handling.journal is not None:
            return Append(handling.journal, len(world.log))
        return effect


class FenceFromAnotherRead(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return Append(effect.journal, len(world.log)) if isinstance(effect, Append) else effect


class NoFence(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return Append(effect.journal, -1) if isinstance(effect, Append) else effect


class StaleViewAccepted(Rules):
    def event(self, event: Event, handling: DeliveryState, world: World) -> Event:
        if isinstance(event, ConversationRead):
            return replace(event, view=replace(event.view, seq=max(event.view.seq, handling.newest_seq)))
        return event


class _OtherView(Rules):
    def judge(self, fact: Fact) -> Fact | None:
        raise NotImplementedError

    def view(self, facts: Log) -> Snapshot:
        last = {fact.kind: fact for fact in facts}
        judged = [changed for fact in last.values() if (changed := self.judge(fact)) is not None]
        first_at = super().view(facts).first_unanswered_at
        return replace(snapshot_of(judged, facts[-1].seq if facts else 0), first_unanswered_at=first_at)


class AnswersSettleByTheirOwnSequence(_OtherView):
    def judge(self, fact: Fact) -> Fact | None:
        return replace(fact, basis=fact.seq) if fact.kind is ChatKind.ASSISTANT else fact


class OperatorsSettleNothing(_OtherView):
    def judge(self, fact: Fact) -> Fact | None:
        return None if fact.kind is ChatKind.OPERATOR else fact


class CancelsSettleNothing(_OtherView):
    def judge(self, fact: Fact) -> Fact | None:
        return None if fact.kind is ChatKind.CANCEL else fact


class SystemMessagesSettleNothing(_OtherView):
    def judge(self, fact: Fact) -> Fact | None:
        return None if fact.kind is ChatKind.SYSTEM else fact


class NewerMeansAnyFact(Rules):
    def view(self, facts: Log) -> Snapshot:
        view = super().view(facts)
        return replace(view, newest_visitor=view.seq)


class JournalWithoutCompareAndSet(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return replace(effect, revision=-1) if isinstance(effect, Save) else effect


class CallsNotInherited(Rules):
    def event(self, event: Event, handling: DeliveryState, world: World) -> Event:
        if isinstance(event, ConversationRead) and event.journal and event.journal.basis != event.view.newest_visitor:
            return replace(event, journal=replace(event.journal, steps=()))
        return event


class CallsSettledUnderNewIds(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return RunCalls(_renamed(effect.journal), effect.view) if isinstance(effect, RunCalls) else effect


def _renamed(journal: Journal) -> Journal:
    steps = tuple(
        replace(s, calls=tuple(replace(c, call_id=f"{c.call_id}-{journal.attempts}") for c in s.calls))
        for s in journal.steps
    )
    return replace(journal, steps=steps)


class RepliesNotJournalledBeforeTheirCalls(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        before = world.cell.journal
        if isinstance(cause, ModelReplied) and isinstance(effect, Save) and before is not None and cause.reply.calls:
            return replace(effect, journal=before)
        return effect


class OwnerChangesNotConsumed(Rules):
    def effect(self, effect: Effect, cause: Event | None, handling: DeliveryState, world: World) -> Effect:
        return Ack("not a message") if cause is None and not handling.trigger.visitor else effect


class AcknowledgedWhenTaken(Rules):
    taken = "gone"


class HandedBackAndForgotten(Rules):
    nakked = "gone"


class TrimmedPastAHuman(Rules):
    def trimmed(self, world: World) -> int:
        return len(world.log)


class TrimmedPastAMessage(Rules):
    def trimmed(self, world: World) -> int:
        return len(world.log) if snapshot_of(world.held).owner is OwnerKind.AI else world.trimmed


@dataclass(frozen=True)
class Mutation:
    """A rule left out, and a world small enough to show what it is for."""

    rule: str
    left_out: Callable[[], Rules]
    scenario: Scenario
    breaks: str


TAKEN = ((V,), (TAKE,))
MUTATIONS = [
    Mutation("refused: never just ack", AckOnRefusal, Scenario("", ((V,), (Act.NOTICE,))), "lost"),
    Mutation(
        "acknowledgement lost: never just ack",
        AckOnLostAcknowledgement,
        Scenario("", ((V,), (Act.NOTICE,)), Faults(lost_puback=1)),
        "lost",
    ),
    Mutation("refused: never just re-fence", BlindRefence, Scenario("", TAKEN), "overriding"),
    Mutation(
        "acknowledgement lost: never just re-fence",
        BlindRefence,
        Scenario("", ((V,), (OPERATOR,)), Faults(lost_puback=1)),
        "doubled",
    ),
    Mutation("decision and fence from one snapshot", FenceFromAnotherRead, Scenario("", TAKEN), "overriding"),
    Mutation("the answer is fenced", NoFence, Scenario("", TAKEN), "overriding"),
    Mutation("a view as new as the message", StaleViewAccepted, Scenario("", ((V,),), Faults(stale=1)), "doubled"),
    Mutation("answered means the basis", AnswersSettleByTheirOwnSequence, Scenario("", ((V, Act.WAIT, V),)), "lost"),
    Mutation("operators settle", OperatorsSettleNothing, Scenario("", ((V,), (TAKE, OPERATOR, RELEASE))), "doubled"),
    Mutation("cancels settle", CancelsSettleNothing, Scenario("", ((V,), (Act.CANCEL,))), "doubled"),
    Mutation(
        "system messages settle",
        SystemMessagesSettleNothing,
        Scenario("", ((V,),), Faults(model=3, lost_ack=1)),
        "doubled",
    ),
    Mutation("newer means a visitor's", NewerMeansAnyFact, Scenario("", ((V,), (Act.NOTICE,))), "lost"),
    Mutation(
        "one driver, by compare-and-set",
        JournalWithoutCompareAndSet,
        Scenario("", ((V,),), Faults(redelivery=1, probe=1), tools=True),
        "two agents drive",
    ),
    Mutation("a successor inherits calls", CallsNotInherited, Scenario("", ((V, V),), tools=True), "effect twice"),
    Mutation(
        "calls are settled by their own ids",
        CallsSettledUnderNewIds,
        Scenario("", ((V,),), Faults(crash=1), tools=True),
        "effect twice",
    ),
    Mutation(
        "a reply is journalled before its calls go out",
        RepliesNotJournalledBeforeTheirCalls,
        Scenario("", ((V,),), Faults(crash=1), tools=True),
        "two different calls",
    ),
    Mutation("owner.changed is consumed", OwnerChangesNotConsumed, Scenario("", ((V,), (TAKE, RELEASE))), "lost"),
    Mutation("not trimmed past a human", TrimmedPastAHuman, Scenario("", ((V, TAKE, Act.TRIM, V),)), "overriding"),
    Mutation("not trimmed past a message", TrimmedPastAMessage, Scenario("", ((V, Act.TRIM),)), "lost"),
    Mutation("the ack is the last step", AcknowledgedWhenTaken, Scenario("", ((V,),), Faults(crash=1)), "lost"),
    Mutation("anything else naks, for ever", HandedBackAndForgotten, Scenario("", ((V,),), Faults(model=1)), "lost"),
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.rule)
def test_without_the_rule_some_interleaving_breaks(mutation: Mutation) -> None:
    assert explore(mutation.scenario).violation is None
    finding = explore(mutation.scenario, mutation.left_out())
    assert finding.violation is not None
    assert mutation.breaks in finding.violation
