"""`nexus top` on the running stack."""

import json

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


async def test_top_tells_of_the_sockets_turns_and_streams_that_there_are(
    stack: RunningStack, visitor: ChatClient
) -> None:
    await visitor.ask("what is IBM trading at?")
    done = stack.nexus("top", "--json", "--every", "0.5", "--data", str(stack.data))
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["away"] == []
    assert seen["sockets"] >= 1
    assert seen["turns"]["perMinute"]
    shown = stack.nexus("top", "--count", "1", "--data", str(stack.data))
    assert (shown.returncode, "running" in shown.stdout) == (0, True), shown.stderr
