"""Builds the prompt of one model call: the five layers and the turn's tool calls, compressed to the model's window."""

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
from agent.domain.knowledge import given_passages, knowledge_section
from agent.domain.offered_tool import OfferedTool
from agent.domain.offline.small_talk import asks_about_oneself
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
from contracts.expressions import expression
from contracts.knowledge import KnowledgeFound
from runtime.observability.telemetry import current_span

PROMPT_MESSAGES = 20
"""Messages of the conversation in the prompt (the fifth layer)."""
UNLIMITED_WINDOW = 10**9
"""Window in tokens of the offline provider, which has no limit."""
MAX_TOKENS_OF_A_TOOL = 1_500
"""Tokens of one tool's definition at most, before they are counted."""
RESULT_TOKENS = 3_000
"""Tokens of a search's result at most, as a rule."""
NO_WISHES = Wishes()
ASKS_NAME = expression(
    r"\b(?:what|how|who|cual|como|quien)s?\b.{0,20}\b(?:my name|mi nombre|i called|am i$|me llamo|soy$)"
)
"""Matches questions for the user's own name in normalized text without punctuation: what is my name, quien soy."""


@dataclass(frozen=True)
class PromptMaterial:
    """Everything that goes into a prompt.

    `last`: this is the turn's last call, which may use no tools. `time_limit`, `total_time_limit`: seconds, as in a
    ModelRequest. `context`: the customer's context; None for a visitor, or if memory did not answer. `knowledge`: the
    company's passages on the question, as many as fit; None if the search failed. `wishes`: of the requester's own
    program; its instructions come after everything of the company.
    """

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
    total_time_limit: float | None = None


class Composer:
    """Renders a prompt from its material: as often as compression needs, and again after the company's passages have
    arrived."""

    def __init__(self, material: PromptMaterial) -> None:
        self.material = material
        self._cached_layers: tuple[PromptDraft, str] | None = None

    def add_knowledge(self, knowledge: KnowledgeFound | None) -> None:
        """Adds the passages found in the company's knowledge."""
        if knowledge is not None:
            self.material = replace(self.material, knowledge=knowledge)

    @cached_property
    def draft(self) -> PromptDraft:
        """Returns the prompt's parts before compression, without the messages that a stored summary covers."""
        messages, context = self.material.history.messages, self.material.context
        stored = context.conversation.summary if context and context.conversation else None
        if stored is None:
            return PromptDraft(messages, context)
        later = sum(message.seq > stored.up_to_seq for message in messages)
        return PromptDraft(messages[-max(later, MAX_SUMMARIZED_MESSAGES) :], context, stored.text)

    def render(self, draft: PromptDraft) -> Sequence[Mapping[str, object]]:
        material = self.material
        messages = conversation(
            self._system(draft),
            [(message.mine, message.text) for message in draft.messages[-PROMPT_MESSAGES:]],
            material.journal.steps,
            language=material.requester.language,
            last=material.last and bool(material.tools),
            given=given_passages(material.knowledge, ()),
        )
        return with_pictures(messages, [file.picture for file in material.files if file.picture is not None])

    def prompt(self, messages: Sequence[Mapping[str, object]]) -> ModelRequest:
        material, sampling = self.material, self.material.wishes.sampling
        return ModelRequest(
            messages=messages,
            tools=material.tools,
            tool_choice="none" if material.last or not material.tools else "auto",
            model=material.config.preferred_model,
            temperature=material.config.temperature,
            max_tokens=material.config.max_response_tokens,
            time_limit=material.time_limit,
            total_time_limit=material.total_time_limit,
            language=material.requester.language,
            page_url=material.requester.page_url or material.history.page_url,
            knowledge=material.knowledge,
            market=material.context.market.model_dump(mode="json")
            if material.context and material.context.market
            else None,
            facts=_facts_for_question(material, spoken[-1].text if (spoken := material.history.messages) else ""),
            plan=material.requester.plan if material.requester.role == "user" and material.config.trades else None,
            company=material.config,
            begun_before=len(material.history.messages) >= PROMPT_MESSAGES,
            sampling=None if sampling is None else sampling.model_dump(exclude_none=True),
            parallel_calls=material.wishes.parallel_calls is not False,
            sight=material.sight,
        )

    def _system(self, draft: PromptDraft) -> str:
        material = self.material
        passages = knowledge_section(
            material.knowledge,
            material.requester.language,
            pages=any(tool.name == PAGE_TOOL for tool in material.tools),
        )
        files = files_section(material.files, material.requester.language)
        if self._cached_layers is None or self._cached_layers[0] is not draft:
            self._cached_layers = draft, self._layers(draft)
        return "\n\n".join(filter(None, [self._cached_layers[1], passages, files, material.wishes.instructions]))

    def _layers(self, draft: PromptDraft) -> str:
        material, language = self.material, self.material.requester.language
        names = tuple(tool.name for tool in material.tools)
        if material.requester.role == "user":
            customer = Customer(material.requester.plan, language)
            role = copilot_sections(language, draft.context, customer, company=material.config, summary=draft.summary)
            return system_prompt(language, custom=None, visitor=None, tool_names=names, copilot=role)
        visitor = None
        if material.config.include_visitor_info:
            requester, history = material.requester, material.history
            visitor = VisitorInfo(
                page=_page(requester.page_url or history.page_url, requester.page_title or history.page_title),
                funnel_stage=requester.funnel_stage or history.funnel_stage,
                visits=history.visits,
            )
        return system_prompt(
            language,
            custom=base_layer(language, material.config),
            visitor=visitor,
            tool_names=names,
            summary=draft.summary,
        )


