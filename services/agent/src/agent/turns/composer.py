"""Builds the prompt of one model call from what is known of the conversation: the five layers and the turn's calls,
within the model's window."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import (
    DEFAULT_WINDOW,
    MAX_SUMMARIZED_MESSAGES,
    Compressed,
    PromptDraft,
    TokenWindow,
    compress,
)
from agent.domain.context.tokens import Counter, token_upper_bound
from agent.domain.knowledge import knowledge_section, sources
from agent.domain.offered_tool import OfferedTool
from agent.domain.pictures import LISTED_SUPPORT, PictureSupport, with_pictures
from agent.domain.prompt.copilot import Customer, copilot_sections
from agent.domain.prompt.layers import VisitorInfo, base_layer, system_prompt
from agent.domain.prompt.messages import PAGE_TOOL, conversation
from agent.domain.sent_files import ReadFile, files_section
from agent.domain.text_features import plain
from agent.domain.turn.journal import Journal
from agent.metrics import COMPRESSED_TOKENS, COMPRESSION, ORIGINAL_TOKENS, STRATEGIES
from agent.ports import ModelRequest, PromptHistory, Requester
from agent.texts import TEXTS
from contracts.company import CompanyConfig
from contracts.context_rpc import FullContext
from contracts.events.chat import Wishes
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language
from runtime.observability.telemetry import current_span

MESSAGES = 20
"""Messages of the fifth layer."""
UNBOUNDED = 10**9
"""Tokens of a model that has no window."""
MANY = 30_000
"""Characters that were never counted, from which counting moves to a thread."""
NO_WISHES = Wishes()
ASKS_NAME = re.compile(
    r"\b(?:what|how|who|cual|como|quien)s?\b.{0,20}\b(?:my name|mi nombre|i called|am i$|me llamo|soy$)"
)
"""In a plain text without its marks: what is my name, ¿quién soy?"""


@dataclass(frozen=True)
class Material:
    """Everything that a prompt is made of. `context`: a customer's; None: a visitor, or not to be had;
    `knowledge`: what the company says about the question, as much as has room; None: not to be had. `wishes`: of
    the requester's own program, whose instructions stand below all that is the company's."""

    config: CompanyConfig
    requester: Requester
    history: PromptHistory
    journal: Journal
    tools: tuple[OfferedTool, ...]
    last: bool
    time_limit: float
    context: FullContext | None = None
    window: TokenWindow = DEFAULT_WINDOW
    knowledge: KnowledgeFound | None = None
    wishes: Wishes = NO_WISHES
    files: tuple[ReadFile, ...] = ()
    sight: PictureSupport = LISTED_SUPPORT


class Composer:
    """A prompt being built. It is rendered again from its draft as often as compression needs, and once more when the
    company's passages have come."""

    def __init__(self, material: Material) -> None:
        self.of = material
        self._layers_of: tuple[PromptDraft, str] | None = None

    def learn(self, knowledge: KnowledgeFound | None) -> None:
        """Adds what was found in the company's knowledge."""
        if knowledge is not None:
            self.of = replace(self.of, knowledge=knowledge)

    @cached_property
    def draft(self) -> PromptDraft:
        """Returns the prompt's parts before compression, without the messages that a stored summary covers."""
        spoken, context = self.of.history.messages, self.of.context
        stored = context.conversation.summary if context and context.conversation else None
        if stored is None:
            return PromptDraft(spoken, context)
        later = sum(message.seq > stored.up_to_seq for message in spoken)
        return PromptDraft(spoken[-max(later, MAX_SUMMARIZED_MESSAGES) :], context, stored.text)

    def render(self, draft: PromptDraft) -> Sequence[Mapping[str, object]]:
        of = self.of
        messages = conversation(
            self._system(draft),
            [(said.mine, said.text) for said in draft.spoken[-MESSAGES:]],
            of.journal.steps,
            language=of.requester.language,
            last=of.last and bool(of.tools),
            given=sources(of.knowledge, ()),
        )
        return with_pictures(messages, [one.picture for one in of.files if one.picture is not None])

    def prompt(self, messages: Sequence[Mapping[str, object]]) -> ModelRequest:
        of, sampling = self.of, self.of.wishes.sampling
        return ModelRequest(
            messages=messages,
            tools=of.tools,
            tool_choice="none" if of.last or not of.tools else "auto",
            model=of.config.preferred_model,
            temperature=of.config.temperature,
            max_tokens=of.config.max_response_tokens,
            time_limit=of.time_limit,
            language=of.requester.language,
            page_url=of.requester.page_url or of.history.page_url,
            knowledge=of.knowledge,
            market=of.context.market.model_dump(mode="json") if of.context and of.context.market else None,
            facts=_answering(of.context, said[-1].text if (said := of.history.messages) else "", of.requester.language),
            plan=of.requester.plan if of.requester.role == "user" and of.config.trades else None,
            company=of.config,
            begun_before=len(of.history.messages) >= MESSAGES,
            sampling=None if sampling is None else sampling.model_dump(exclude_none=True),
            parallel_calls=of.wishes.parallel_calls is not False,
            sight=of.sight,
        )

    def _system(self, draft: PromptDraft) -> str:
        of = self.of
        said = knowledge_section(
            of.knowledge, of.requester.language, pages=any(tool.name == PAGE_TOOL for tool in of.tools)
        )
        sent = files_section(of.files, of.requester.language)
        if self._layers_of is None or self._layers_of[0] is not draft:
            self._layers_of = draft, self._layers(draft)
        return "\n\n".join(filter(None, [self._layers_of[1], said, sent, of.wishes.instructions]))

    def _layers(self, draft: PromptDraft) -> str:
        of, language = self.of, self.of.requester.language
        names = tuple(tool.name for tool in of.tools)
        if of.requester.role == "user":
            customer = Customer(of.requester.plan, language)
            role = copilot_sections(language, draft.context, customer, company=of.config, summary=draft.summary)
            return system_prompt(language, custom=None, visitor=None, tool_names=names, copilot=role)
        visitor = None
        if of.config.include_visitor_info:
            requester, history = of.requester, of.history
            visitor = VisitorInfo(
                page=_page(requester.page_url or history.page_url, requester.page_title or history.page_title),
                funnel_stage=requester.funnel_stage or history.funnel_stage,
                visits=history.visits,
            )
        return system_prompt(
            language,
            custom=base_layer(language, of.config),
            visitor=visitor,
            tool_names=names,
            summary=draft.summary,
        )


