"""The first four layers of the prompt: base, brevity, visitor, tool use. The fifth is the history."""

from dataclasses import dataclass
from typing import Literal

from agent.domain.text_features import one_line
from agent.texts import TEXTS
from contracts.company import CompanyConfig
from contracts.languages import Language

Layer = Literal["base", "brevity", "visitor", "tools"]


MAX_SUMMARY_LENGTH = 1_500
"""Characters; 200 tokens are fewer."""


@dataclass(frozen=True, slots=True)
class VisitorInfo:
    """Prompt layer 3."""

    page: str | None
    funnel_stage: str | None
    visits: int


def base_layer(language: Language, company: CompanyConfig) -> str:
    """Layer 1: the company's own prompt or the default one, with the assistant's name and tone."""
    role = company.custom_system_prompt or _default_base(language, company.name)
    return "\n".join([role, *persona_lines(language, company)])


def persona_lines(language: Language, company: CompanyConfig) -> list[str]:
    """Lines with the assistant's name and tone, if the company has set them."""
    called, tone = company.assistant.name, company.assistant.tone
    lines = [
        TEXTS["prompt.name"].in_language(language).format(name=one_line(called, 60)) if called else "",
        TEXTS["prompt.tone"].in_language(language).format(tone=one_line(tone, 300).rstrip(".")) if tone else "",
    ]
    return [line for line in lines if line]


def system_prompt(
    language: Language,
    *,
    custom: str | None,
    visitor: VisitorInfo | None,
    tool_names: tuple[str, ...],
    copilot: str | None = None,
    summary: str | None = None,
) -> str:
    """Layers 1 to 4, separated by empty lines; those that do not apply are left out.

    `custom`: layer 1 from `base_layer`; `copilot`: a customer's sections, which replace it; `summary`: of the messages
    of a visitor's conversation that are not sent."""
    layers = [text for _, text in layers_of(language, custom=copilot or custom, visitor=visitor, tool_names=tool_names)]
    if summary:
        layers.append(f"{TEXTS['prompt.earlier'].in_language(language)} {one_line(summary, MAX_SUMMARY_LENGTH)}")
    return "\n\n".join(layers)


def layers_of(
    language: Language, *, custom: str | None, visitor: VisitorInfo | None, tool_names: tuple[str, ...]
) -> list[tuple[Layer, str]]:
    """The layers that apply, each with its name, in order."""
    layers: list[tuple[Layer, str]] = [
        ("base", custom or _default_base(language)),
        ("brevity", TEXTS["prompt.brevity"].in_language(language)),
    ]
    if visitor is not None:
        layers.append(("visitor", _visitor(language, visitor)))
    if tool_names:
        layers.append(("tools", TEXTS["prompt.tools"].in_language(language).format(names=", ".join(tool_names))))
    return layers


def _default_base(language: Language, company: str | None = None) -> str:
    template = TEXTS["prompt.named_company" if company else "prompt.unnamed_company"].in_language(language)
    company_text = template.format(name=one_line(company, 80)) if company else template
    return TEXTS["prompt.base"].in_language(language).format(company=company_text)


def _visitor(language: Language, visitor: VisitorInfo) -> str:
    names = ("title", "page", "stage", "visits")
    title, page, stage, visits = (TEXTS[f"prompt.visitor.{name}"].in_language(language) for name in names)
    # Page titles and stages come from the visitor's browser: one line each, so that they cannot pose as a layer.
    facts = [(page, visitor.page), (stage, visitor.funnel_stage), (visits, str(visitor.visits))]
    return "\n".join([title, *(f"- {name}: {one_line(value)}" for name, value in facts if value)])
