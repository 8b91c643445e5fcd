"""One completion: the same loop of model and tools as in a turn, for a caller who keeps the conversation.

Nothing is stored. A journal in memory counts the steps and gives the calls their ids, so that the executor can tell
them apart. Orders that a model prepares wait for the user's confirmation in the chat or over /v2, and the answer says
so.
"""

import asyncio
import time
from dataclasses import replace

from agent.completions.deps import Prove, SilentEvents
from agent.completions.prompt import check_fits, prompt_for
from agent.completions.speech import Speech
from agent.domain.actions import pending_actions, waiting_text
from agent.domain.context.compression import PromptMessage
from agent.domain.cost import SpendingAccount
from agent.domain.offered_tool import OfferedTool
from agent.domain.own_words import OwnWords, own_words_from
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
from agent.turns.deps import Limits, Ports
from agent.turns.tool_runs import CallRound, run_calls
from contracts.company import CompanyConfig
from contracts.completion_rpc import NO_PICTURES, OWN_MODEL, CompleteRequest, CompletionCall, CompletionEnd, ModelName
from contracts.context_rpc import FullContext
from contracts.events.chat import Usage
from contracts.languages import Language

MIN_TOOL_SECONDS = 1.0
"""Seconds that a tool call gets at least, even if less time is left."""
_NO_MODEL = "no model is configured, and the built-in assistant"
SHAPE_NEEDS_MODEL = f"{_NO_MODEL} writes no JSON: set a model's key, or ask for text"
TOOL_CHOICE_NEEDS_MODEL = f"tool_choice: {_NO_MODEL} calls none of your tools: set a model's key, or leave it out"


