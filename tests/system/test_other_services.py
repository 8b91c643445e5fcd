"""Another service joins with plain nats-py, by the documentation's own example."""

import re
import subprocess
import sys
from pathlib import Path

from nexus_cli.drill.log_reader import read_log
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

BUS_PAGE = Path(__file__).parents[2] / "docs/architecture/bus.md"
DOCUMENTED_URL = "nats://127.0.0.1:4222"


async def test_a_service_that_publishes_a_message_gets_it_answered(stack: RunningStack, tmp_path: Path) -> None:
    example = re.findall(r"```python\n(.*?)```", BUS_PAGE.read_text(), re.DOTALL)[0]
    bus = stack.facts()["urls"]["nats"]
    assert DOCUMENTED_URL in example
    program = tmp_path / "join.py"
    program.write_text(example.replace(DOCUMENTED_URL, bus))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr

    async def kinds() -> list[str]:
        return [fact.kind for fact in await read_log(bus, "demo", "order-4711")]

    async def answered() -> bool:
        return await kinds() == ["visitor", "assistant"]

    await eventually(answered)
