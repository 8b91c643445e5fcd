"""Carries one delivery through the state machine, performing each effect."""

import asyncio
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from agent.analysis.in_answers import checked_answer
from agent.analysis.in_chat import with_analysis
from agent.domain.client_tools import with_client_tools
from agent.domain.cost import spent_fallback
from agent.domain.hand_over import owner_change_seq
from agent.domain.turn import effects
from agent.domain.turn.journal import Journal, ModelAnswer, usage_on_the_wire
from agent.domain.turn.machine import DUE_TOLERANCE_SECONDS, advance, begin
from agent.domain.turn.policy import AnswerPolicy, StopReason, stop_reason
from agent.errors import BudgetSpentError, ModelError
from agent.metrics import FIRST_TOKEN_SECONDS
from agent.ports import ConversationKey, TurnSnapshot
from agent.turns.deps import Limits, Ports, for_company, policy_of, require_settings
from agent.turns.handed_out import HandedOut
from agent.turns.inputs import TurnInputs
from agent.turns.lease import Lease
from agent.turns.look import read_log_and_journal
from agent.turns.prefetch import Prefetch
from agent.turns.promise_check import reply_without_empty_promises
from agent.turns.stream import Deltas
from agent.turns.tool_runs import CallRound, run_calls
from agent.turns.turn_end import follow_up, record_turn, request_person_without_ai, turn_ending
from agent.turns.watches import Watch
from contracts.channels import ChatKind
from contracts.company import CompanySettings
from contracts.conversation import Fact
from contracts.ids import answer_id
from runtime.observability.correlation import add_ids
from runtime.observability.gen_ai import SPAN_COMMIT
from runtime.observability.telemetry import span
from runtime.workers.deliveries import nothing

PREFETCH_LOOP_ROUNDS = 2
"""Rounds of the event loop that the prefetch gets before the journal is saved. If its prompt can be built at once, the
request for the next call's tokens leaves in one write with the journal, not after the journal's acknowledgement."""
UNKNOWN_COMPANY_SECONDS, UNKNOWN_COMPANY_PAUSE = 60.0, 2.0
"""Seconds after a message during which the settings of an unknown company are read again, and seconds between two
reads: a restored store has the settings again within seconds."""


