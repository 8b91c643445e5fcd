"""Collects the inputs of a turn: the history, the customer's context, the company's passages, and the prompt made of
them.

They are asked for as soon as the conversation is known, side by side, and once a turn; what the company says about the
question is searched in the request for the first call's tokens, while the journal is being saved.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from agent.analysis.in_chat import offered_with_analysis
from agent.domain import hand_over
from agent.domain.client_tools import with_client_tools
from agent.domain.context.compression import Compressed, PromptMessage
from agent.domain.grounding import grounded, query_of
from agent.domain.knowledge import Numbers, best_within_budget, sources
from agent.domain.offered_tool import OfferedTool
from agent.domain.offline.person_words import asks_for_person, only_asks_for_person
from agent.domain.own_words import OwnWords, words_of
from agent.domain.pictures import TOKENS, Picture, PictureSupport, fitting_pictures
from agent.domain.providers import window_of
from agent.domain.sent_files import ReadFile, files_of, only_files
from agent.domain.shortcuts.answers import list_step, recent_answers, rule_calls_answer, undo_step
from agent.domain.shortcuts.memory_words import memory_requests
from agent.domain.shortcuts.steps import READ, next_step, rest_of, rule_answer, rule_step, settled_rule_calls, step
from agent.domain.tool_choice import chosen_tools
from agent.domain.tool_results import searches
from agent.domain.turn.effects import CallModel, RunCalls
from agent.domain.turn.journal import Journal, ModelAnswer, TurnCall
from agent.early_start import start_early
from agent.ports import AskedSnapshot, ConversationKey, ModelChoice, ModelRequest, PromptHistory, Requester, TextSink
from agent.record.turn import Inputs
from agent.texts import TEXTS
from agent.turns.cited_text import CitedText
from agent.turns.composer import NO_WISHES, UNBOUNDED, Composer, Material, estimated, in_prompt, prompt_for
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
from runtime.observability.gen_ai import SPAN_CONTEXT
from runtime.observability.telemetry import current_span, span


def person_rule_for(config: CompanyConfig, requester: Requester, text: str) -> str | None:
    """The company's rule for the message: person, never; None if no rule matches."""
    found = matching_rule(config.person_rules, RuleInput(text, requester.plan, requester.page_url))
    return found.to if found else None


def foreign_texts(inputs: Inputs) -> list[str]:
    """Returns the texts by others that a prompt held: passages, events, earlier notes and summaries."""
    found = [one.text for one in inputs.knowledge.passages] if inputs.knowledge else []
    context = inputs.context
    if context is not None and context.market is not None:
        found += [one.model_dump_json() for one in context.market.upcoming_events]
    if context is not None and context.memory is not None:
        found += context.memory.user_notes
    if context is not None and context.conversation is not None and context.conversation.summary is not None:
        found.append(context.conversation.summary.text)
    return [*found, *(text for text in (inputs.history.page_title, inputs.history.page_url) if text)]


def _message_taken(view: Snapshot) -> bool:
    """Whether a message waits for people who are not there: a rule leaves no second one."""
    owner = view.last.get(ChatKind.OWNER)
    return owner is not None and owner.data.get("opensAt") is not None


