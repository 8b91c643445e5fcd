"""How many messages a turn and a stack at rest may cost: counts, which a busy machine does not change.

What goes by the clock is no turn's (turn_account.of_turns): the renewals of a lease, what is counted at rest, and
traces, which each service sends every ten seconds, however many turns there were.
"""

import time
from statistics import median

from agent.scripted_model.script import Rule
from benchmarks.first_token import BURST, CALL, SERVICES
from benchmarks.turn_account import TRACES, Turn, first_turns, in_a_row, quiet, rest, stage, turns
from runtime.bus.span_store import GATHER_SECONDS
from tests.support.account import Line

TURNS = 3
AFTER = 2.0
"""Seconds without a message of a turn after which it is over: twice as long as messages wait for others in a batch."""
STARTED, REST = 2.0, 65.0
"""Seconds without a word of its own after which a stack has started, and for which it is heard at rest: more than the
minute after which what is looked at by the clock is looked at again. Requests for messages are renewed every 210 to 300
seconds, 15 of them with two messages each: 0.1 a second that are not heard here."""
AT_REST, AT_REST_IN_STORES = 2.8, 3.0
"""Messages a second; commands a second to MongoDB and Redis together."""
PLAIN, WITH_A_TOOL_CALL, FIRST = 27, 44, 37
"""The second where the tool's service is asked anew; 42 where its answer is kept. The third is a new visitor's turn
with their hello."""
IN_A_ROW = 4
"""Messages one after another before the model is asked."""
BACKGROUND = ("find", "serverStatus", "INFO", "HGETALL")
"""Commands of MongoDB and Redis that look after things, besides those of a stack at rest; of a visitor's turn there are
none of them."""


def messages(found: list[Turn]) -> float:
    """On the bus, the median of all turns: where a store did not answer in time, as on a busy machine, memory
    compares it with the log once more, beside one of them."""
    return median(len(one.own) for one in found)


def told(found: list[Turn]) -> str:
    """Each message, with the seconds since its turn began."""
    return "\n".join(f"{line.at - one.began:.3f} {line.kind}" for one in found for line in one.own)


async def test_a_turn_and_a_stack_at_rest_keep_to_their_messages() -> None:
    async with stage() as running:
        await quiet(running, STARTED)
        said = await rest(running, REST)
        began = time.monotonic()
        plain = await turns(running, "visitor", count=TURNS, after=AFTER)
        first = await first_turns(running, count=TURNS, after=AFTER)
        with_tool = Rule(match="price", replies=[CALL, BURST], again=True)
        tool = await turns(running, "visitor", with_tool, count=TURNS, after=AFTER)
        gathered = (time.monotonic() - began) / GATHER_SECONDS + 1
    assert said["bus"].total() / REST <= AT_REST, said["bus"].most_common(10)
    stores = said["mongodb"] + said["redis"]
    assert stores.total() / REST <= AT_REST_IN_STORES, stores.most_common(10)
    assert messages(plain) <= PLAIN, told(plain)
    assert messages(first) <= FIRST, told(first)
    assert messages(tool) <= WITH_A_TOOL_CALL, told(tool)
    assert sum(TRACES in line.what for one in (*plain, *first, *tool) for line in one.lines) <= gathered * len(SERVICES)
    chain = in_a_row([*plain, *tool])
    assert len(chain) <= IN_A_ROW, chain
    for one in (*plain, *first):
        early = [
            line
            for line in one.lines
            if line.server != "bus" and line.at < one.asked
            if line.kind not in stores and not line.what.startswith(BACKGROUND)
        ]
        assert [line.kind for line in early if line.server == "mongodb"] == []
        assert sum(line.server == "redis" for line in early) <= 2


def test_what_came_before_a_message_in_some_turns_only_is_not_its_cause() -> None:
    fact, delivered = ("chat.c.v1", "_INBOX.gateway.1"), ("chat.c.v1", "$JS.ACK.CHAT.agent.1")
    save, saved = ("turn.c.v1", "_INBOX.agent.2"), ("_INBOX.agent.2", "")
    ask, answer = ("rpc.memory.v1", "_INBOX.agent.3"), ("_INBOX.agent.3", "")
    beside = [(fact, delivered, save, saved, ask, answer), (fact, delivered, save, ask, saved, answer)]
    assert [len(in_a_row([said(*messages)])) for messages in beside] == [6, 4]
    assert len(in_a_row(said(*messages) for messages in beside)) == 4
    assert len(in_a_row([said(*beside[0]), said(*beside[0])])) == 6
    assert in_a_row([]) == []


def test_what_is_looked_at_by_the_clock_belongs_to_no_turn() -> None:
    fact, delivered = ("chat.c.v1", "_INBOX.gateway.1"), ("chat.c.v1", "$JS.ACK.CHAT.memory.1")
    look, seen = ("$JS.API.STREAM.INFO.CHAT", "_INBOX.memory.2"), ("_INBOX.memory.2", "")
    assert len(in_a_row([said(fact, delivered), said(fact, delivered, look, seen), said(fact, delivered)])) == 2
    assert len(in_a_row([said(fact, delivered, look, seen)] * 2)) == 4


def said(*messages: tuple[str, str]) -> Turn:
    """A turn of these messages, each a subject and a name to reply to."""
    lines = tuple(Line(0.5, "bus", subject, reply) for subject, reply in messages)
    return Turn(0.0, 1.0, 2.0, lines, lines)
