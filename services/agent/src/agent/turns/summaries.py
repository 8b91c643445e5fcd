"""Summaries of long conversations, made after a turn by a small model and kept by memory: the next prompt has them.

Nobody waits for them. A summary that is lost with its agent is made by the next turn that needs it.
"""

import asyncio

import structlog

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import PromptMessage
from agent.domain.context.extract import extract, limited
from agent.domain.cost import SpendingAccount
from agent.domain.prompt.summary import summary_messages
from agent.domain.providers import small_model
from agent.errors import BudgetSpentError, ModelError
from agent.measures import SUMMARIES
from agent.ports import Asker, Contexts, Key, Models, Prompt
from agent.turns.metering import Spending, ask_paid
from contracts.company import CompanyConfig
from contracts.context_rpc import MOST_MESSAGES
from contracts.events.chat import Role

log = structlog.get_logger(__name__)

MOST = 32
"""Summaries in the making; further ones are left to later turns."""
SECONDS = 20.0
"""For the model that sums up."""
_MINE = {Role.ASSISTANT: True, Role.OPERATOR: True, Role.VISITOR: False, Role.USER: False}


class Summarizing:
    """One summary a conversation at a time."""

    def __init__(self, contexts: Contexts, encoders: Encodings, models: Models, spending: Spending) -> None:
        self._contexts = contexts
        self._encoders = encoders
        self._models = models
        self._spending = spending
        self._running: dict[Key, asyncio.Task[None]] = {}

    def want(self, key: Key, asker: Asker, config: CompanyConfig, up_to: int) -> None:
        """A summary of everything up to a sequence, but for what is summed up already."""
        if key in self._running or len(self._running) >= MOST:
            return
        task = asyncio.create_task(self._make(key, asker, config, up_to))
        self._running[key] = task
        task.add_done_callback(lambda _: self._running.pop(key, None))

    async def drain(self, seconds: float) -> None:
        """Waits for what is being made, and gives up the rest."""
        running = list(self._running.values())
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            for task in late:
                task.cancel()

    async def _make(self, key: Key, asker: Asker, config: CompanyConfig, up_to: int) -> None:
        try:
            outcome = await self._kept(key, asker, config, up_to)
        except Exception as error:
            # Nobody waits for it: the next turn makes it.
            log.warning("summary.failed", conversation=key.conversation, error=type(error).__name__)
            outcome = "failed"
        SUMMARIES.labels(outcome).inc()

    async def _kept(self, key: Key, asker: Asker, config: CompanyConfig, up_to: int) -> str:
        context = await self._contexts.full(key, asker, "", up_to, config, MOST_MESSAGES)
        conversation = context.conversation if context else None
        if conversation is None:
            return "no_context"
        stored = conversation.summary
        heard = [
            PromptMessage(_MINE[message.role], message.text, message.seq)
            for message in conversation.recent_messages
            if message.role in _MINE and message.seq <= up_to
        ]
        if not heard:
            return "up_to_date"
        earlier = stored.text if stored else None
        outcome, text = "model", await self._by_model(key, asker, config, earlier, heard)
        counter = await self._encoders.counter(config.preferred_model)
        if not text:
            outcome = "rules"
            text = extract(earlier, heard, counter.text, asker.language)
        text = limited(text or "", counter.text)
        if not text:
            return "empty"
        messages = len(heard) + (stored.messages if stored else 0)
        await self._contexts.save(key, text, heard[-1].seq, messages, stored)
        return outcome

    async def _by_model(
        self, key: Key, asker: Asker, config: CompanyConfig, earlier: str | None, heard: list[PromptMessage]
    ) -> str | None:
        """The small model's key points; None: it has none to give."""
        provider = config.preferred_provider
        small = small_model(provider, config.budget.cheaper_model or config.preferred_model)
        if self._models.chosen(provider, small).candidates[0][0].provider == "offline":
            return None
        prompt = Prompt(
            messages=summary_messages(earlier, heard, asker.language),
            tools=(),
            tool_choice="none",
            model=small,
            temperature=0.2,
            max_tokens=300,
            time_limit=SECONDS,
            language=asker.language,
        )
        account = SpendingAccount(key.company, key.conversation, asker.user or key.conversation, asker.user)
        cheap = config.model_copy(update={"preferred_model": small})
        try:
            reply = await ask_paid(self._spending, self._models, account, cheap, prompt)
        except (ModelError, BudgetSpentError):
            return None
        return reply.text.strip() or None