class TurnDriver:
    """Drives the turn of one delivery.

    `opened`: the id of the turn that this driver opened. `driving`: the same id while this driver owns the turn, set
    before the journal is saved; `basis` is that turn's basis. `other_drivers`: the drivers of this agent in the same
    conversation. `last_standstill`: see Lease. `under_way`: see Delivery.
    """

    def __init__(
        self,
        ports: Ports,
        limits: Limits,
        key: ConversationKey,
        watch: Watch,
        stored_at: float,
        other_drivers: Callable[[], Iterable["TurnDriver"]] = tuple,
        last_standstill: Callable[[], float] = float,
        under_way: Callable[[], None] = nothing,
    ) -> None:
        self._ports = ports
        self._under_way = under_way
        self._limits = limits
        self._key = key
        self._watch = watch
        self._stored_at = stored_at
        self._other_drivers = other_drivers
        self._trigger_seq = 0
        self._task: asyncio.Task[object] | None = None
        self._interruption: effects.Interrupted | None = None
        self._is_stoppable = False
        self._is_due = False
        self._latest_snapshot: TurnSnapshot | None = None
        self._cached_policy: tuple[CompanySettings | None, AnswerPolicy] = (None, policy_of(None))
        self._stored_journal: Journal | None = None
        self._inputs = TurnInputs(ports, limits, key)
        self._prefetch = Prefetch(ports, limits, self._inputs)
        self._deltas: Deltas | None = None
        self._lease = Lease(ports.journals, key, last_standstill, self._on_lease_lost)
        self._appended_journal: Journal | None = None
        self.handed = HandedOut(ports, key)
        self._shown_turn: str | None = None
        self.driving: str | None = None
        self.basis = 0
        self.opened: str | None = None

    async def run(self, trigger: effects.Trigger) -> effects.Ack | effects.Retry:
        """Handles the delivery; returns whether to acknowledge it or to hand it back. Raises UnreachableError."""
        self._task, self._trigger_seq = asyncio.current_task(), trigger.seq
        handling, effect = begin(trigger, self._key.company, self._key.conversation, time_limit=self._limits.turn)
        settings = await self._settings()
        clock, delay = self._ports.clock, self._policy(settings).delay
        if clock.now() + DUE_TOLERANCE_SECONDS >= self._stored_at + delay:
            self._is_due = True
            if not self._ports.histories.may_begin_with(self._key, trigger.seq):
                self._inputs.begin(trigger.seq)
        while not isinstance(effect, effects.Ack | effects.Retry):
            event = await self._perform(effect, settings)
            settings = await self._settings()
            handling, effect = advance(handling, event, self._policy(settings), clock.now())
        if settings is None and clock.now() < self._stored_at + UNKNOWN_COMPANY_SECONDS:
            return effects.Retry(UNKNOWN_COMPANY_PAUSE, "no such company")
        if isinstance(effect, effects.Ack):
            failed = self._appended_journal
            await request_person_without_ai(self._ports, self._inputs, self._latest_snapshot, settings, failed)
            self._end_unanswered_run(settings)
        return effect

    def stop(self, reason: StopReason, seq: int = 0) -> None:
        """Cancels the running model call or the wait for tools. In any other step nothing needs to be cancelled: the
        next decision sees the reason in the log."""
        if self._is_stoppable and self._interruption is None and self._task is not None:
            self._interruption = effects.Interrupted(reason, seq)
            self._task.cancel()

    def progress(self) -> tuple[str, int]:
        """Returns the text so far and the sequence of its last delta, or -1 before the first."""
        is_shown = self._deltas is not None and self._shown_turn == self.driving
        return (self._deltas.sent_text, self._deltas.next_seq - 1) if self._deltas and is_shown else ("", -1)

    def end_run(self, reason: StopReason) -> None:
        """Ends the shown run as cancelled, so that text which this driver still writes is not shown."""
        if self._deltas is not None and self._deltas.open:
            self._deltas.end("run.cancelled", {"reason": reason.value})

    def close(self) -> None:
        """Cancels all work and breaks the reference cycles, so that everything read is freed at once and not by the
        garbage collector, which would pause every turn of the process (decision 0156)."""
        self.driving = None
        self._watch.close()
        self._lease.close()
        if self._deltas is not None:
            self._deltas.stop()
            self._deltas = None
        self._prefetch.close()
        self._inputs.close()

    async def _perform(self, effect: effects.Effect, settings: CompanySettings | None) -> effects.Event:
        match effect:
            case effects.ReadConversation(at_least=at_least):
                return await self._read_conversation(at_least, settings)
            case effects.Probe(turn_id=turn_id):
                return effects.DriverProbed(await self._ports.drivers.drives(self._key, turn_id))
            case effects.Save(journal=journal, revision=revision, then=next_call):
                if not journal.released:
                    # Set before the save is confirmed: an agent that finds the journal in the stream meanwhile asks
                    # whether it is driven.
                    self.driving, self.basis = journal.turn_id, journal.basis
                await self._prepare(next_call, settings)
                saved = await self._ports.journals.save(self._key, journal, revision)
                if saved is None:
                    self.driving = None
                    return effects.SaveRefused()
                self._lease.saved(saved)
                self._take_up(journal)
                return effects.Saved(saved)
            case effects.CallModel():
                return await self._call_model(effect, require_settings(settings, self._key))
            case effects.RunCalls():
                return await self._run_calls(effect, require_settings(settings, self._key))
            case effects.Append(journal=journal, fence=fence):
                return await self._append(journal, fence, require_settings(settings, self._key))
            case effects.ReportFailure(journal=journal):
                await self._ports.failures.report(self._key, journal)
                return effects.Reported()
            case effects.Ack() | effects.Retry():
                raise RuntimeError("the end of a delivery is not performed")

    async def _read_conversation(self, at_least: int, settings: CompanySettings | None) -> effects.ConversationRead:
        snapshot, self._stored_journal, revision = await read_log_and_journal(self._ports, self._key, at_least)
        if settings is not None:
            snapshot = for_company(snapshot, settings.config)
            if self._is_due and snapshot.view.unanswered:
                self._inputs.begin_context(snapshot, settings.config)
        self._latest_snapshot = snapshot
        return effects.ConversationRead(snapshot.view, self._stored_journal, revision)

    def _take_up(self, journal: Journal) -> None:
        add_ids(turn=journal.turn_id)
        if self._shown_turn != journal.turn_id:
            self._end_predecessor(journal.turn_id)
            self._shown_turn = self.opened = journal.turn_id
            if self._deltas is not None:
                self._deltas.stop()
            turn_id = journal.turn_id
            self._deltas = Deltas(self._ports.live, self._key, turn_id, answer_id(turn_id), self._lease.doubtful)
            self._deltas.on_first = self._measure_first_token
            self._deltas.begin()
        self.driving, self.basis = journal.turn_id, journal.basis
        if journal.released:
            self.driving = self._shown_turn = None

    def _on_lease_lost(self) -> None:
        """Stops this driver after another agent has taken the turn over. That agent's run is shown from now on, and the
        next save here would be refused."""
        if self._deltas is not None:
            self._deltas.mute()
        self.stop(StopReason.SUPERSEDED)

    def _end_predecessor(self, turn_id: str) -> None:
        """Ends the previous turn's run if it was not answered; its driver may be dead, or still waiting for tools."""
        stored, basis = self._stored_journal, self._require_snapshot().view.basis
        if stored is not None and stored.turn_id != turn_id and (stored.basis > basis or not stored.ended):
            self._end_run_of(stored, StopReason.SUPERSEDED)

    def _end_run_of(self, journal: Journal, reason: StopReason) -> None:
        if journal.released:
            return
        for driver in self._other_drivers():
            if driver.opened == journal.turn_id:
                driver.end_run(reason)
                return
        self._ports.live.emit(self._key, "run.cancelled", {"turnId": journal.turn_id, "reason": reason.value})

    def _measure_first_token(self) -> None:
        if self._stored_at:
            FIRST_TOKEN_SECONDS.observe(max(self._ports.clock.now() - self._stored_at, 0.0))

    async def _call_model(self, effect: effects.CallModel, settings: CompanySettings) -> effects.Event:
        snapshot, deltas = self._require_snapshot(), self._require_deltas()
        journal = effect.journal
        if journal.deadline <= self._ports.clock.now():
            return effects.AskFailed("DEADLINE", "no time is left for the model", final=True)
        call = await self._prefetch.ready(effect, settings, snapshot)
        self._under_way()
        deltas.restart()
        if isinstance(call, ModelAnswer):
            deltas.text(call.text)
            deltas.flush()
            return effects.ModelReplied(call)
        interruption = self._watch.first_stop(effect, self._policy(settings))
        if interruption is not None:
            return self._cancel_run(interruption)
        cited_text = self._inputs.answer_sink(deltas, journal)
        sink = checked_answer(journal, self._inputs.tools, call.prompt, call.choice, cited_text)
        try:
            with self._stoppable_by_facts(effect, settings):
                reply = await reply_without_empty_promises(
                    self._ports, settings.config, journal, call, sink, self._inputs.tools
                )
        except asyncio.CancelledError:
            return self._cancel_run(self._take_interruption())
        except BudgetSpentError:
            deltas.stop()
            return effects.AskFailed("BUDGET_SPENT", spent_fallback(settings.config.budget), final=True)
        except ModelError as error:
            deltas.stop()
            if self._ports.clock.now() >= journal.deadline:
                return effects.AskFailed("DEADLINE", str(error), final=True)
            return effects.AskFailed("LLM_UNAVAILABLE", str(error), final=not error.retryable)
        reply = sink.finish(reply)
        cited_text.flush()
        deltas.flush()
        return effects.ModelReplied(self._inputs.grounded(reply, effect))

    async def _prepare(self, call: effects.CallModel | None, settings: CompanySettings | None) -> None:
        if call is not None and settings is not None:
            self._prefetch.begin(call, settings, self._require_snapshot())
            for _ in range(PREFETCH_LOOP_ROUNDS):
                await asyncio.sleep(0)
        else:
            self._prefetch.cancel()

    @contextmanager
    def _stoppable_by_facts(
        self, effect: effects.CallModel | effects.RunCalls, settings: CompanySettings
    ) -> Generator[None]:
        """Lets facts from the live feed cancel this driver's task while the context is open. A newer message does not
        cancel tool calls, except those that the client runs."""
        journal, policy = effect.journal, self._policy(settings)
        runs_tools = isinstance(effect, effects.RunCalls)

        def stop_on(fact: Fact) -> None:
            if fact.seq > effect.view.seq:
                forced = journal.forced or (runs_tools and not self.handed.waiting)
                self.handed.pointless |= fact.kind is ChatKind.VISITOR
                reason = stop_reason(fact, basis=journal.basis, forced=forced, policy=policy)
                if reason is not None:
                    self.stop(reason, fact.seq)

        self._watch.listener = stop_on
        self._is_stoppable = True
        try:
            yield
        finally:
            self._is_stoppable = False
            self._watch.listener = None

    def _take_interruption(self) -> effects.Interrupted:
        """Returns the interruption behind this cancellation; raises CancelledError on another cause (a drain)."""
        interruption, self._interruption = self._interruption, None
        task = self._task
        if interruption is None or task is None or task.uncancel() > 0:
            raise asyncio.CancelledError
        return interruption

    def _cancel_run(self, interruption: effects.Interrupted) -> effects.Interrupted:
        self.end_run(interruption.reason)
        return interruption

    def _end_unanswered_run(self, settings: CompanySettings | None) -> None:
        """Ends a run that is still shown although its answer will never be stored, so that no reader waits for it."""
        deltas, snapshot = self._deltas, self._latest_snapshot
        appended, stored = self._appended_journal, self._stored_journal
        if snapshot is None:
            return
        policy, view = self._policy(settings), snapshot.view
        is_vetoed = not policy.answers(view.owner)
        veto = StopReason.TAKEN_OVER if policy.enabled else StopReason.DISABLED
        if deltas is None:
            # The run was shown by a driver that died. By now this agent may not continue it, or a person settled it.
            is_over = is_vetoed or not view.unanswered
            if is_over and stored is not None and stored.basis == self._trigger_seq and not stored.ended:
                self._end_run_of(stored, veto)
        elif is_vetoed:
            self.end_run(veto)
        elif appended is not None and appended.answer is not None and view.basis == appended.basis:
            # The answer was stored, but its acknowledgement was lost.
            if deltas.open:
                deltas.end("run.finished", {"usage": usage_on_the_wire(appended)})
        else:
            self.end_run(StopReason.SUPERSEDED if view.unanswered else StopReason.USER)

    # ------------------------------------------------------------ tools

    async def _run_calls(self, effect: effects.RunCalls, settings: CompanySettings) -> effects.Event:
        snapshot, journal = self._require_snapshot(), effect.journal
        hand_over_calls = await self._inputs.hand_over_calls(effect, snapshot)
        tools = await self._ports.catalogue.offered(self._key.company, snapshot.requester)
        self._under_way()
        seconds = max(min(self._limits.tool, journal.deadline - self._ports.clock.now() - 5.0), 1.0)
        self.handed.pointless = bool(hand_over_calls)
        try:
            # A hand-over changes the owner itself; that fact must not cancel the wait for its result.
            with nullcontext() if hand_over_calls else self._stoppable_by_facts(effect, settings):
                offered = with_client_tools(
                    with_analysis(tools, snapshot.requester.language, settings.config), snapshot.wishes
                )
                own_words = await self._inputs.own_words(effect, snapshot, settings.config)
                earlier_call_ids = (
                    {call.call_id for call in self._stored_journal.unsettled}
                    if self._stored_journal is not None
                    else ()
                )
                requester = self._inputs.requester(snapshot)
                round_ = CallRound(
                    self._key, journal, requester, offered, seconds, own_words, hand_over_calls, earlier_call_ids
                )
                results = await run_calls(self._ports.tools, self._ports.live, round_, self._ports.own, self.handed)
                return effects.ToolsFinished(results, owner_change_seq(results[call_id] for call_id in hand_over_calls))
        except asyncio.CancelledError:
            return self._cancel_run(self._take_interruption())

    # ------------------------------------------------------------ the end

    async def _append(self, journal: Journal, fence: int, settings: CompanySettings) -> effects.Event:
        snapshot = self._require_snapshot()
        self._take_up(replace(journal, released=False) if journal.released else journal)
        self._appended_journal = journal
        code, ending = journal.failure, turn_ending(journal, settings, snapshot.requester, snapshot.text)
        with span(SPAN_COMMIT) as commit_span:
            appended = await self._ports.chat.append(self._key, ending, fence)
            commit_span.set_attributes({"nexus.outcome": appended.outcome})
        if appended.outcome != "stored":
            return effects.AppendRefused(appended.seq) if appended.outcome == "refused" else effects.AppendUnknown()
        record_turn(self._ports, self._key, self._inputs, journal, settings)
        if code:
            self._require_deltas().end("run.error", {"code": code, "message": ending.text})
        else:
            self._require_deltas().end("run.finished", {"usage": usage_on_the_wire(journal)})
            follow_up(self._ports, self._key, self._inputs, snapshot.requester, settings, journal, appended.seq)
            await self._inputs.record_estimate()
        return effects.Stored(appended.seq)

    async def _settings(self) -> CompanySettings | None:
        return await self._ports.companies.get(self._key.company)

    def _policy(self, settings: CompanySettings | None) -> AnswerPolicy:
        if settings is not self._cached_policy[0]:
            self._cached_policy = settings, policy_of(settings)
        return self._cached_policy[1]

    def _require_snapshot(self) -> TurnSnapshot:
        if self._latest_snapshot is None:
            raise RuntimeError("no snapshot yet: the conversation is read first")
        return self._latest_snapshot

    def _require_deltas(self) -> Deltas:
        if self._deltas is None:
            raise RuntimeError("no turn is open")
        return self._deltas
