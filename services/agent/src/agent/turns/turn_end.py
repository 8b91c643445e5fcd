"""Ends a turn: appends its answer, or the visible message of its failure, and starts what follows."""

from agent.domain.actions import pending_actions
from agent.domain.charts import charts
from agent.domain.cost import spent_text
from agent.domain.hand_over import away_notice_in
from agent.domain.texts import failure_text
from agent.domain.tool_results import citations
from agent.domain.turn.journal import Journal
from agent.ports import ConversationKey, Ending, Requester
from agent.record.turn import EndedTurn
from agent.turns.deps import Ports
from agent.turns.inputs import TurnInputs
from contracts.company import CompanySettings
from contracts.proposal_rpc import AnsweredTurn


def turn_ending(journal: Journal, settings: CompanySettings, requester: Requester, question: str) -> Ending:
    """The end of a turn whose journal holds an answer or a failure."""
    code = journal.failure
    text = _failure(journal, settings, requester) if code else journal.answer or ""
    away = away_notice_in(journal)
    return Ending(
        journal=journal,
        text=text if away is None or away in text else f"{away}\n\n{text}",
        citations=() if code else citations(journal),
        actions=() if code else pending_actions(journal),
        charts=() if code else charts(journal, question),
        config_version=settings.version,
        code=code,
    )


def _failure(journal: Journal, settings: CompanySettings, requester: Requester) -> str:
    if journal.failure == "BUDGET_SPENT":
        return spent_text(journal.detail, settings.config.budget, requester.language)
    return failure_text(journal.failure or "INTERNAL", requester.language)


def record_turn(
    ports: Ports, key: ConversationKey, inputs: TurnInputs, journal: Journal, settings: CompanySettings
) -> None:
    """Records the turn. An agent that only appended another's prepared answer does not know the inputs of that
    answer."""
    if inputs.inputs is not None:
        ended = EndedTurn(inputs.inputs, journal, inputs.tools, settings.version, ports.clock.now())
        ports.record(key, ended)


def follow_up(
    ports: Ports,
    key: ConversationKey,
    inputs: TurnInputs,
    requester: Requester,
    settings: CompanySettings,
    journal: Journal,
    answered: int,
) -> None:
    """Starts the work after a customer's answered turn, for which nobody waits: a model proposes what to remember, and
    replaces a summary that the prompt made by rules. `answered`: the answer's sequence."""
    if requester.role == "user" and requester.user is not None:
        turn = AnsweredTurn(
            company_id=key.company,
            conversation_id=key.conversation,
            turn_id=journal.turn_id,
            basis=journal.basis,
            answered=answered,
        )
        ports.proposals.propose(key, requester, settings.config, turn)
    done, context = inputs.compressed, inputs.context
    if done is not None and context is not None and "summarize_conversation" in done.strategies and done.dropped:
        ports.summaries.want(key, requester, settings.config, done.dropped[-1].seq)
