"""Background work after a customer's turn, with a small model. Its amount is bounded, the same work never runs twice at
once, and nobody waits for it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable

import structlog
from prometheus_client import Counter

from agent.domain.context.compression import Messages
from agent.domain.cost import SpendingAccount
from agent.domain.providers import small_model
from agent.errors import BudgetSpentError, ModelError
from agent.llm.paid_calls import Spending, ask_paid
from agent.ports import ConversationKey, ModelRequest, Models, Requester
from contracts.company import CompanyConfig

log = structlog.get_logger(__name__)

MODEL_TIMEOUT_SECONDS = 20.0
"""Seconds for the model's reply."""


class AfterTurn:
    """Runs at most `max_running` jobs at once and drops further ones. `outcomes` counts how they end; `name` is for
    logs."""

    def __init__(self, name: str, max_running: int, outcomes: Counter) -> None:
        self._name = name
        self._max_running = max_running
        self._outcomes = outcomes
        self._running: dict[Hashable, asyncio.Task[None]] = {}

    def begin(self, key: Hashable, work: Callable[[], Awaitable[str]], **about: str) -> None:
        """Starts `work`, which returns its outcome, unless a job with this key is running. `about`: log fields."""
        if key in self._running or len(self._running) >= self._max_running:
            return
        task = asyncio.create_task(self._run(work, about))
        self._running[key] = task
        task.add_done_callback(lambda _: self._running.pop(key, None))

    async def drain(self, seconds: float) -> None:
        """Waits up to `seconds` for the running jobs, then cancels the rest."""
        running = list(self._running.values())
        if running:
            _, unfinished = await asyncio.wait(running, timeout=seconds)
            for task in unfinished:
                task.cancel()

    async def _run(self, work: Callable[[], Awaitable[str]], about: dict[str, str]) -> None:
        try:
            outcome = await work()
        except Exception as error:
            # Nobody awaits the job, so its error ends here.
            log.warning(f"{self._name}.failed", **about, error=type(error).__name__)
            outcome = "failed"
        self._outcomes.labels(outcome).inc()


class SmallModel:
    """The small model of a company's provider, paid for like a turn's calls."""

    def __init__(self, models: Models, spending: Spending) -> None:
        self._models = models
        self._spending = spending

    def is_available(self, config: CompanyConfig) -> bool:
        """Whether a model would answer, not the offline provider."""
        names = self._models.for_company(config).named(config.preferred_provider, _small_model_name(config))
        return names[0][0] != "offline"

    async def ask(
        self,
        key: ConversationKey,
        requester: Requester,
        config: CompanyConfig,
        messages: Messages,
        *,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> str | None:
        """Returns the model's reply; None if it failed or the budget is spent."""
        prompt = ModelRequest(
            messages=messages,
            tools=(),
            tool_choice="none",
            model=_small_model_name(config),
            temperature=temperature,
            max_tokens=max_tokens,
            time_limit=MODEL_TIMEOUT_SECONDS,
            language=requester.language,
        )
        account = SpendingAccount(key.company, key.conversation, requester.user or key.conversation, requester.user)
        small_config = config.model_copy(update={"preferred_model": prompt.model})
        try:
            reply = await ask_paid(self._spending, self._models, account, small_config, prompt)
        except (ModelError, BudgetSpentError):
            return None
        return reply.text


def _small_model_name(config: CompanyConfig) -> str:
    return small_model(config.preferred_provider, config.budget.cheaper_model or config.preferred_model)