async def prompt_for(
    composer: Composer, encoders: Encodings, model: str, model_window: int
) -> tuple[ModelRequest, Compressed]:
    """The prompt of the turn's next model call, and what was done to make it fit.

    `model_window`: tokens of the model that will be asked, for prompt, tools and response together. Rules, which have
    none, read everything: what is left out is in the summary alone, for a model that may come later.
    """
    material = composer.of
    done = await _fitted(composer, encoders, model, model_window)
    if done.compressed:
        tell(done)
    if model_window >= UNBOUNDED:
        whole = PromptDraft(material.history.messages, material.context)
        return composer.prompt(composer.render(whole)), done
    return composer.prompt(done.messages), done


async def _fitted(composer: Composer, encoders: Encodings, model: str, model_window: int) -> Compressed:
    material, draft = composer.of, composer.draft
    messages = composer.render(draft)
    free = model_window - material.config.max_response_tokens
    if token_upper_bound(messages) <= min(material.window.compress_above, free - _most_tool_tokens(material.tools)):
        return Compressed(draft, messages, 0, 0)
    counter = await encoders.counter(model)
    uncounted = counter.uncounted(messages)
    if sum(map(len, uncounted)) > MANY:
        await encoders.count(model, uncounted)
    window = material.window.within(free - counter.tools(material.tools))
    return compress(draft, composer.render, counter, window, material.requester.language)


def in_prompt(done: Compressed) -> tuple[int, int] | None:
    """The first and the last sequence of the messages that stand whole in a prompt, with none between them that does
    not; None: there is no such message."""
    said = done.context.spoken[-MESSAGES:]
    if done.cut:
        texts = [str(message.get("content") or "") for message in done.messages if message["role"] != "system"]
        place = len(said)
        while place and any(said[place - 1].text in text for text in texts):
            place -= 1
        said = said[place:]
    return (said[0].seq, said[-1].seq) if said else None


def tell(done: Compressed) -> None:
    """A compression, in the metrics and in the trace."""
    names = [*done.strategies, *(["cut"] if done.cut else [])]
    for name in names:
        COMPRESSION.labels(name).inc()
    ORIGINAL_TOKENS.observe(done.original_tokens)
    COMPRESSED_TOKENS.observe(done.compressed_tokens)
    current_span().set_attributes(
        {
            STRATEGIES: names,
            "nexus.compression.original_tokens": done.original_tokens,
            "nexus.compression.compressed_tokens": done.compressed_tokens,
        }
    )


def estimated(counter: Counter, prompt: ModelRequest, window: TokenWindow) -> dict[str, int]:
    """The estimate of a prompt as a trace shows it."""
    estimate = counter.estimate(prompt.messages, prompt.tools, window.most)
    return {
        "nexus.tokens.system_prompt": estimate.system_prompt,
        "nexus.tokens.messages": estimate.messages,
        "nexus.tokens.tools": estimate.tools,
        "nexus.tokens.total": estimate.total,
        "nexus.tokens.remaining": estimate.remaining,
    }


def _most_tool_tokens(tools: tuple[OfferedTool, ...]) -> int:
    return 1_500 * len(tools)


def _answering(context: FullContext | None, question: str, language: Language) -> list[str]:
    """Returns what users have told about themselves that answers a question, in their own words."""
    name = context.user.name if context and context.user else None
    if name and ASKS_NAME.search(plain(question).strip(" ?!.")):
        return [TEXTS["told_memory.my_name"].in_language(language).format(name=name)]
    return list(context.memory.answering) if context and context.memory else []


def _page(url: str | None, title: str | None) -> str | None:
    if url is None:
        return None
    return f"{title} ({url})" if title else url
