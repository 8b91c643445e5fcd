"""What one delivery knows of its conversation: the history, a customer's context, and the prompt made of them.

Both are asked for as soon as the conversation is known, side by side, and once a turn.
"""

import asyncio

from agent.analysis.in_chat import offered_with_analysis
from agent.domain.context.compression import Compressed
from agent.domain.own.answers import own_answer
from agent.domain.own.steps import finished, own_step, said
from agent.domain.providers import window_of
from agent.domain.turn.effects import Ask
from agent.domain.turn.journal import Reply
from agent.ports import History, Key, ModelChoice, Prompt, Seen, Tool
from agent.recording.turn import Inputs
from agent.turns.needs import Limits, Ports
from agent.turns.prompting import UNBOUNDED, Material, estimated, prompt_for
from agent.turns.unheard import unheard
from contracts.company import CompanyConfig
from contracts.context_rpc import FullContext
from runtime.gen_ai import SPAN_CONTEXT
from runtime.telemetry import current_span, span


class Knowing:
    """One delivery's knowledge."""

    def __init__(self, ports: Ports, limits: Limits, key: Key) -> None:
        self._ports = ports
        self._limits = limits
        self.key = key
        self._history: tuple[int, asyncio.Task[History]] | None = None
        self._context: tuple[int, asyncio.Task[FullContext | None]] | None = None
        self.compressed: Compressed | None = None
        self.context: FullContext | None = None
        self.inputs: Inputs | None = None
        self.tools: tuple[Tool, ...] = ()
        self._sent: tuple[Prompt, str] | None = None

    def begin(self, seq: int) -> "asyncio.Task[History]":
        """What was said up to `seq`, on its way: as begun before, or from now on."""
        if self._history is None or self._history[0] != seq:
            self._history = (seq, unheard(self._ports.histories.up_to(self.key, seq)))
        return self._history[1]

    def begin_context(self, seen: Seen) -> "asyncio.Task[FullContext | None] | None":
        """A customer's context for the newest message, on its way; None: a visitor has none."""
        asker, seq = seen.asker, seen.view.newest_visitor
        if asker.role != "user" or asker.user is None:
            return None
        if self._context is None or self._context[0] != seq:
            self._context = (seq, unheard(self._ports.contexts.full(self.key, asker, seen.text, seen.view.seq)))
        return self._context[1]

    async def own_reply(self, effect: Ask, seen: Seen) -> Reply | None:
        """What the agent itself does or says at the user's plain words; None: the model is to be asked."""
        if seen.asker.role != "user" or seen.asker.user is None:
            return None
        done = finished(effect.journal)
        if done:
            answer = own_answer(done, seen.asker.language)
            return said(answer) if answer else None
        if effect.journal.iterations or effect.last:
            return None
        history = await asyncio.shield(self.begin(effect.view.seq))
        self.inputs = Inputs(seen, history)
        unanswered = [one.text for one in history.messages if not one.mine and one.seq > effect.view.basis]
        return own_step("\n".join(unanswered), seen.asked)

    async def prompt(
        self, effect: Ask, config: CompanyConfig, seen: Seen, seconds: float, choice: ModelChoice
    ) -> Prompt:
        """The prompt of the next call of the models of `choice`."""
        with span(SPAN_CONTEXT) as work:
            history, context = self.begin(effect.view.seq), self.begin_context(seen)
            tools = await self._ports.catalogue.offered(self.key.company, seen.asker)
            # Shielded: a call that is no longer wanted must not take what the next one needs with it.
            self.context = await asyncio.shield(context) if context is not None else None
            heard = await asyncio.shield(history)
            tools = offered_with_analysis(tools, seen.asker, heard)
            self.tools, self.inputs = tools, Inputs(seen, heard, self.context)
            material = Material(
                config=config,
                asker=seen.asker,
                history=self.inputs.history,
                journal=effect.journal,
                tools=tools,
                last=effect.last,
                time_limit=seconds,
                context=self.context,
                window=self._limits.window,
            )
            model, name = choice.candidates[0]
            # Rules have no window, and read results whole.
            room = UNBOUNDED if model.provider == "offline" else window_of(name) or self._limits.model_window
            prompt, self.compressed = await prompt_for(material, self._ports.encoders, name, room)
            self._sent = prompt, name
            if self.context is not None:
                work.set_attributes({"nexus.context.missing": self.context.missing})
        return prompt

    async def tell_estimate(self) -> None:
        """The last prompt's tokens, on the turn's span: counted when nobody waits for the answer any more."""
        work = current_span()
        if self._sent is not None and work.recorded:
            prompt, name = self._sent
            counter = await self._ports.encoders.counter(name)
            work.set_attributes(estimated(counter, prompt, self._limits.window))

    def close(self) -> None:
        """Lets go of what is still on its way."""
        for begun in (self._history, self._context):
            if begun is not None:
                begun[1].cancel()
