"""One completion: the same loop of model and tools as in a turn, for a caller who keeps the conversation.

Nothing is stored. A journal in memory counts the steps and names the calls, so that the executor can tell them apart.
Orders that a model prepares wait for the user's confirmation in the chat or over /v2, and the answer says so.
"""

import time
from dataclasses import replace

from agent.completions.deps import CompletionPorts, SilentEvents
from agent.completions.prompt import prompt_for
from agent.completions.speech import Speech
from agent.completions.window_check import check_fits
from agent.domain.actions import pending_actions, waiting_text
from agent.domain.context.compression import PromptMessage
from agent.domain.cost import SpendingAccount
from agent.domain.offered_tool import OfferedTool
from agent.domain.own_words import OwnWords, words_of
from agent.domain.pictures import PictureSupport, picture_tokens
from agent.domain.promise import has_broken_promise
from agent.domain.providers import window_of
from agent.domain.text_features import language_last_shown
from agent.domain.tool_choice import choose_tools
from agent.domain.turn.journal import Journal, ModelAnswer, RequestedCall, with_reply, with_results
from agent.errors import HelpRefusedError, ModelDownError
from agent.llm.paid_calls import ask_paid
from agent.ports import ConversationKey, ModelChoice, Requester
from agent.texts import TEXTS
from agent.turns.deps import Limits
from agent.turns.tool_runs import CallRound, outcomes
from contracts.company import CompanyConfig
from contracts.completion_rpc import NO_PICTURES, OWN_MODEL, CompleteRequest, CompletionCall, CompletionEnd, ModelName
from contracts.events.chat import Usage
from contracts.languages import Language

LEAST_TOOL_SECONDS = 1.0
"""The seconds that a tool gets, however little time is left."""


