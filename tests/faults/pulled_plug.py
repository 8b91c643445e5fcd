"""An answer that streams slowly, and a gateway that is killed while clients receive it."""

import pytest

from agent.scripted_model.script import ScriptedReply
from gateway.testing.doors import kill_moments
from nexus_cli.drill.log_reader import FINAL, read_log
from tests.support.running_stack import RunningStack

SAID = "This answer is long enough for somebody to pull the plug while it is being said."
SLOW = ScriptedReply(text=SAID, token_ms=150)
SECONDS_A_CHARACTER = 0.15 * len(SAID.split()) / len(SAID)
IN_MID_ANSWER = pytest.mark.parametrize("heard", kill_moments(len("This answer is long"), len(SAID) - 30))
"""Characters the client has received when the gateway is killed."""


class Plug:
    """Kills the gateway once, when a client has received this many characters."""

    def __init__(self, stack: RunningStack, characters: int = 0) -> None:
        self._stack, self._characters = stack, characters
        self.dead = 0

    def pull(self) -> None:
        if not self.dead:
            self.dead = self._stack.kill("gateway")

    def heard(self, text: str) -> None:
        if len(text) >= self._characters:
            self.pull()

    async def mended(self) -> None:
        """Waits until the gateway runs again."""
        assert self.dead, "it was not pulled"
        await self._stack.back("gateway", self.dead)


async def said_once(stack: RunningStack, conversation: str) -> bool:
    """Returns whether SAID is in the log; checks that it is there once and was asked for once."""
    facts = await read_log(stack.facts()["urls"]["nats"], "acme", conversation)
    finals = [fact.data["text"] for fact in facts if fact.kind in FINAL]
    assert [fact.kind for fact in facts].count("visitor") == 1
    assert finals in ([], [SAID])
    return bool(finals)
