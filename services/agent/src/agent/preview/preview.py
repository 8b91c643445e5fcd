"""Answers one question with unsaved settings: the loop of a turn, without a conversation.

Nothing is stored. The tools are those of a visitor, which have no side effects. The executor knows only the saved
settings, so the offered tools and the pages that they read are as saved. The cost is recorded.
"""

import time
from dataclasses import replace
from uuid import uuid4

from agent.completions.deps import Prove, SilentEvents
from agent.domain.context.compression import PromptMessage
from agent.domain.cost import SpendingAccount
from agent.domain.grounding import knowledge_query, with_grounding
from agent.domain.knowledge import best_within_budget
from agent.domain.offered_tool import OfferedTool
from agent.domain.own_words import OwnWords
from agent.domain.prompt.layers import VisitorInfo, base_layer, layers_of
from agent.domain.tool_results import citations
from agent.domain.turn.journal import Journal, with_reply, with_results
from agent.errors import HelpRefusedError, ModelDownError
from agent.llm.paid_calls import ask_paid
from agent.ports import ConversationKey, PromptHistory, Requester
from agent.preview.model_check import check_model
from agent.turns.composer import UNLIMITED_WINDOW, Composer, PromptMaterial, prompt_for
from agent.turns.deps import Limits, Ports
from agent.turns.tool_runs import CallRound, run_calls
from contracts.company import CompanyConfig
from contracts.events.chat import Usage
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language
from contracts.preview_rpc import (
    TRY_SECONDS,
    ModelCheckReply,
    ModelCheckRequest,
    PromptLayer,
    PromptReply,
    PromptRequest,
    TryReply,
    TryRequest,
)


class Preview:
    """Builds prompts and answers with unsaved settings."""

    def __init__(self, ports: Ports, prove: Prove, limits: Limits) -> None:
        self._ports = ports
        self._prove = prove
        self._limits = limits

    async def prompt(self, request: PromptRequest) -> PromptReply:
        """Returns the prompt's layers before the conversation; raises HelpRefusedError, UnreachableError."""
        requester, tools = await self._visitor(request.principal, request.config, request.language)
        config = request.config
        names = tuple(tool.name for tool in tools)
        visitor = (
            VisitorInfo(requester.page_url, requester.funnel_stage, visits=1) if config.include_visitor_info else None
        )
        layers = layers_of(
            request.language, custom=base_layer(request.language, config), visitor=visitor, tool_names=names
        )
        counter = await self._ports.encoders.counter(request.config.preferred_model)
        system = {"role": "system", "content": "\n\n".join(text for _, text in layers)}
        return PromptReply(
            layers=[PromptLayer(name=name, text=text) for name, text in layers],
            tools=list(names),
            tokens=counter.message(system) + counter.tools(tools),
        )

    async def check_model(self, request: ModelCheckRequest) -> ModelCheckReply:
        """Checks whether the settings' model answers; raises BudgetSpentError."""
        return await check_model(self._ports, request)

    async def answer(self, request: TryRequest) -> TryReply:
        """Answers the question; raises HelpRefusedError, BudgetSpentError, ModelError, UnreachableError."""
        config = request.config
        requester, tools = await self._visitor(request.principal, config, request.language)
        now = time.time()
        journal = Journal(uuid4().hex, basis=0, started_at=now, deadline=now + TRY_SECONDS)
        history = PromptHistory((PromptMessage(mine=False, text=request.question, seq=1),))
        query = knowledge_query(history.messages, journal.basis, request.language)
        knowledge = await self._ports.knowledge.search(config.company_id, query) if query else KnowledgeFound()
        account = SpendingAccount(config.company_id, user=requester.user, turn_id=journal.turn_id)
        while True:
            remaining = journal.deadline - time.time()
            if remaining <= 0:
                raise ModelDownError("no time is left for the model")
            is_last = journal.iterations >= config.tool_config.max_iterations
            models = self._ports.models.for_company(config)
            choice = models.chosen(config.preferred_provider, config.preferred_model)
            model, name = choice.candidates[0]
            is_offline = model.provider == "offline"
            model_window, window = UNLIMITED_WINDOW if is_offline else self._limits.model_window, self._limits.window
            if knowledge is not None and not is_offline:
                knowledge = best_within_budget(knowledge, (await self._ports.encoders.counter(name)).text)
            material = PromptMaterial(
                config, requester, history, journal, tools, is_last, remaining, window=window, knowledge=knowledge
            )
            prompt, _ = await prompt_for(Composer(material), self._ports.encoders, name, model_window)
            reply = await ask_paid(self._ports.spending, self._ports.models, account, config, prompt, choice=choice)
            journal = with_reply(journal, with_grounding(reply, journal, knowledge, query), last=is_last)
            if journal.ended:
                break
            round_ = CallRound(
                key=ConversationKey(config.company_id, ""),
                journal=journal,
                requester=requester,
                tools=tools,
                seconds=max(min(self._limits.tool, journal.deadline - time.time()), 1.0),
                own_words=OwnWords(request.question),
            )
            journal = with_results(journal, await run_calls(self._ports.tools, SilentEvents(), round_))
        return TryReply(
            text=journal.answer or "",
            model=journal.model,
            provider=journal.provider,
            tools=[call.tool for call in journal.calls],
            citations=list(citations(journal)),
            usage=Usage(prompt_tokens=journal.usage.prompt, completion_tokens=journal.usage.completion),
        )

    async def _visitor(
        self, principal: str, config: CompanyConfig, language: Language
    ) -> tuple[Requester, tuple[OfferedTool, ...]]:
        requester = self._prove(principal, config.company_id)
        if requester is None:
            raise HelpRefusedError("UNAUTHORIZED", "no valid principal of this company")
        requester = replace(requester, language=language)
        return requester, await self._ports.catalogue.offered(config.company_id, requester)