class Completions:
    """All completions of this agent."""

    def __init__(self, ports: Ports, prove: Prove, limits: Limits) -> None:
        """`limits`: those of turns."""
        self._ports = ports
        self._prove = prove
        self.limits = limits

    async def models(self, company: str) -> list[ModelName]:
        """Returns the models that a caller of the company may name; raises HelpRefusedError, UnreachableError."""
        config = await self._config(company)
        names = self._ports.models.for_company(config).named(config.preferred_provider, config.preferred_model)
        return [
            ModelName(id=OWN_MODEL, provider="nexus"),
            *(ModelName(id=name, provider=provider) for provider, name in names),
        ]

    async def complete(self, request: CompleteRequest, speech: Speech) -> CompletionEnd:
        """Answers the request; streams the text to `speech` and returns the end of the answer.

        Raises:
            HelpRefusedError: UNAUTHORIZED; NOT_FOUND with the reason company or model; BAD_FIELD, with the
                reason CONTEXT_LENGTH, NO_PICTURES or tool_choice, or without one if a model is needed.
            BudgetSpentError, ModelError, UnreachableError; BrokenOffError from `speech`.
        """
        requester = self._prove(request.principal, request.company_id)
        if requester is None:
            raise HelpRefusedError("UNAUTHORIZED", "no valid principal of this company")
        config = await self._config(request.company_id)
        sight = PictureSupport(config.own_model, self.limits.sees)
        language = request.language or _language(request, requester.language)
        user_texts = tuple(message.content for message in request.messages if message.role == "user")
        requester = replace(requester, language=language, said=user_texts)
        our_tools, context = await asyncio.gather(
            self._offered(request, requester), self._context(request, requester, config)
        )
        now = time.time()
        journal = Journal(request.request_id, basis=0, started_at=now, deadline=now + self.limits.turn)
        while True:
            reply = await self._ask(config, request, requester, journal, our_tools, context, sight, speech)
            caller_tool_names = {tool.name for tool in request.tools}
            our_calls = tuple(call for call in reply.calls if call.tool not in caller_tool_names)
            if not our_calls:
                speech.finish_reply()
                break
            if request.structured:
                speech.restart()  # what a model says before it looks something up is no part of the data
            speech.finish_reply()
            # Calls of the caller's tools in the same reply are dropped: the model repeats them after our results.
            journal = with_reply(journal, replace(reply, calls=our_calls), last=False)
            journal = with_results(journal, await self._results(request, journal, requester, our_tools))
        journal = with_reply(journal, reply, last=True)
        if (
            not request.structured
            and reply.provider != "offline"
            and not reply.calls
            and has_broken_promise(reply.text, journal, [tool.name for tool in our_tools])
        ):
            speech.text(TEXTS["step.unchanged"].in_language(language))  # streamed text cannot be taken back
            speech.finish_reply()
        actions = pending_actions(journal)
        if actions and not request.structured:
            speech.text(waiting_text(actions, language))
            speech.finish_reply()
        await speech.finish()
        return CompletionEnd(
            finish_reason="tool_calls" if reply.calls else "length" if reply.cut else "stop",
            model=journal.model,
            usage=Usage(prompt_tokens=journal.usage.prompt, completion_tokens=journal.usage.completion),
            calls=[_completion_call(call, request, index) for index, call in enumerate(reply.calls)],
            actions=list(actions),
        )

    async def _config(self, company: str) -> CompanyConfig:
        settings = await self._ports.companies.get(company)
        if settings is None:
            raise HelpRefusedError("NOT_FOUND", f"no company {company}", reason="company")
        return settings.config

    def _choice(self, config: CompanyConfig, request: CompleteRequest, sight: PictureSupport) -> ModelChoice:
        """Returns the models to try: the named one alone, or those of the company's own setting; only models that take
        pictures if the request has any. Raises HelpRefusedError if there are none."""
        models, model = self._ports.models.for_company(config), request.model
        preferred = (config.preferred_provider, config.preferred_model)
        if model == OWN_MODEL:
            choice = models.chosen(*preferred)
        elif provider := next((provider for provider, name in models.named(*preferred) if name == model), None):
            choice = models.only(provider, model)
        else:
            message = f"there is no model {model!r}: GET /v1/models lists them"
            raise HelpRefusedError("NOT_FOUND", message, reason="model")
        if not any(message.pictures for message in request.messages):
            return choice
        candidates = tuple((model, name) for model, name in choice.candidates if sight.of(model.provider, name))
        if not candidates:
            others = ", ".join(name for provider, name in models.named(*preferred) if sight.of(provider, name))
            advice = f"use {others}" if others else "leave them out"
            message = f"messages: the model {choice.candidates[0][1]!r} takes no pictures: {advice}"
            raise HelpRefusedError("BAD_FIELD", message, reason=NO_PICTURES)
        return ModelChoice(candidates)

    async def _offered(self, request: CompleteRequest, requester: Requester) -> tuple[OfferedTool, ...]:
        if request.tool_choice != "auto":
            return ()
        caller_tool_names = {tool.name for tool in request.tools}
        offered = await self._ports.catalogue.offered(request.company_id, requester)
        return tuple(tool for tool in offered if tool.name not in caller_tool_names)

    async def _context(
        self, request: CompleteRequest, requester: Requester, config: CompanyConfig
    ) -> FullContext | None:
        """Returns what is known of a customer, without a conversation, which the caller keeps; None if memory fails."""
        if requester.role != "user" or not requester.said:
            return FullContext()
        key = ConversationKey(request.company_id, request.request_id)
        context = await self._ports.contexts.full(key, requester, requester.said[-1], 0, config)
        if context is None:
            return None
        missing = [name for name in context.missing if not name.startswith("conversation")]
        return context.model_copy(update={"conversation": None, "missing": missing})

    async def _ask(
        self,
        config: CompanyConfig,
        request: CompleteRequest,
        requester: Requester,
        journal: Journal,
        our_tools: tuple[OfferedTool, ...],
        context: FullContext | None,
        sight: PictureSupport,
        speech: Speech,
    ) -> ModelAnswer:
        remaining = journal.deadline - time.time()
        if remaining <= 0:
            raise ModelDownError("no time is left for the model")
        seconds = min(remaining, self.limits.model)
        choice = self._choice(config, request, sight)
        model, name = choice.candidates[0]
        is_offline = model.provider == "offline"
        if is_offline and request.tool_choice == "required":
            raise HelpRefusedError("BAD_FIELD", TOOL_CHOICE_NEEDS_MODEL, reason="tool_choice")
        if is_offline and request.structured:
            raise HelpRefusedError("BAD_FIELD", SHAPE_NEEDS_MODEL)
        texts = [message.content for message in request.messages if message.role in ("user", "assistant")]
        shown = our_tools if is_offline else choose_tools(our_tools, texts, journal, requester.language)
        prompt = prompt_for(
            config, request, requester, journal, shown, context=context, time_limit=seconds, sight=sight
        )
        prompt = replace(prompt, total_time_limit=remaining)
        if not journal.steps and not is_offline:  # the offline provider has no window
            window = (window_of(name) or self.limits.model_window) - picture_tokens(prompt.messages)
            await check_fits(prompt, self._ports.encoders, name, window)
        # The hourly limit applies to persons; a service only spends from the company's budget.
        payer = requester.user if requester.role == "user" else None
        account = SpendingAccount(
            request.company_id, payer=payer, user=requester.user, turn_id=journal.turn_id, door=request.door
        )
        reply = await ask_paid(self._ports.spending, self._ports.models, account, config, prompt, speech, choice)
        if journal.iterations >= config.tool_config.max_iterations or request.tool_choice == "none":
            # A model may ask for tools although it was told to answer. Calls of the caller's tools are passed on, ours
            # are dropped.
            caller_tool_names = {tool.name for tool in request.tools} if prompt.tool_choice != "none" else set[str]()
            reply = replace(reply, calls=tuple(call for call in reply.calls if call.tool in caller_tool_names))
        return reply

    async def _results(
        self, request: CompleteRequest, journal: Journal, requester: Requester, our_tools: tuple[OfferedTool, ...]
    ) -> dict[str, str]:
        round_ = CallRound(
            key=ConversationKey(request.company_id, ""),
            journal=journal,
            requester=requester,
            tools=our_tools,
            seconds=max(min(self.limits.tool, journal.deadline - time.time()), MIN_TOOL_SECONDS),
            own_words=own_words_of(request),
        )
        return await run_calls(self._ports.tools, SilentEvents(), round_)


def _language(request: CompleteRequest, default: Language) -> Language:
    texts = (message.content or "" for message in reversed(request.messages) if message.role in ("user", "assistant"))
    return language_last_shown(texts, default)


def _completion_call(call: RequestedCall, request: CompleteRequest, index: int) -> CompletionCall:
    return CompletionCall(
        id=call.model_id or f"call_{request.request_id}_{index}", name=call.tool, arguments=call.arguments
    )


def own_words_of(request: CompleteRequest) -> OwnWords:
    """Returns the own words of the caller's user. Results of the caller's tools count as foreign texts."""
    messages = [
        PromptMessage(mine=message.role == "assistant", text=message.content, seq=position)
        for position, message in enumerate(request.messages, 1)
        if message.role in ("user", "assistant")
    ]
    newest = max((message.seq for message in messages if not message.mine), default=0)
    last_answer = max((message.seq for message in messages if message.mine and message.seq < newest), default=0)
    return own_words_from(
        messages, last_answer, [message.content for message in request.messages if message.role == "tool"]
    )
