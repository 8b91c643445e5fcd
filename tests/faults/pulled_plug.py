"""An answer that is said slowly, and a gateway that is killed while clients hear it."""

import pytest

from agent.scripted_model.script import ScriptedReply
from gateway.testing.doors import kill_moments
from nexus_cli.drill.log_reader import FINAL, read_log
from tests.support.running_stack import RunningStack

SAID = "This answer is long enough for somebody to pull the plug while it is being said."
SLOW = ScriptedReply(text=SAID, token_ms=150)
SECONDS_A_CHARACTER = 0.15 * len(SAID.split()) / len(SAID)
IN_MID_ANSWER = pytest.mark.parametrize("heard", kill_moments(len("This answer is long"), len(SAID) - 30))
"""Characters that the client has when the gateway is killed."""


class Plug:
    """Kills the gateway once, as soon as a client has heard so many characters."""

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
        """Waits for the next gateway."""
        assert self.dead, "it was not pulled"
        await self._stack.back("gateway", self.dead)


async def said_once(stack: RunningStack, conversation: str) -> bool:
    """Whether SAID was said; it is never said twice, and asked for once."""
    facts = await read_log(stack.facts()["urls"]["nats"], "acme", conversation)
    finals = [fact.data["text"] for fact in facts if fact.kind in FINAL]
    assert [fact.kind for fact in facts].count("visitor") == 1
    assert finals in ([], [SAID])
    return bool(finals)
