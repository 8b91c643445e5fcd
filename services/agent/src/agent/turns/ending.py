"""What a turn ends in: its answer with all that belongs to it, or the visible message of its failure."""

from agent.domain.actions import pending_actions
from agent.domain.charts import charts
from agent.domain.spending import spent_text
from agent.domain.texts import failure_text
from agent.domain.tool_results import citations
from agent.domain.turn.journal import Journal
from agent.ports import Asker, Ending
from contracts.company import CompanySettings


def ending_of(journal: Journal, settings: CompanySettings, asker: Asker) -> Ending:
    """The end of a turn whose journal holds an answer or a failure."""
    code = journal.failure
    return Ending(
        journal=journal,
        text=_failure(journal, settings, asker) if code else journal.answer or "",
        citations=() if code else citations(journal),
        actions=() if code else pending_actions(journal),
        charts=() if code else charts(journal),
        config_version=settings.version,
        code=code,
    )


def _failure(journal: Journal, settings: CompanySettings, asker: Asker) -> str:
    if journal.failure == "BUDGET_SPENT":
        return spent_text(journal.detail, settings.config.budget, asker.language)
    return failure_text(journal.failure or "INTERNAL", asker.language)
