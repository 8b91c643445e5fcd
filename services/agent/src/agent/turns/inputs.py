"""Collects the inputs of a turn: the history, the customer's context, the company's passages, and the prompt made of
them.

All are requested at the same time, once a turn, as soon as the conversation is known. The search for passages travels
in the request for the first call's tokens, while the journal is being saved.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from agent.analysis.in_chat import offered_with_analysis
from agent.domain import hand_over
from agent.domain.client_tools import with_client_tools
from agent.domain.context.compression import Compressed, PromptMessage
from agent.domain.grounding import knowledge_query, with_grounding
from agent.domain.knowledge import CitationNumbers, best_within_budget, given_passages
from agent.domain.offered_tool import OfferedTool
from agent.domain.offline.person_words import asks_for_person, only_asks_for_person
from agent.domain.own_words import OwnWords, own_words_from
from agent.domain.pictures import PICTURE_TOKENS, Picture, PictureSupport, fitting_pictures
from agent.domain.providers import window_of
from agent.domain.sent_files import ReadFile, files_of, only_files
from agent.domain.shortcuts.answers import list_step, recent_answers, rule_calls_answer, undo_step
from agent.domain.shortcuts.memory_words import memory_requests
from agent.domain.shortcuts.steps import READ, next_step, rest_of, rule_answer, rule_step, settled_rule_calls, step
from agent.domain.tool_choice import choose_tools
from agent.domain.tool_results import searches
from agent.domain.turn.effects import CallModel, RunCalls
from agent.domain.turn.journal import Journal, ModelAnswer, TurnCall
from agent.ports import ConversationKey, ModelChoice, ModelRequest, PromptHistory, Requester, TextSink, TurnSnapshot
from agent.record.turn import Inputs
from agent.texts import TEXTS
from agent.turns.cited_text import CitedText
from agent.turns.composer import (
    NO_WISHES,
    UNLIMITED_WINDOW,
    Composer,
    PromptMaterial,
    estimate_attributes,
    prompt_for,
    sequences_in_prompt,
)
from agent.turns.deps import Limits, Ports
from agent.turns.knowledge_search import PassageQuery
from contracts.channels import ChatKind
from contracts.company import CompanyConfig
from contracts.context_rpc import FullContext
from contracts.conversation import Snapshot
from contracts.ids import turn_id
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language
from contracts.person_rules import RuleInput, matching_rule
from runtime.background import start_early
from runtime.observability.gen_ai import SPAN_CONTEXT
from runtime.observability.telemetry import current_span, span


def person_rule_for(config: CompanyConfig, requester: Requester, text: str) -> str | None:
    """Returns where the company's rule sends the message (`person` or `never`); None if no rule matches."""
    rule = matching_rule(config.person_rules, RuleInput(text, requester.plan, requester.page_url))
    return rule.to if rule else None


def foreign_texts(inputs: Inputs) -> list[str]:
    """Returns the texts in a prompt that the user did not write in this conversation: passages, events, earlier notes
    and summaries, the page's title and address."""
    texts = [item.text for item in inputs.knowledge.passages] if inputs.knowledge else []
    context = inputs.context
    if context is not None and context.market is not None:
        texts += [item.model_dump_json() for item in context.market.upcoming_events]
    if context is not None and context.memory is not None:
        texts += context.memory.user_notes
    if context is not None and context.conversation is not None and context.conversation.summary is not None:
        texts.append(context.conversation.summary.text)
    return [*texts, *(text for text in (inputs.history.page_title, inputs.history.page_url) if text)]


def _message_taken(view: Snapshot) -> bool:
    """Whether a message was already taken outside office hours; the company's rules take no second one."""
    owner = view.last.get(ChatKind.OWNER)
    return owner is not None and owner.data.get("opensAt") is not None


def _joined_texts(messages: Iterable[PromptMessage]) -> str:
    return "\n".join(message.text for message in messages)


