"""Steps 1 to 3: whether the tool exists for the caller, whether their plan includes it, and whether quota is left."""

from contracts.errors import ToolCode
from tool_executor.adapters.companies import ExecutorCompanies
from tool_executor.catalogue.announced import Offers
from tool_executor.domain.declaration import ToolUnavailableError
from tool_executor.domain.limits import LimitDecision, Quota
from tool_executor.domain.plans import CompanyTools, Plan
from tool_executor.pipeline.call import CallProgress, Outcome, Rest
from tool_executor.ports import RateLimiter, RedisUnavailableError
from tool_executor.texts import TEXTS


class LoadCompany:
    """Loads the company's settings before all other steps if no tool of this name is known, since the company may have
    declared it itself."""

    def __init__(self, offers: Offers, companies: ExecutorCompanies) -> None:
        self._offers = offers
        self._companies = companies

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        if self._offers.find(call.tool, call.caller.company) is None:
            try:
                await self._companies.tools_of(call.caller.company)
            except ToolUnavailableError:
                message = TEXTS["call.unavailable"].in_language(call.caller.language)
                return call.final_outcome(call.failure(ToolCode.UNAVAILABLE, message, reason="settings"))
        return await rest()


class FindTool:
    """Step 1. A tool that the caller may not see is not found. If settings can be had from neither memory nor the bus,
    the company counts as one without settings, and only tools that depend on settings wait for memory."""

    def __init__(self, offers: Offers, companies: ExecutorCompanies) -> None:
        self._offers = offers
        self._companies = companies

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        language = call.caller.language
        entry = self._offers.find(call.tool, call.caller.company)
        if entry is not None:
            try:
                call.company = await self._companies.tools_of(call.caller.company)
            except ToolUnavailableError:
                if entry.needs_settings(call.caller):
                    return call.failure(
                        ToolCode.UNAVAILABLE, TEXTS["call.unavailable"].in_language(language), reason="settings"
                    )
                call.company = CompanyTools()
            if entry.visible_to(call.caller, call.company):
                call.entry = entry
                return await rest()
        return call.failure(
            ToolCode.TOOL_NOT_FOUND, TEXTS["call.not_found"].in_language(language).format(tool=call.tool)
        )


class Authorize:
    """Step 2. The plan is taken from the verified principal only."""

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        has = Plan.FREE if call.caller.is_visitor else call.caller.plan
        needs = call.found.plan
        if has < needs:
            message = TEXTS[f"call.upgrade_to_{needs.word}"].in_language(call.caller.language).format(tool=call.tool)
            return call.failure(ToolCode.PLAN_REQUIRED, message, required_plan=needs.word)
        return await rest()


class RateStep:
    """Step 3. Without the shared store, calls with side effects wait; others are counted by this process alone."""

    def __init__(self, limiter: RateLimiter, alone: RateLimiter) -> None:
        self._limiter = limiter
        self._alone = alone

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        quota = None if call.degraded else await self._shared(call)
        if call.degraded:
            if call.found.tool.side_effects:
                message = TEXTS["call.unavailable"].in_language(call.caller.language)
                return call.failure(ToolCode.UNAVAILABLE, message, reason="store")
            quota = (await self._ask(self._alone, call)).blocking
        if quota is None:
            return await rest()
        window = quota.window
        per = TEXTS[f"call.windows.{window.name}"]
        message = TEXTS["call.rate_limit"].format(tool=call.tool, limit=window.limit, window=per)
        return call.failure(ToolCode.RATE_LIMIT, message.in_language(call.caller.language), reset_at=quota.reset_at)

    async def _shared(self, call: CallProgress) -> Quota | None:
        try:
            decision = await self._ask(self._limiter, call)
        except RedisUnavailableError:
            call.degraded = True
            return None
        call.quotas = decision.quotas
        return decision.blocking

    @staticmethod
    async def _ask(limiter: RateLimiter, call: CallProgress) -> LimitDecision:
        return await limiter.admit(call.caller, call.tool, call.found.limits, call.call_id)
