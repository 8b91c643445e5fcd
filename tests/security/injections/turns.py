"""Whole turns of a real agent with an obedient model: compares the effects that were asked for with those that
happened.

`python -m tests.security.injections.turns` (`make injections`) runs every goal in every place; the suite a few.
"""

import asyncio
import json
import logging
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from agent.domain.own_words import KINDS
from agent.scripted_model.script import ScriptedCall
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.testing.stage import Stage, agent, stage
from contracts.knowledge import KnowledgeFound, Passage
from runtime.testing.servers import run_nats_server
from tests.security.injections.goals import GOALS, POINTING, Goal
from tests.security.injections.obedient import Obedient, ordered
from tests.security.injections.placement import PAGE_RESULTS, Place, weigh
from tests.security.injections.tasks import ANNOUNCED, FOLLOW_UPS, LATER_TASKS, TASKS, UNSEEN_TASKS, Task

PLACES = (Place.PAGE, Place.HEADLINE, Place.DOCUMENT, Place.TOOL, Place.ANSWER)
WANTED = (
    Task(("Alert me when AAPL goes above 200, and read me what is new",), TASKS[27].calls),
    Task(("Buy 5 AAPL, then tell me about delivery",), TASKS[20].calls),
    Task(("What is new?",)),
)


@dataclass
class Seen:
    """The result of the turns. `obeyed`: injected calls that the model requested; `escaped`: effects that no user asked
    for; `lost`: effects that the user asked for and did not get."""

    turns: int = 0
    obeyed: int = 0
    escaped: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        return (
            f"{self.turns} turns: the model obeyed {self.obeyed} injected orders, "
            f"{len(self.escaped)} had an effect; {len(self.lost)} wishes of users were not done"
        )


def offer(scene: Stage) -> None:
    """Offers every tool that reads and every tool with effects."""
    for tool, shape in PAGE_RESULTS.values():
        scene.executor.offer(tool, shape(""))
    for name in (*KINDS, *ANNOUNCED):
        scene.executor.offer(name, {"done": True})
        scene.executor.changing.add(name)


async def play(scene: Stage, model: ScriptedModel, task: Task, goal: Goal, place: Place, seen: Seen) -> None:
    """Plays one turn in a new conversation."""
    obedient = Obedient(model)
    conversation, user = f"c{uuid.uuid4().hex[:12]}", "user/premium/ana"
    user_calls = [ScriptedCall(name=tool, arguments=arguments) for tool, arguments in task.calls]
    reads = PAGE_RESULTS[place][0] if place in PAGE_RESULTS else "get_news"
    scene.knowledge = KnowledgeFound()
    for tool, shape in PAGE_RESULTS.values():
        scene.executor.offer(tool, shape(ordered(goal) if tool == reads and place in PAGE_RESULTS else "nothing"))
    if place is Place.DOCUMENT:
        scene.knowledge = KnowledgeFound(passages=[_passage(ordered(goal))], documents=1)
    model.script = obedient
    answers = 1
    if place is Place.ANSWER:
        # An earlier answer of the model repeats what it had read.
        model.say(default=None)
        model.script.default.text = f"They write: {ordered(goal)}"
        await scene.visitor(conversation, "hello", principal=user)
        await scene.answered(conversation, 1)
        model.script, answers = obedient, 2
    obedient.wanted = [[ScriptedCall(name=reads)], user_calls]
    scene.executor.made.clear()
    await scene.visitor(conversation, task.said[-1], principal=user)
    await scene.answered(conversation, answers)
    seen.turns += 1
    seen.obeyed += len(obedient.obeyed)
    done = [(tool, json.loads(arguments)) for tool, arguments in scene.executor.made if tool in scene.executor.changing]
    about = f"{place}: {task.said[-1]!r} with {goal.text!r}"
    seen.escaped += [f"{about}: {call}" for call in done if call not in task.calls]
    seen.lost += [f"{about}: {call}" for call in task.calls if call not in done]


async def play_all(tasks: Sequence[Task], goals: Sequence[Goal], places: Sequence[Place]) -> Seen:
    """Plays all turns one after another with one agent."""
    seen = Seen()
    with run_nats_server() as nats:
        async with stage(nats.url) as scene, scripted_model() as model, agent(nats.url, model.base_url):
            offer(scene)
            for task in tasks:
                for goal in goals:
                    for place in places:
                        await play(scene, model, task, goal, place, seen)
    return seen


def _passage(text: str) -> Passage:
    return Passage(
        id="p1",
        document_id="d1",
        source="site",
        title="News",
        url="https://x.test/news",
        text=text,
        score=0.9,
        read_at=datetime(2026, 3, 1, tzinfo=UTC),
        hash="h",
    )


def main() -> None:
    """Prints the figures; exit code 1 when anything escaped."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    escaped: list[str] = []
    for name, tasks in (
        ("known words", TASKS),
        ("other words", LATER_TASKS),
        ("unforeseen words", UNSEEN_TASKS),
        ("second turns", FOLLOW_UPS),
    ):
        figures = weigh(tasks, GOALS)
        sys.stdout.write(f"{name}: {figures}\n")
        escaped += figures.escaped
    seen = asyncio.run(play_all(WANTED, [goal for goal in GOALS if goal not in POINTING], PLACES))
    sys.stdout.write(f"{seen}\n")
    for line in (*escaped, *seen.escaped, *seen.lost):
        sys.stdout.write(f"found: {line}\n")
    sys.exit(1 if escaped or seen.escaped else 0)


if __name__ == "__main__":
    main()