def _joined(messages: Iterable[PromptMessage]) -> str:
    return "\n".join(one.text for one in messages)


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
        self.found: KnowledgeFound | None = None
        self.compressed: Compressed | None = None
        self.context: FullContext | None = None
        self.inputs: Inputs | None = None
        self.tools: tuple[OfferedTool, ...] = ()
        self._sent: tuple[ModelRequest, str] | None = None
        self._read: tuple[int, int] | None = None

    def begin(self, seq: int) -> "asyncio.Task[PromptHistory]":
        """Begins to read the messages up to `seq`, unless that has begun already."""
        if self._history is None or self._history[0] != seq:
            self._history = (seq, start_early(self._ports.histories.up_to(self.key, seq)))
        return self._history[1]

    def begin_context(self, seen: AskedSnapshot, company: CompanyConfig) -> "asyncio.Task[FullContext | None] | None":
        """A customer's context for the newest message, on its way; None: a visitor has none."""
        requester, seq = seen.requester, seen.view.newest_visitor
        if requester.role != "user" or requester.user is None:
            return None
        if self._context is None or self._context[0] != seq:
            self._context = (
                seq,
                start_early(self._ports.contexts.full(self.key, requester, seen.text, seen.view.seq, company)),
            )
        return self._context[1]

    async def _read_files(self, seq: int, history: PromptHistory, language: Language) -> tuple[ReadFile, ...]:
        """Reads the texts of the newest files, once for the messages up to `seq`. Where there are none nothing is
        waited for: a call is made ready in the moment in which the journal before it is sent."""
        wanted = files_of(history.messages)
        if not wanted:
            return ()
        if self._files is None or self._files[0] != seq:
            self._files = (seq, start_early(self._ports.files.read(self.key, wanted, language)))
        return await asyncio.shield(self._files[1])

    async def _with_pictures(self, seq: int, files: tuple[ReadFile, ...]) -> tuple[ReadFile, ...]:
        """The files with the pictures that a prompt has room for, each read once for what was said up to `seq`."""
        wanted = fitting_pictures([one.file for one in files])
        if not wanted:
            return files
        if self._pictures is None or self._pictures[0] != seq:
            self._pictures = (seq, start_early(self._ports.files.pictures(self.key, wanted)))
        contents = await asyncio.shield(self._pictures[1])
        return tuple(
            replace(one, picture=Picture(one.file.name, one.file.type, contents[one.file.id]))
            if one.file.id in contents
            else one
            for one in files
        )

    def _search_of(self, view: Snapshot, history: PromptHistory, language: Language) -> PassageQuery:
        """Returns the search of the company's pages for the messages that nobody has answered yet."""
        if self._search is None or self._search[0] != view.seq:
            query = query_of(history.messages, view.basis, language)
            self._search = (view.seq, PassageQuery(self._ports.knowledge, self.key.company, query))
        return self._search[1]

    async def own_reply(self, effect: CallModel, seen: AskedSnapshot, config: CompanyConfig) -> ModelAnswer | None:
        """Returns the step or text with which the agent itself answers plain words; None if the model is needed."""
        to = await self._to_person(effect, seen, config)
        if to is not None:
            return to
        away = hand_over.away_notice_in(effect.journal)
        if away is not None and await self._only_asked_for_person(effect):
            return rule_answer(away)
        if seen.requester.role != "user" or seen.requester.user is None:
            return None
        done = settled_rule_calls(effect.journal)
        if (effect.journal.iterations or effect.last) and not done:
            return None
        history = await asyncio.shield(self.begin(effect.view.seq))
        text = _joined(history.unanswered(effect.view.basis))
        if done:
            more = None if effect.last else next_step(text, done)
            answer = rule_calls_answer(done, seen.requester.language, is_several=memory_requests(text) is not None)
            # What else was asked is for the model, which is told what was done.
            due = rest_of(text) and all(one.tool != READ for one in done)
            return more or (rule_answer(answer) if answer and not due else None)
        self.inputs = Inputs(seen, history)
        told = history.settled(effect.view.basis)
        answers = [one.text for one in reversed(told) if one.mine] if told and told[-1].mine else []
        answers = recent_answers(answers, [one.text for one in reversed(told) if not one.mine])
        return (
            list_step(text, answers, seen.requester.language)
            or rule_step(text, seen.asked, trades=seen.trades)
            or undo_step(text, answers, seen.requester.language)
        )

    async def _to_person(self, effect: CallModel, seen: AskedSnapshot, config: CompanyConfig) -> ModelAnswer | None:
        """Returns the hand-off that the company's rules or a plain wish for a person ask for, once for the same
        messages."""
        if effect.journal.iterations or effect.last:
            return None
        history = await asyncio.shield(self.begin(effect.view.seq))
        after = max(effect.view.basis, hand_over.last_handed_over(effect.journal))
        text = _joined(history.unanswered(after))
        to, asks = person_rule_for(config, seen.requester, text), only_asks_for_person(text)
        if to == "never":
            return rule_answer(TEXTS["hand_over.not_to_people"].in_language(seen.requester.language)) if asks else None
        if asks or (to == "person" and text and not _message_taken(effect.view)):
            return step((hand_over.NAME, {"reason": hand_over.ASKED if asks else hand_over.RULE}))
        return None

    async def without_ai(self, seen: AskedSnapshot, config: CompanyConfig) -> TurnCall | None:
        """The call that asks for a person where the AI is switched off: what was written since the last change of owner
        asks for one, or the company's rules do. A message that waits for people who are not there is left at that."""
        view = seen.view
        history = await asyncio.shield(self.begin(view.seq))
        after = max(view.basis, view.owner_seq)
        texts = [one.text for one in history.unanswered(after)]
        to, asks = person_rule_for(config, seen.requester, "\n".join(texts)), any(map(asks_for_person, texts))
        if to == "never" or not (asks or (to == "person" and texts)) or _message_taken(view):
            return None
        turn = turn_id(self.key.company, self.key.conversation, view.newest_visitor)
        said_why = json.dumps({"reason": hand_over.ASKED if asks else hand_over.RULE})
        call = TurnCall(f"{turn}-person", hand_over.NAME, said_why)
        journal = Journal(turn, view.newest_visitor, started_at=0.0, deadline=0.0)
        by = seen.requester.user or "visitor"
        return hand_over.completed_call(call, history.messages, journal, seen.requester.language, by=by)

    async def unread_files(self, effect: CallModel, language: Language) -> ModelAnswer | None:
        """Returns the reply of the assistant without a model to files alone; None if there were words too."""
        history = await asyncio.shield(self.begin(effect.view.seq))
        alone = only_files(history.unanswered(effect.view.basis))
        return rule_answer(TEXTS["file.not_read"].in_language(language)) if alone else None

    async def _only_asked_for_person(self, effect: CallModel) -> bool:
        history = await asyncio.shield(self.begin(effect.view.seq))
        return only_asks_for_person(_joined(history.unanswered(effect.view.basis)))

    async def hand_over_calls(self, effect: RunCalls, seen: AskedSnapshot) -> dict[str, TurnCall]:
        """The calls that hand the conversation over, with what the person gets to read."""
        calls = [call for call in effect.journal.unsettled if call.tool == hand_over.NAME]
        if not calls:
            return {}
        history = await asyncio.shield(self.begin(effect.view.seq))
        spoken, language = history.messages, seen.requester.language
        return {one.call_id: hand_over.completed_call(one, spoken, effect.journal, language) for one in calls}

    async def own_words(self, effect: RunCalls, seen: AskedSnapshot, config: CompanyConfig) -> OwnWords:
        """The user's own words, beside what the prompt held of others; looked up anew by who goes on with another's
        turn."""
        history = await asyncio.shield(self.begin(effect.view.seq))
        inputs = self.inputs
        if inputs is None:
            context = self.begin_context(seen, config)
            search = self._search_of(effect.view, history, seen.requester.language)
            search.alone()
            known = await asyncio.shield(context) if context is not None else None
            inputs = Inputs(seen, history, known, await search.found())
        files = await self._read_files(effect.view.seq, history, seen.requester.language)
        foreign = [*foreign_texts(inputs), *(text for one in files for text in (one.file.name, one.text) if text)]
        return words_of(history.messages, effect.view.basis, foreign)

    async def prompt(
        self,
        effect: CallModel,
        config: CompanyConfig,
        seen: AskedSnapshot,
        seconds: float,
        choice: ModelChoice,
        before_search: Callable[[ModelRequest, PassageQuery], None] | None,
    ) -> ModelRequest:
        """The prompt of the next call of the models of `choice`. As long as nobody has looked for what the company
        says, `before_search` is told the prompt without it, not yet compressed, and sees to the search; None: it is
        made by itself."""
        with span(SPAN_CONTEXT) as work:
            history, context = self.begin(effect.view.seq), self.begin_context(seen, config)
            # Shielded: a call that is no longer wanted must not take what the next one needs with it.
            heard = await asyncio.shield(history)
            files = await self._read_files(effect.view.seq, heard, seen.requester.language)
            search = self._search_of(effect.view, heard, seen.requester.language)
            if before_search is None:
                search.alone()
            tools = await self._ports.catalogue.offered(self.key.company, seen.requester)
            self.context = await asyncio.shield(context) if context is not None else None
            tools = offered_with_analysis(tools, seen.requester, heard, config)
            asked = heard.unanswered(effect.view.basis)
            unanswered = _joined(asked)
            if person_rule_for(config, seen.requester, unanswered) != "never":
                tools = hand_over.offered_with_hand_over(tools, seen.requester.language)
            before = [one.text for one in heard.settled(effect.view.basis)]
            shown = chosen_tools(tools, [*before, unanswered], effect.journal, seen.requester.language)
            ours, tools = len(tools), with_client_tools(tools, seen.wishes)
            shown = (*shown, *tools[ours:])  # a client shows what it brings
            model, name = choice.candidates[0]
            # Rules have no window, and read results and passages whole.
            rules = model.provider == "offline"
            room = UNBOUNDED if rules else window_of(name) or self._limits.model_window
            sight = PictureSupport(config.own_model, self._limits.sees)
            if any(sight.of(one.provider, its_name) for one, its_name in choice.candidates):
                files = await self._with_pictures(effect.view.seq, files)
                room -= TOKENS * sum(one.picture is not None for one in files)
            composer = Composer(
                Material(
                    config=config,
                    requester=seen.requester,
                    history=heard,
                    journal=effect.journal,
                    tools=tools if rules else shown,
                    last=effect.last,
                    time_limit=seconds,
                    context=self.context,
                    window=self._limits.window,
                    wishes=seen.wishes or NO_WISHES,
                    files=files,
                    sight=sight,
                )
            )
            if before_search is not None and search.query is not None:
                before_search(composer.prompt(composer.render(composer.draft)), search)
            found = await search.found()
            if found is not None and not rules:
                found = best_within_budget(found, (await self._ports.encoders.counter(name)).text)
            self.found = found
            self.tools, self.inputs = tools, Inputs(seen, heard, self.context, found)
            composer.learn(found)
            prompt, self.compressed = await prompt_for(composer, self._ports.encoders, name, room)
            self._sent = prompt, name
            # Rules read what is asked; whatever was said before, they have to look for.
            self._read = (asked[0].seq, asked[-1].seq) if rules and asked else in_prompt(self.compressed)
            if self.context is not None:
                work.set_attributes({"nexus.context.missing": self.context.missing})
        return prompt

    def requester(self, seen: AskedSnapshot) -> Requester:
        """Returns the requester with the range of messages that the last prompt held; without a prompt the range is not
        known."""
        return seen.requester if self._sent is None else replace(seen.requester, prompt=self._read)

    def answer_sink(self, sink: TextSink, journal: Journal) -> CitedText:
        """Returns the sink that streams the running answer, with the citation numbers of the final text."""
        more = searches(journal)
        asked = self.found is not None or bool(more)
        return CitedText(sink, Numbers(sources(self.found, more)) if asked else None)

    def grounded(self, reply: ModelAnswer, effect: CallModel) -> ModelAnswer:
        """The reply with its grounding, if it is the turn's answer."""
        if (reply.calls and not effect.last) or self.inputs is None:
            return reply
        search = self._search_of(effect.view, self.inputs.history, self.inputs.seen.requester.language)
        return grounded(reply, effect.journal, self.found, search.asked)

    async def tell_estimate(self) -> None:
        """The last prompt's tokens, on the turn's span: counted when nobody waits for the answer any more."""
        work = current_span()
        if self._sent is not None and work.recorded:
            prompt, name = self._sent
            counter = await self._ports.encoders.counter(name)
            work.set_attributes(estimated(counter, prompt, self._limits.window))

    def close(self) -> None:
        """Cancels the searches and reads that are still running."""
        for begun in (self._history, self._context, self._files, self._pictures):
            if begun is not None:
                begun[1].cancel()
        if self._search is not None:
            self._search[1].close()
