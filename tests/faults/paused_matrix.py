"""Every process and every pair of them is paused for 2, 8 and 45 s: `make test-paused`, 45 minutes.

pytest does not collect it with the suite because of its name. The table goes to paused-results.md, a line for each
pause.
"""

from itertools import combinations
from pathlib import Path

import pytest

from agent.scripted_model.server import ScriptedModel
from tests.support.paused import HEADER, PROCESSES, as_it_should_be, pause_and_ask
from tests.support.running_stack import RunningStack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(600)]
TABLE = Path("paused-results.md")
VICTIMS = [(name,) for name in PROCESSES] + list(combinations(PROCESSES, 2))


@pytest.mark.parametrize("seconds", [2, 8, 45])
@pytest.mark.parametrize("victims", VICTIMS, ids="-".join)
async def test_they_stand_still(
    stack: RunningStack, model: ScriptedModel, victims: tuple[str, ...], seconds: float
) -> None:
    pause = await pause_and_ask(stack, model, victims, seconds)
    if not TABLE.exists():
        TABLE.write_text(f"{HEADER}\n|{' --- |' * HEADER.count(' |')}\n")
    with TABLE.open("a") as table:
        table.write(pause.row() + "\n")
    as_it_should_be(pause)
