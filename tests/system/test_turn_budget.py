"""How many messages a turn and a stack at rest may cost: counts, which a busy machine does not change.

What goes by the clock is no turn's: memory asking how far its consumers are, the server's word that a request still
waits or has waited its time (both counted at rest), and the renewals of a lease, one each half second of a turn.
"""

from agent.scripted_model.script import Rule
from benchmarks.first_token import BURST, CALL
from benchmarks.turn_account import Turn, in_a_row, rest, stage, turns
from tests.support.account import Line

TURNS = 4
REST = 30.0
AT_REST = 3.0
"""Messages a second."""
PLAIN, WITH_A_TOOL_CALL = 40, 66
IN_A_ROW = 4
"""Messages one after another before the model is asked."""
BACKGROUND = ("find", "serverStatus", "INFO", "HGETALL")
"""Commands of MongoDB and Redis that look after things; of a visitor's turn there are none of them."""


def of_the_turn(line: Line) -> bool:
    """Whether it is no look at how far things are, no answer to one, and nothing that goes by the clock."""
    kind = line.kind
    by_the_clock = line.note in ("100", "408", "+WPI")
    return not (by_the_clock or kind.startswith(("$JS.EVENT", "to memory")) or "INFO" in kind or "LIST" in kind)


def messages(found: list[Turn]) -> float:
    """On the bus, the mean of all turns."""
    return sum(line.server == "bus" and of_the_turn(line) for one in found for line in one.lines) / len(found)


async def test_a_turn_and_a_stack_at_rest_keep_to_their_messages() -> None:
    async with stage() as running:
        said = await rest(running, REST)
        plain = await turns(running, "visitor", many=TURNS)
        tool = await turns(running, "visitor", Rule(match="price", replies=[CALL, BURST], again=True), many=TURNS)
    assert said["bus"].total() / REST <= AT_REST, said["bus"].most_common(10)
    assert messages(plain) <= PLAIN, [line.kind for line in plain[-1].lines if line.server == "bus"]
    assert messages(tool) <= WITH_A_TOOL_CALL, [line.kind for line in tool[-1].lines if line.server == "bus"]
    chain = in_a_row([*plain, *tool])
    assert len(chain) <= IN_A_ROW, chain
    for one in plain:
        early = [line for line in one.lines if line.server != "bus" and line.at < one.asked]
        assert [line.kind for line in early if line.server == "mongodb" and not line.what.startswith(BACKGROUND)] == []
        assert sum(line.server == "redis" for line in early if not line.what.startswith(BACKGROUND)) <= 4


def test_what_came_before_a_message_in_some_turns_only_is_not_its_cause() -> None:
    fact, delivered = ("chat.c.v1", "_INBOX.gateway.1"), ("chat.c.v1", "$JS.ACK.CHAT.agent.1")
    save, saved = ("turn.c.v1", "_INBOX.agent.2"), ("_INBOX.agent.2", "")
    ask, answer = ("rpc.memory.v1", "_INBOX.agent.3"), ("_INBOX.agent.3", "")
    beside = [(fact, delivered, save, saved, ask, answer), (fact, delivered, save, ask, saved, answer)]
    assert [len(in_a_row([said(*messages)])) for messages in beside] == [6, 4]
    assert len(in_a_row(said(*messages) for messages in beside)) == 4
    assert len(in_a_row([said(*beside[0]), said(*beside[0])])) == 6
    assert in_a_row([]) == []


def said(*messages: tuple[str, str]) -> Turn:
    """A turn of these messages, each a subject and a name to reply to."""
    return Turn(0.0, 1.0, 2.0, tuple(Line(0.5, "bus", subject, reply) for subject, reply in messages))