def _tools(
    offered: tuple[OfferedTool, ...],
    effect: CallModel,
    config: CompanyConfig,
    snapshot: TurnSnapshot,
    history: PromptHistory,
) -> tuple[tuple[OfferedTool, ...], tuple[OfferedTool, ...]]:
    """Returns all tools of the requester, and those that a model is shown: the chosen ones, and all of the client."""
    requester = snapshot.requester
    tools = offered_with_analysis(offered, requester, history, config)
    unanswered_text = _joined_texts(history.unanswered(effect.view.basis))
    if person_rule_for(config, requester, unanswered_text) != "never":
        tools = hand_over.offered_with_hand_over(tools, requester.language)
    texts = [*(entry.text for entry in history.settled(effect.view.basis)), unanswered_text]
    shown = choose_tools(tools, texts, effect.journal, requester.language)
    all_tools = with_client_tools(tools, snapshot.wishes)
    return all_tools, (*shown, *all_tools[len(tools) :])


class TurnInputs:
    """The inputs of one delivery."""

    def __init__(self, ports: Ports, limits: Limits, key: ConversationKey) -> None:
        self._ports = ports
        self._limits = limits
        self.key = key
        self._history: tuple[int, asyncio.Task[PromptHistory]] | None = None
        self._context: tuple[int, asyncio.Task[FullContext | None]] | None = None
        self._search: tuple[int, PassageQuery] | None = None
        self._files: tuple[int, asyncio.Task[tuple[ReadFile, ...]]] | None = None
        self._pictures: tuple[int, asyncio.Task[Mapping[str, str]]] | None = None
        self.knowledge: KnowledgeFound | None = None
        self.compressed: Compressed | None = None
        self.context: FullContext | None = None
        self.inputs: Inputs | None = None
        self.tools: tuple[OfferedTool, ...] = ()
        self._last_prompt: tuple[ModelRequest, str] | None = None
        self._prompt_sequences: tuple[int, int] | None = None

    def begin(self, seq: int) -> "asyncio.Task[PromptHistory]":
        """Returns the task that reads the messages up to `seq`; starts it if necessary."""
        if self._history is None or self._history[0] != seq:
            self._history = (seq, start_early(self._ports.histories.up_to(self.key, seq)))
        return self._history[1]

    def begin_context(
        self, snapshot: TurnSnapshot, company: CompanyConfig
    ) -> "asyncio.Task[FullContext | None] | None":
        """Returns the task that reads the customer's context for the newest message; None for a visitor."""
        requester, seq = snapshot.requester, snapshot.view.newest_visitor
        if requester.role != "user" or requester.user is None:
            return None
        if self._context is None or self._context[0] != seq:
            self._context = (
                seq,
                start_early(self._ports.contexts.full(self.key, requester, snapshot.text, snapshot.view.seq, company)),
            )
        return self._context[1]

    async def _read_files(self, seq: int, history: PromptHistory, language: Language) -> tuple[ReadFile, ...]:
        """Reads the texts of the newest files, once for the messages up to `seq`. Without files it never suspends,
        because the prefetch has only a few rounds of the event loop before the journal is sent."""
        files = files_of(history.messages)
        if not files:
            return ()
        if self._files is None or self._files[0] != seq:
            self._files = (seq, start_early(self._ports.files.read(self.key, files, language)))
        return await asyncio.shield(self._files[1])

    async def _with_pictures(self, seq: int, files: tuple[ReadFile, ...]) -> tuple[ReadFile, ...]:
        """Returns the files with the pictures that a prompt has room for, read once for the messages up to `seq`."""
        pictures = fitting_pictures([file.file for file in files])
        if not pictures:
            return files
        if self._pictures is None or self._pictures[0] != seq:
            self._pictures = (seq, start_early(self._ports.files.pictures(self.key, pictures)))
        contents = await asyncio.shield(self._pictures[1])
        return tuple(
            replace(file, picture=Picture(file.file.name, file.file.type, contents[file.file.id]))
            if file.file.id in contents
            else file
            for file in files
        )

    def _search_of(self, snapshot: Snapshot, history: PromptHistory, language: Language) -> PassageQuery:
        """Returns the search of the company's knowledge for the unanswered messages."""
        if self._search is None or self._search[0] != snapshot.seq:
            query = knowledge_query(history.messages, snapshot.basis, language)
            self._search = (snapshot.seq, PassageQuery(self._ports.knowledge, self.key.company, query))
        return self._search[1]

    async def _passages(self, search: PassageQuery, model: str | None) -> KnowledgeFound | None:
        """Returns the passages found, as many as fit into a prompt of the model; all of them for None (offline)."""
        knowledge = await search.result()
        if knowledge is None or model is None:
            return knowledge
        return best_within_budget(knowledge, (await self._ports.encoders.counter(model)).text)

    async def own_reply(self, effect: CallModel, snapshot: TurnSnapshot, config: CompanyConfig) -> ModelAnswer | None:
        """Returns the tool step or text with which the agent itself answers by its rules; None if the model is
        needed."""
        hand_off = await self._hand_off_reply(effect, snapshot, config)
        if hand_off is not None:
            return hand_off
        away_notice = hand_over.away_notice_in(effect.journal)
        if away_notice is not None and await self._only_asks_for_person(effect):
            return rule_answer(away_notice)
        if snapshot.requester.role != "user" or snapshot.requester.user is None:
            return None
        settled_calls = settled_rule_calls(effect.journal)
        if (effect.journal.iterations or effect.last) and not settled_calls:
            return None
        history = await asyncio.shield(self.begin(effect.view.seq))
        text = _joined_texts(history.unanswered(effect.view.basis))
        if settled_calls:
            next_rule_step = None if effect.last else next_step(text, settled_calls)
            answer = rule_calls_answer(
                settled_calls, snapshot.requester.language, is_several=memory_requests(text) is not None
            )
            # Whatever else the message asks is left to the model, which sees the results of these calls.
            asks_more = rest_of(text) and all(entry.tool != READ for entry in settled_calls)
            return next_rule_step or (rule_answer(answer) if answer and not asks_more else None)
        self.inputs = Inputs(snapshot, history)
        settled = history.settled(effect.view.basis)
        answers = [entry.text for entry in reversed(settled) if entry.mine] if settled and settled[-1].mine else []
        answers = recent_answers(answers, [entry.text for entry in reversed(settled) if not entry.mine])
        return (
            list_step(text, answers, snapshot.requester.language)
            or rule_step(text, snapshot.asked, trades=snapshot.trades)
            or undo_step(text, answers, snapshot.requester.language)
        )

    async def _hand_off_reply(
        self, effect: CallModel, snapshot: TurnSnapshot, config: CompanyConfig
    ) -> ModelAnswer | None:
        """Returns the hand-off that the company's rules or a plain request for a person demand, once for the same
        messages; None if neither does."""
        if effect.journal.iterations or effect.last:
            return None
        history = await asyncio.shield(self.begin(effect.view.seq))
        after = max(effect.view.basis, hand_over.last_handed_over_seq(effect.journal))
        text = _joined_texts(history.unanswered(after))
        rule, is_asked = person_rule_for(config, snapshot.requester, text), only_asks_for_person(text)
        if rule == "never":
            return (
                rule_answer(TEXTS["hand_over.not_to_people"].in_language(snapshot.requester.language))
                if is_asked
                else None
            )
        if is_asked or (rule == "person" and text and not _message_taken(effect.view)):
            return step((hand_over.NAME, {"reason": hand_over.ASKED if is_asked else hand_over.RULE}))
        return None

    async def without_ai(self, snapshot: TurnSnapshot, config: CompanyConfig) -> TurnCall | None:
        """Returns the call that requests a person while the AI is switched off, if the messages since the last change
        of owner or the company's rules ask for one. None otherwise, or if a message was already taken outside office
        hours."""
        view = snapshot.view
        history = await asyncio.shield(self.begin(view.seq))
        after = max(view.basis, view.owner_seq)
        texts = [message.text for message in history.unanswered(after)]
        rule, is_asked = person_rule_for(config, snapshot.requester, "\n".join(texts)), any(map(asks_for_person, texts))
        if rule == "never" or not (is_asked or (rule == "person" and texts)) or _message_taken(view):
            return None
        id_ = turn_id(self.key.company, self.key.conversation, view.newest_visitor)
        arguments = json.dumps({"reason": hand_over.ASKED if is_asked else hand_over.RULE})
        call = TurnCall(f"{id_}-person", hand_over.NAME, arguments)
        journal = Journal(id_, view.newest_visitor, started_at=0.0, deadline=0.0)
        by = snapshot.requester.user or "visitor"
        return hand_over.complete_call(call, history.messages, journal, snapshot.requester.language, by=by)

    async def unread_files(self, effect: CallModel, language: Language) -> ModelAnswer | None:
        """Returns the offline provider's reply to messages of files only; None if they contain words too."""
        history = await asyncio.shield(self.begin(effect.view.seq))
        alone = only_files(history.unanswered(effect.view.basis))
        return rule_answer(TEXTS["file.not_read"].in_language(language)) if alone else None

    async def _only_asks_for_person(self, effect: CallModel) -> bool:
        history = await asyncio.shield(self.begin(effect.view.seq))
        return only_asks_for_person(_joined_texts(history.unanswered(effect.view.basis)))

    async def hand_over_calls(self, effect: RunCalls, snapshot: TurnSnapshot) -> dict[str, TurnCall]:
        """Returns the unsettled hand-over calls by call id, completed with what the person gets to read."""
        calls = [call for call in effect.journal.unsettled if call.tool == hand_over.NAME]
        if not calls:
            return {}
        history = await asyncio.shield(self.begin(effect.view.seq))
        messages, language = history.messages, snapshot.requester.language
        return {call.call_id: hand_over.complete_call(call, messages, effect.journal, language) for call in calls}

    async def own_words(self, effect: RunCalls, snapshot: TurnSnapshot, config: CompanyConfig) -> OwnWords:
        """Returns the user's own words, with the prompt's foreign texts for comparison. An agent that continues another
        agent's turn looks both up again."""
        history = await asyncio.shield(self.begin(effect.view.seq))
        inputs = self.inputs
        if inputs is None:
            context_task = self.begin_context(snapshot, config)
            search = self._search_of(effect.view, history, snapshot.requester.language)
            search.send_alone()
            context = await asyncio.shield(context_task) if context_task is not None else None
            inputs = Inputs(snapshot, history, context, await search.result())
        files = await self._read_files(effect.view.seq, history, snapshot.requester.language)
        foreign = [*foreign_texts(inputs), *(text for file in files for text in (file.file.name, file.text) if text)]
        return own_words_from(history.messages, effect.view.basis, foreign)

    async def prompt(
        self,
        effect: CallModel,
        config: CompanyConfig,
        snapshot: TurnSnapshot,
        seconds: float,
        choice: ModelChoice,
        before_search: Callable[[ModelRequest, PassageQuery], None] | None,
    ) -> ModelRequest:
        """Builds the prompt of the next call, for the models of `choice`. `seconds`: what is left of the turn.
        `before_search`: called with the uncompressed prompt without passages if the search was not sent yet; it sends
        the search. None: the search is sent by itself."""
        with span(SPAN_CONTEXT) as context_span:
            history_task, context_task = self.begin(effect.view.seq), self.begin_context(snapshot, config)
            # Shielded: when this call is cancelled, the next one still needs the result.
            history = await asyncio.shield(history_task)
            files = await self._read_files(effect.view.seq, history, snapshot.requester.language)
            search = self._search_of(effect.view, history, snapshot.requester.language)
            if before_search is None:
                search.send_alone()
            offered = await self._ports.catalogue.offered(self.key.company, snapshot.requester)
            self.context = await asyncio.shield(context_task) if context_task is not None else None
            tools, shown = _tools(offered, effect, config, snapshot, history)
            model, name = choice.candidates[0]
            # The offline provider has no window; it reads results and passages in full.
            is_offline = model.provider == "offline"
            window = UNLIMITED_WINDOW if is_offline else window_of(name) or self._limits.model_window
            sight = PictureSupport(config.own_model, self._limits.sees)
            if any(sight.of(entry.provider, its_name) for entry, its_name in choice.candidates):
                files = await self._with_pictures(effect.view.seq, files)
                window -= PICTURE_TOKENS * sum(entry.picture is not None for entry in files)
            composer = Composer(
                PromptMaterial(
                    config=config,
                    requester=snapshot.requester,
                    history=history,
                    journal=effect.journal,
                    tools=tools if is_offline else shown,
                    last=effect.last,
                    time_limit=min(seconds, self._limits.model),
                    total_time_limit=seconds,
                    context=self.context,
                    window=self._limits.window,
                    wishes=snapshot.wishes or NO_WISHES,
                    files=files,
                    sight=sight,
                )
            )
            if before_search is not None and search.query is not None:
                before_search(composer.prompt(composer.render(composer.draft)), search)
            self.knowledge = await self._passages(search, None if is_offline else name)
            self.tools, self.inputs = tools, Inputs(snapshot, history, self.context, self.knowledge)
            composer.add_knowledge(self.knowledge)
            prompt, self.compressed = await prompt_for(composer, self._ports.encoders, name, window)
            self._last_prompt = prompt, name
            self._prompt_sequences = sequences_in_prompt(self.compressed, composer.material.window.compress_above)
            if is_offline and (unanswered := history.unanswered(effect.view.basis)):
                self._prompt_sequences = unanswered[0].seq, unanswered[-1].seq  # it reads only these
            if self.context is not None:
                context_span.set_attributes({"nexus.context.missing": self.context.missing})
        return prompt

    def requester(self, snapshot: TurnSnapshot) -> Requester:
        """Returns the requester with the range of messages that the last prompt contained, if there was a prompt."""
        return (
            snapshot.requester
            if self._last_prompt is None
            else replace(snapshot.requester, prompt=self._prompt_sequences)
        )

    def answer_sink(self, sink: TextSink, journal: Journal) -> CitedText:
        """Returns the sink that streams the running answer, with the citation numbers of the final text."""
        found_by_tools = searches(journal)
        has_sources = self.knowledge is not None or bool(found_by_tools)
        return CitedText(sink, CitationNumbers(given_passages(self.knowledge, found_by_tools)) if has_sources else None)

    def grounded(self, reply: ModelAnswer, effect: CallModel) -> ModelAnswer:
        """Returns the reply, with its grounding if it is the turn's answer."""
        if (reply.calls and not effect.last) or self.inputs is None:
            return reply
        search = self._search_of(effect.view, self.inputs.history, self.inputs.seen.requester.language)
        return with_grounding(reply, effect.journal, self.knowledge, search.original_query)

    async def record_estimate(self) -> None:
        """Records the last prompt's estimated tokens on the turn's span. Counted after the answer was sent, so that
        nobody waits for it."""
        turn_span = current_span()
        if self._last_prompt is not None and turn_span.recorded:
            prompt, name = self._last_prompt
            counter = await self._ports.encoders.counter(name)
            turn_span.set_attributes(estimate_attributes(counter, prompt, self._limits.window))

    def close(self) -> None:
        """Cancels the searches and reads that are still running."""
        for started in (self._history, self._context, self._files, self._pictures):
            if started is not None:
                started[1].cancel()
        if self._search is not None:
            self._search[1].close()