class Completions:
    """All completions of this agent."""

    def __init__(self, ports: CompletionPorts, limits: Limits) -> None:
        self._ports = ports
        self._limits = limits

    @property
    def limits(self) -> Limits:
        """Seconds of a whole completion, of a model call, of a tool call."""
        return self._limits

    async def models(self, company: str) -> list[ModelName]:
        """The models that a caller of the company may name; raises HelpRefusedError, UnreachableError."""
        config = await self._config(company)
        named = self._ports.models.for_company(config).named(config.preferred_provider, config.preferred_model)
        return [ModelName(id=OWN_MODEL, provider="nexus"), *(ModelName(id=name, provider=of) for of, name in named)]

    async def complete(self, request: CompleteRequest, speech: Speech) -> CompletionEnd:
        """The answer, said into `speech` as it comes.

        Raises:
            HelpRefusedError: UNAUTHORIZED; NOT_FOUND with the reason company or model; BAD_FIELD with
                CONTEXT_LENGTH or NO_PICTURES.
            BudgetSpentError, ModelError, UnreachableError; BrokenOffError from `speech`.
        """
        requester = self._ports.prove(request.principal, request.company_id)
        if requester is None:
            raise HelpRefusedError("UNAUTHORIZED", "no valid principal of this company")
        config = await self._config(request.company_id)
        sight = PictureSupport(config.own_model, self._limits.sees)
        choice = self._seeing(config, request, self._choice(config, request.model), sight)
        language = request.language or _language(request, requester.language)
        said = tuple(one.content for one in request.messages if one.role == "user")
        requester = replace(requester, language=language, said=said)
        ours = await self._offered(request, requester)
        now = time.time()
        journal = Journal(request.request_id, basis=0, started_at=now, deadline=now + self._limits.turn)
        while True:
            reply = await self._ask(config, request, requester, journal, ours, choice, sight, speech)
            names = {tool.name for tool in request.tools}
            mine = tuple(call for call in reply.calls if call.tool not in names)
            if not mine:
                break
            # Calls of the caller's beside ours wait: with our results there, the model asks for them again.
            journal = with_reply(journal, replace(reply, calls=mine), last=False)
            journal = with_results(journal, await self._results(request, journal, requester, ours))
        journal = with_reply(journal, reply, last=True)
        if (
            reply.provider != "offline"
            and not reply.calls
            and has_broken_promise(reply.text, journal, [tool.name for tool in ours])
        ):
            speech.text(TEXTS["step.unchanged"].in_language(language))  # what was streamed cannot be taken back
            speech.finish_reply()
        actions = pending_actions(journal)
        if actions:
            speech.text(waiting_text(actions, language))
            speech.finish_reply()
        await speech.finish()
        return CompletionEnd(
            finish_reason="tool_calls" if reply.calls else "length" if reply.cut else "stop",
            model=journal.model,
            usage=Usage(prompt_tokens=journal.usage.prompt, completion_tokens=journal.usage.completion),
            calls=[_returned(call, request, index) for index, call in enumerate(reply.calls)],
            actions=list(actions),
        )

    async def _config(self, company: str) -> CompanyConfig:
        settings = await self._ports.companies.get(company)
        if settings is None:
            raise HelpRefusedError("NOT_FOUND", f"no company {company}", reason="company")
        return settings.config

    def _choice(self, config: CompanyConfig, model: str) -> ModelChoice | None:
        """None: the company's setting, with its chain. A named model has no substitute."""
        if model == OWN_MODEL:
            return None
        for provider, name in self._ports.models.for_company(config).named(
            config.preferred_provider, config.preferred_model
        ):
            if name == model:
                return self._ports.models.for_company(config).only(provider, name)
        raise HelpRefusedError("NOT_FOUND", f"there is no model {model!r}: GET /v1/models lists them", reason="model")

    def _seeing(
        self, config: CompanyConfig, request: CompleteRequest, choice: ModelChoice | None, sight: PictureSupport
    ) -> ModelChoice | None:
        """The choice, limited to models that accept pictures if there are any; raises HelpRefusedError if no model
        does."""
        if not any(one.pictures for one in request.messages):
            return choice
        models = self._ports.models.for_company(config)
        asked = choice or models.chosen(config.preferred_provider, config.preferred_model)
        seeing = tuple((model, name) for model, name in asked.candidates if sight.of(model.provider, name))
        if not seeing:
            names = models.named(config.preferred_provider, config.preferred_model)
            others = ", ".join(name for provider, name in names if sight.of(provider, name))
            message = f"messages: the model {asked.candidates[0][1]!r} takes no pictures: " + (
                f"use {others}" if others else "leave them out"
            )
            raise HelpRefusedError("BAD_FIELD", message, reason=NO_PICTURES)
        return ModelChoice(seeing)

    async def _offered(self, request: CompleteRequest, requester: Requester) -> tuple[OfferedTool, ...]:
        if request.tool_choice != "auto":
            return ()
        theirs = {tool.name for tool in request.tools}
        offered = await self._ports.catalogue.offered(request.company_id, requester)
        return tuple(tool for tool in offered if tool.name not in theirs)

    async def _ask(
        self,
        config: CompanyConfig,
        request: CompleteRequest,
        requester: Requester,
        journal: Journal,
        ours: tuple[OfferedTool, ...],
        choice: ModelChoice | None,
        sight: PictureSupport,
        speech: Speech,
    ) -> ModelAnswer:
        left = journal.deadline - time.time()
        if left <= 0:
            raise ModelDownError("no time is left for the model")
        seconds = min(left, self._limits.model)
        chosen = choice or self._ports.models.for_company(config).chosen(
            config.preferred_provider, config.preferred_model
        )
        model, name = chosen.candidates[0]
        rules = model.provider == "offline"
        said = [one.content for one in request.messages if one.role in ("user", "assistant")]
        shown = ours if rules else choose_tools(ours, said, journal, requester.language)
        prompt = prompt_for(config, request, requester, journal, shown, time_limit=seconds, sight=sight)
        prompt = replace(prompt, longest=left)
        if not journal.steps and not rules:  # rules have no window
            window = (window_of(name) or self._limits.model_window) - picture_tokens(prompt.messages)
            await check_fits(prompt, self._ports.encoders, name, window)
        # The hourly limit is a person's; a service spends the company's.
        payer = requester.user if requester.role == "user" else None
        account = SpendingAccount(
            request.company_id, payer=payer, user=requester.user, turn_id=journal.turn_id, door=request.door
        )
        reply = await ask_paid(self._ports.spending, self._ports.models, account, config, prompt, speech, choice)
        speech.finish_reply()
        if journal.iterations >= config.tool_config.max_iterations or request.tool_choice == "none":
            # Told to answer, a model may ask for tools all the same: the caller's are theirs to run, ours are not.
            theirs = {tool.name for tool in request.tools} if prompt.tool_choice != "none" else set[str]()
            reply = replace(reply, calls=tuple(call for call in reply.calls if call.tool in theirs))
        return reply

    async def _results(
        self, request: CompleteRequest, journal: Journal, requester: Requester, ours: tuple[OfferedTool, ...]
    ) -> dict[str, str]:
        asked = CallRound(
            key=ConversationKey(request.company_id, ""),
            journal=journal,
            requester=requester,
            tools=ours,
            seconds=max(min(self._limits.tool, journal.deadline - time.time()), LEAST_TOOL_SECONDS),
            own_words=own_words_of(request),
        )
        return await outcomes(self._ports.tools, SilentEvents(), asked)


def _language(request: CompleteRequest, default: Language) -> Language:
    spoken = (said.content or "" for said in reversed(request.messages) if said.role in ("user", "assistant"))
    return language_last_shown(spoken, default)


def _returned(call: RequestedCall, request: CompleteRequest, index: int) -> CompletionCall:
    return CompletionCall(
        id=call.model_id or f"call_{request.request_id}_{index}", name=call.tool, arguments=call.arguments
    )


def own_words_of(request: CompleteRequest) -> OwnWords:
    """The words of the caller's user. Results of the caller's own tools are other people's texts."""
    spoken = [
        PromptMessage(mine=one.role == "assistant", text=one.content, seq=at)
        for at, one in enumerate(request.messages, 1)
        if one.role in ("user", "assistant")
    ]
    newest = max((one.seq for one in spoken if not one.mine), default=0)
    answered = max((one.seq for one in spoken if one.mine and one.seq < newest), default=0)
    return words_of(spoken, answered, [one.content for one in request.messages if one.role == "tool"])
