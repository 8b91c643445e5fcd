"""Before step 0: what the call asks for. Steps 1 to 3: whether the tool exists for the caller, whether their plan
includes it, and whether quota is left."""

from contracts.errors import ToolCode
from tool_executor.adapters.companies import ExecutorCompanies
from tool_executor.catalogue.announced import Offers
from tool_executor.domain.declaration import ToolUnavailableError
from tool_executor.domain.limits import LimitDecision, Quota
from tool_executor.domain.nulls import without_nulls
from tool_executor.domain.plans import CompanyTools
from tool_executor.pipeline.call import CallProgress, NextSteps, Outcome
from tool_executor.ports import RateLimiter, RedisUnavailableError
from tool_executor.texts import TEXTS


class PrepareCall:
    """Before step 0. Loads the company's settings if no tool of this name is known, because it may be one of the
    company's own tools. Removes optional nulls, so that a call with a null and the same call without it are one
    call."""

    def __init__(self, offers: Offers, companies: ExecutorCompanies) -> None:
        self._offers = offers
        self._companies = companies

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        entry = self._offers.find(call.tool, call.caller.company)
        if entry is None:
            try:
                await self._companies.tools_of(call.caller.company)
            except ToolUnavailableError:
                failure = call.failure(ToolCode.UNAVAILABLE, TEXTS["call.unavailable"], reason="settings")
                return call.final_outcome(failure)
            entry = self._offers.find(call.tool, call.caller.company)
        if entry is not None:
            call.arguments = without_nulls(call.arguments, entry.tool.input_schema)
        return await next_steps()


class FindTool:
    """Step 1. A tool that the caller may not see is not found. If the company's settings cannot be read, the company
    counts as one without settings, and only tools that depend on settings are unavailable."""

    def __init__(self, offers: Offers, companies: ExecutorCompanies) -> None:
        self._offers = offers
        self._companies = companies

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        entry = self._offers.find(call.tool, call.caller.company)
        if entry is not None:
            try:
                call.company = await self._companies.tools_of(call.caller.company)
            except ToolUnavailableError:
                if entry.needs_settings(call.caller):
                    return call.failure(ToolCode.UNAVAILABLE, TEXTS["call.unavailable"], reason="settings")
                call.company = CompanyTools()
            if entry.visible_to(call.caller, call.company):
                call.entry = entry
                return await next_steps()
        return call.failure(ToolCode.TOOL_NOT_FOUND, TEXTS["call.not_found"].format(tool=call.tool))


async def authorize(call: CallProgress, next_steps: NextSteps) -> Outcome:
    """Step 2. The plan is taken from the verified principal only."""
    required_plan = call.tool_entry.plan
    if call.caller.effective_plan < required_plan:
        message = TEXTS[f"call.upgrade_to_{required_plan.word}"].format(tool=call.tool)
        return call.failure(ToolCode.PLAN_REQUIRED, message, required_plan=required_plan.word)
    return await next_steps()


class RateStep:
    """Step 3. Without the shared store, calls with side effects are refused, and others are counted by this process
    only."""

    def __init__(self, limiter: RateLimiter, local_limiter: RateLimiter) -> None:
        self._limiter = limiter
        self._local_limiter = local_limiter

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        quota = None if call.degraded else await self._blocking_quota(call)
        if call.degraded:
            if call.tool_entry.tool.side_effects:
                return call.failure(ToolCode.UNAVAILABLE, TEXTS["call.unavailable"], reason="store")
            quota = (await self._admit(self._local_limiter, call)).blocking
        if quota is None:
            return await next_steps()
        window = quota.window
        window_name = TEXTS[f"call.windows.{window.name}"]
        message = TEXTS["call.rate_limit"].format(tool=call.tool, limit=window.limit, window=window_name)
        return call.failure(ToolCode.RATE_LIMIT, message, reset_at=quota.reset_at)

    async def _blocking_quota(self, call: CallProgress) -> Quota | None:
        try:
            decision = await self._admit(self._limiter, call)
        except RedisUnavailableError:
            call.degraded = True
            return None
        call.quotas = decision.quotas
        return decision.blocking

    @staticmethod
    async def _admit(limiter: RateLimiter, call: CallProgress) -> LimitDecision:
        return await limiter.admit(call.caller, call.tool, call.tool_entry.limits, call.call_id)
