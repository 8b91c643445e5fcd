"""What a turn ends in: its answer with all that belongs to it, or the visible message of its failure; and what
follows."""

from agent.domain.actions import pending_actions
from agent.domain.charts import charts
from agent.domain.hand_over import told_away_in
from agent.domain.spending import spent_text
from agent.domain.texts import failure_text
from agent.domain.tool_results import citations
from agent.domain.turn.journal import Journal
from agent.ports import Asker, Ending, Key
from agent.recording.turn import EndedTurn
from agent.turns.knowing import Knowing
from agent.turns.needs import Ports
from contracts.company import CompanySettings


def ending_of(journal: Journal, settings: CompanySettings, asker: Asker) -> Ending:
    """The end of a turn whose journal holds an answer or a failure."""
    code = journal.failure
    text = _failure(journal, settings, asker) if code else journal.answer or ""
    away = told_away_in(journal)
    return Ending(
        journal=journal,
        text=text if away is None or away in text else f"{away}\n\n{text}",
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


def record_turn(ports: Ports, key: Key, knowing: Knowing, journal: Journal, settings: CompanySettings) -> None:
    """Whoever only appended what another agent had prepared does not know what it was made from."""
    if knowing.inputs is not None:
        ended = EndedTurn(knowing.inputs, journal, knowing.tools, settings.version, ports.clock.now())
        ports.records.ended(key, ended)


def want_summary(ports: Ports, key: Key, knowing: Knowing, asker: Asker, settings: CompanySettings) -> None:
    """A customer's conversation whose prompt had to be summed up by rules: a model does it better, later."""
    done, context = knowing.compressed, knowing.context
    if done is not None and context is not None and "summarize_conversation" in done.strategies and done.dropped:
        ports.summaries.want(key, asker, settings.config, done.dropped[-1].seq)
