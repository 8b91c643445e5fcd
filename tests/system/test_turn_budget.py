"""How many messages a turn and a stack at rest may cost: counts, which a busy machine does not change.

What the services look after now and then (memory asking how far its consumers are) is counted at rest, not in a turn.
"""

from agent.scripted_model.script import Rule
from benchmarks.first_token import BURST, CALL
from benchmarks.turn_account import Turn, rest, stage, turns
from tests.support.account import Line

TURNS = 4
REST = 30.0
AT_REST = 3.0
"""Messages a second."""
PLAIN, WITH_A_TOOL_CALL = 40, 66
IN_A_ROW = 5
"""Messages one after another before the model is asked."""
BACKGROUND = ("find", "serverStatus", "INFO", "HGETALL")
"""Commands of MongoDB and Redis that look after things; of a visitor's turn there are none of them."""


def of_the_turn(line: Line) -> bool:
    """Whether it is no look at how far things are, and no answer to one."""
    kind = line.kind
    return not (kind.startswith(("$JS.EVENT", "to memory")) or "INFO" in kind or "LIST" in kind)


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
    assert max(one.in_a_row() for one in plain) <= IN_A_ROW
    for one in plain:
        early = [line for line in one.lines if line.server != "bus" and line.at < one.asked]
        assert [line.kind for line in early if line.server == "mongodb" and not line.what.startswith(BACKGROUND)] == []
        assert sum(line.server == "redis" for line in early if not line.what.startswith(BACKGROUND)) <= 4