async def prompt_for(
    composer: Composer, encoders: Encodings, model: str, model_window: int
) -> tuple[ModelRequest, Compressed]:
    """Returns the prompt of the turn's next model call, and the compression that made it fit.

    `model_window`: the window of the model in tokens, for prompt, tools and response together. With UNLIMITED_WINDOW
    (the offline provider) the prompt is uncompressed; the compression is still returned, because its summary is stored
    for a model that may answer later.
    """
    material = composer.material
    compressed = await _compress_to_window(composer, encoders, model, model_window)
    if compressed.compressed:
        record_compression(compressed)
    if model_window >= UNLIMITED_WINDOW:
        uncompressed = PromptDraft(material.history.messages, material.context)
        return composer.prompt(composer.render(uncompressed)), compressed
    return composer.prompt(compressed.messages), compressed


async def _compress_to_window(composer: Composer, encoders: Encodings, model: str, model_window: int) -> Compressed:
    material, draft = composer.material, composer.draft
    messages = composer.render(draft)
    free = model_window - material.config.max_response_tokens
    tool_tokens = MAX_TOKENS_OF_A_TOOL * len(material.tools)
    if token_upper_bound(messages) <= min(material.window.compress_above, free - tool_tokens):
        return Compressed(draft, messages, 0, 0)
    counter = await encoders.count(model, messages)
    window = material.window.within(free - counter.tools(material.tools))
    return compress(draft, composer.render, counter, window, material.requester.language)


def sequences_in_prompt(compressed: Compressed, compress_above: int) -> tuple[int, int] | None:
    """Returns the first and last sequence of the newest uninterrupted run of messages that the prompt contains in full,
    and still contains with a tool's result behind it; None if it contains no message in full."""
    # With the result the prompt may be compressed. A message that is dropped then should be in the result.
    is_kept_whole = compressed.compressed_tokens + RESULT_TOKENS <= compress_above
    messages = compressed.context.messages[-(PROMPT_MESSAGES if is_kept_whole else MAX_SUMMARIZED_MESSAGES) :]
    if compressed.cut:
        texts = [str(message.get("content") or "") for message in compressed.messages if message["role"] != "system"]
        start = len(messages)
        while start and any(messages[start - 1].text in text for text in texts):
            start -= 1
        messages = messages[start:]
    return (messages[0].seq, messages[-1].seq) if messages else None


def record_compression(compressed: Compressed) -> None:
    """Records a compression in the metrics and on the current span."""
    names = [*compressed.strategies, *(["cut"] if compressed.cut else [])]
    for name in names:
        COMPRESSION.labels(name).inc()
    ORIGINAL_TOKENS.observe(compressed.original_tokens)
    COMPRESSED_TOKENS.observe(compressed.compressed_tokens)
    current_span().set_attributes(
        {
            STRATEGIES: names,
            "nexus.compression.original_tokens": compressed.original_tokens,
            "nexus.compression.compressed_tokens": compressed.compressed_tokens,
        }
    )


def estimate_attributes(counter: Counter, prompt: ModelRequest, window: TokenWindow) -> dict[str, int]:
    """Returns a prompt's estimated tokens as span attributes."""
    estimate = counter.estimate(prompt.messages, prompt.tools, window.max_tokens)
    return {
        "nexus.tokens.system_prompt": estimate.system_prompt,
        "nexus.tokens.messages": estimate.messages,
        "nexus.tokens.tools": estimate.tools,
        "nexus.tokens.total": estimate.total,
        "nexus.tokens.remaining": estimate.remaining,
    }


def _facts_for_question(material: PromptMaterial, question: str) -> list[str] | None:
    """Returns the remembered facts, in the user's own words, that answer the question; None if memory could not be read
    for a question that they may answer."""
    context, requester = material.context, material.requester
    name = context.user.name if context and context.user else None
    if name and ASKS_NAME.search(plain(question).strip(" ?!.")):
        return [TEXTS["told_memory.my_name"].in_language(requester.language).format(name=name)]
    is_unread = context is None and requester.role == "user" and asks_about_oneself(question)
    if is_unread or (context and "memory.answering" in context.missing):
        return None
    return list(context.memory.answering) if context and context.memory else []


def _page(url: str | None, title: str | None) -> str | None:
    if url is None:
        return None
    return f"{title} ({url})" if title else url
