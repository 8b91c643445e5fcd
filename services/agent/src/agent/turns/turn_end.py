"""Ends a turn: its answer, or the visible message of its failure, and what follows. Where there is no answer,
because the AI is switched off or the turn has failed, hands the conversation to a person on request."""

from agent.domain.actions import pending_actions
from agent.domain.charts import charts
from agent.domain.cost import spent_text
from agent.domain.hand_over import away_notice_in
from agent.domain.texts import failure_text
from agent.domain.tool_results import citations
from agent.domain.turn.journal import Journal
from agent.ports import ConversationKey, Ending, Requester, TurnSnapshot
from agent.record.turn import EndedTurn
from agent.turns.deps import Ports, policy_of
from agent.turns.inputs import TurnInputs
from contracts.company import CompanySettings
from contracts.events.chat import OwnerKind
from contracts.proposal_rpc import AnsweredTurn


def turn_ending(journal: Journal, settings: CompanySettings, requester: Requester, question: str) -> Ending:
    """Builds the end of a turn whose journal holds an answer or a failure."""
    code = journal.failure
    text = _failure_text(journal, settings, requester) if code else journal.answer or ""
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


def _failure_text(journal: Journal, settings: CompanySettings, requester: Requester) -> str:
    if journal.failure == "BUDGET_SPENT":
        return spent_text(journal.detail, settings.config.budget, requester.language)
    return failure_text(journal.failure or "INTERNAL", requester.language)


def record_turn(
    ports: Ports, key: ConversationKey, inputs: TurnInputs, journal: Journal, settings: CompanySettings
) -> None:
    """Records the turn for replays. Does nothing in an agent that only appended the answer of another, because it does
    not know the inputs of that answer."""
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
    answer_seq: int,
) -> None:
    """Starts the background work after a customer's answered turn: a small model proposes what to remember, and makes a
    summary if the prompt had only one by rules. `answer_seq`: the answer's sequence."""
    if requester.role == "user" and requester.user is not None:
        turn = AnsweredTurn(
            company_id=key.company,
            conversation_id=key.conversation,
            turn_id=journal.turn_id,
            basis=journal.basis,
            answered=answer_seq,
        )
        ports.proposals.propose(key, requester, settings.config, turn)
    compressed, context = inputs.compressed, inputs.context
    if (
        compressed is not None
        and context is not None
        and "summarize_conversation" in compressed.strategies
        and compressed.dropped
    ):
        ports.summaries.request(key, requester, settings.config, compressed.dropped[-1].seq)


async def request_person_without_ai(
    ports: Ports,
    inputs: TurnInputs,
    snapshot: TurnSnapshot | None,
    settings: CompanySettings | None,
    failed: Journal | None,
) -> None:
    """Requests a person once for the unanswered messages, if these messages (or the company's rules) ask for one and
    the AI is disabled or has `failed`. Raises UnreachableError."""
    if snapshot is None or settings is None:
        return
    # A spent budget asks for a person by itself.
    if policy_of(settings).enabled and (failed is None or failed.failure in (None, "BUDGET_SPENT")):
        return
    if snapshot.view.owner is OwnerKind.AI and snapshot.view.unanswered:
        call = await inputs.without_ai(snapshot, settings.config)
        if call is not None:
            await ports.own.outcome(inputs.key, call, snapshot.requester)
