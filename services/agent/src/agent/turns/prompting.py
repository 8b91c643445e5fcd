"""From what is known of a conversation to one call of the model: the five layers and the turn's calls."""

from agent.domain.prompt.layers import VisitorInfo, system_prompt
from agent.domain.prompt.messages import conversation
from agent.domain.turn.journal import Journal
from agent.ports import Asker, History, Prompt, Tool
from contracts.company import CompanyConfig


def prompt_for(
    config: CompanyConfig,
    asker: Asker,
    history: History,
    journal: Journal,
    tools: tuple[Tool, ...],
    *,
    last: bool,
    time_limit: float,
) -> Prompt:
    """The prompt of the turn's next model call. `last`: the tools stay listed and may not be called."""
    visitor = None
    if config.include_visitor_info:
        visitor = VisitorInfo(
            page=_page(asker.page_url or history.page_url, asker.page_title or history.page_title),
            funnel_stage=asker.funnel_stage or history.funnel_stage,
            visits=history.visits,
        )
    system = system_prompt(
        asker.language,
        custom=config.custom_system_prompt,
        customer=asker.role == "user",
        visitor=visitor,
        tool_names=tuple(tool.name for tool in tools),
    )
    spoken = ((said.mine, said.text) for said in history.messages)
    return Prompt(
        messages=conversation(system, spoken, journal.steps, language=asker.language, last=last and bool(tools)),
        tools=tools,
        tool_choice="none" if last or not tools else "auto",
        model=config.preferred_model,
        temperature=config.temperature,
        max_tokens=config.max_response_tokens,
        time_limit=time_limit,
        language=asker.language,
        page_url=asker.page_url or history.page_url,
    )


def _page(url: str | None, title: str | None) -> str | None:
    if url is None:
        return None
    return f"{title} ({url})" if title else url
