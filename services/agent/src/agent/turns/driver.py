"""Carries one delivery through the state machine, performing each effect."""

import asyncio
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import structlog

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
from agent.ports import AskedSnapshot, ConversationKey
from agent.turns.deps import Limits, Ports, in_company, policy_of, require_settings
from agent.turns.handed_out import HandedOut
from agent.turns.inputs import TurnInputs
from agent.turns.lease import Lease
from agent.turns.look import log_and_journal
from agent.turns.prefetch import Prefetch
from agent.turns.promise_check import ask_honest
from agent.turns.stream import Deltas
from agent.turns.tool_runs import CallRound, outcomes
from agent.turns.turn_end import follow_up, record_turn, turn_ending
from agent.turns.watches import Watch
from agent.turns.without_ai import ask_without_ai
from contracts.channels import ChatKind
from contracts.company import CompanySettings
from contracts.conversation import Fact
from contracts.ids import answer_id
from runtime.observability.correlation import add_ids
from runtime.observability.gen_ai import SPAN_COMMIT
from runtime.observability.telemetry import span

log = structlog.get_logger(__name__)

BEGUN = 2
"""Rounds of the event loop in which the next call's tokens are requested, if its prompt can be built at once: the
request then leaves in one write with the journal, instead of after the journal's acknowledgement."""
COMPANY_WITHIN, COMPANY_AGAIN = 60.0, 2.0
"""Seconds after a message for which the settings of an unknown company are read again, and between two reads: a
restored store has the settings again within seconds."""


class TurnDriver:
    """Drives the turn of one delivery. `opened`: the id of the turn that it has opened. `driving`: the same while the
    turn is this driver's own, from before its journal is saved, with the turn's `basis`. `others`: this agent's other
    drivers in the conversation."""

    def __init__(
        self,
        ports: Ports,
        limits: Limits,
        key: ConversationKey,
        watch: Watch,
        stored_at: float,
        others: Callable[[], Iterable["TurnDriver"]] = tuple,
        stood_still: Callable[[], float] = float,
    ) -> None:
        self._ports = ports
        self._limits = limits
        self._key = key
        self._watch = watch
        self._stored_at = stored_at
        self._others = others
        self._handled = 0
        self._task: asyncio.Task[object] | None = None
        self._stopped: effects.Interrupted | None = None
        self._stoppable = False
        self._due = False
        self._seen: AskedSnapshot | None = None
        self._policy_of: tuple[CompanySettings | None, AnswerPolicy] = (None, policy_of(None))
        self._found: Journal | None = None
        self._inputs = TurnInputs(ports, limits, key)
        self._prefetch = Prefetch(ports, limits, self._inputs)
        self._deltas: Deltas | None = None
        self._lease = Lease(ports.journals, key, stood_still, self._lost)
        self._appending: Journal | None = None
        self.handed = HandedOut(ports, key)
        self._shown: str | None = None
        self.driving: str | None = None
        self.basis = 0
        self.opened: str | None = None

    async def run(self, trigger: effects.Trigger) -> effects.Ack | effects.Retry:
        """Handles the delivery until it is to be acknowledged or handed back; raises UnreachableError."""
        self._task, self._handled = asyncio.current_task(), trigger.seq
        handling, effect = begin(trigger, self._key.company, self._key.conversation, time_limit=self._limits.turn)
        settings = await self._settings()
        clock, delay = self._ports.clock, self._policy(settings).delay
        if clock.now() + DUE_TOLERANCE_SECONDS >= self._stored_at + delay:
            self._due = True
            if not self._ports.histories.may_begin_with(self._key, trigger.seq):
                self._inputs.begin(trigger.seq)
        while not isinstance(effect, effects.Ack | effects.Retry):
            event = await self._perform(effect, settings)
            settings = await self._settings()
            handling, effect = advance(handling, event, self._policy(settings), clock.now())
        if settings is None and clock.now() < self._stored_at + COMPANY_WITHIN:
            return effects.Retry(COMPANY_AGAIN, "no such company")
        if isinstance(effect, effects.Ack):
            await ask_without_ai(self._ports, self._inputs, self._seen, settings)
            self._close_run(settings)
        return effect

    def stop(self, reason: StopReason, seq: int = 0) -> None:
        """Cancels the running model call or the wait for tools; at any other step the next decision sees the reason in
        the log."""
        if self._stoppable and self._stopped is None and self._task is not None:
            self._stopped = effects.Interrupted(reason, seq)
            self._task.cancel()

    def progress(self) -> tuple[str, int]:
        """The text so far, and the sequence of its last delta (-1: none)."""
        shown = self._deltas is not None and self._shown == self.driving
        return (self._deltas.sent_text, self._deltas.next_seq - 1) if self._deltas and shown else ("", -1)

    def end_run(self, reason: StopReason) -> None:
        """Another delivery drives the turn now, so what this one still writes is not shown."""
        if self._deltas is not None and self._deltas.open:
            self._deltas.end("run.cancelled", {"reason": reason.value})

    def close(self) -> None:
        """Ends everything. No circle of references is left, so that all that was read is freed at once and not by the
        garbage collector, which would stop every turn of the process (decision 0156)."""
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
            case effects.Save(journal=journal, revision=revision, then=then):
                if not journal.released:
                    # Before it is known to be saved: who finds it in the stream meanwhile asks whether it is driven.
                    self.driving, self.basis = journal.turn_id, journal.basis
                await self._prepare(then, settings)
                saved = await self._ports.journals.save(self._key, journal, revision)
                if saved is None:
                    self.driving = None
                    return effects.SaveRefused()
                self._lease.saved(saved)
                self._drive_on(journal)
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
                raise RuntimeError("an end is not performed")

    async def _read_conversation(self, at_least: int, settings: CompanySettings | None) -> effects.ConversationRead:
        seen, self._found, revision = await log_and_journal(self._ports, self._key, at_least)
        if settings is not None:
            seen = in_company(seen, settings.config)
            if self._due and seen.view.unanswered:
                self._inputs.begin_context(seen, settings.config)
        self._seen = seen
        return effects.ConversationRead(seen.view, self._found, revision)

    def _drive_on(self, journal: Journal) -> None:
        add_ids(turn=journal.turn_id)
        if self._shown != journal.turn_id:
            self._end_predecessor(journal.turn_id)
            self._shown = self.opened = journal.turn_id
            if self._deltas is not None:
                self._deltas.stop()
            turn = journal.turn_id
            self._deltas = Deltas(self._ports.live, self._key, turn, answer_id(turn), self._lease.doubtful)
            self._deltas.on_first = self._measure_first_token
            self._deltas.begin()
        self.driving, self.basis = journal.turn_id, journal.basis
        if journal.released:
            self.driving = self._shown = None

    def _lost(self) -> None:
        """Called when another agent has taken the turn over: that agent's run is shown from now on, and the next save
        here would be refused."""
        if self._deltas is not None:
            self._deltas.mute()
        self.stop(StopReason.SUPERSEDED)

    def _end_predecessor(self, turn_id: str) -> None:
        """Ends the run of the turn before, if it was not answered: its driver may still wait for tools, or be dead."""
        found, settled = self._found, self._snapshot().view.basis
        if found is not None and found.turn_id != turn_id and (found.basis > settled or not found.ended):
            self._end_run_of(found, StopReason.SUPERSEDED)

    def _end_run_of(self, found: Journal, reason: StopReason) -> None:
        if found.released:
            return
        for other in self._others():
            if other.opened == found.turn_id:
                other.end_run(reason)
                return
        self._ports.live.emit(self._key, "run.cancelled", {"turnId": found.turn_id, "reason": reason.value})

    def _measure_first_token(self) -> None:
        if self._stored_at:
            FIRST_TOKEN_SECONDS.observe(max(self._ports.clock.now() - self._stored_at, 0.0))

    async def _call_model(self, effect: effects.CallModel, settings: CompanySettings) -> effects.Event:
        seen, deltas = self._snapshot(), self._running_deltas()
        journal = effect.journal
        if journal.deadline <= self._ports.clock.now():
            return effects.AskFailed("DEADLINE", "no time is left for the model", final=True)
        call = await self._prefetch.ready(effect, settings, seen)
        deltas.restart()
        if isinstance(call, ModelAnswer):
            deltas.text(call.text)
            deltas.flush()
            return effects.ModelReplied(call)
        seen_before = self._watch.first_stop(effect, self._policy(settings))
        if seen_before is not None:
            return self._stopped_by(seen_before)
        heard = self._inputs.answer_sink(deltas, journal)
        sink = checked_answer(journal, self._inputs.tools, call.prompt, call.choice, heard)
        try:
            with self._until_stopped(effect, settings):
                reply = await ask_honest(self._ports, settings.config, journal, call, sink, self._inputs.tools)
        except asyncio.CancelledError:
            return self._stopped_by(self._stop_or_raise())
        except BudgetSpentError:
            deltas.stop()
            return effects.AskFailed("BUDGET_SPENT", spent_fallback(settings.config.budget), final=True)
        except ModelError as error:
            deltas.stop()
            if self._ports.clock.now() >= journal.deadline:
                return effects.AskFailed("DEADLINE", str(error), final=True)
            return effects.AskFailed("LLM_UNAVAILABLE", str(error), final=not error.retryable)
        reply = sink.finish(reply)
        heard.flush()
        deltas.flush()
        return effects.ModelReplied(self._inputs.grounded(reply, effect))

    async def _prepare(self, ask: effects.CallModel | None, settings: CompanySettings | None) -> None:
        if ask is not None and settings is not None:
            self._prefetch.begin(ask, settings, self._snapshot())
            for _ in range(BEGUN):
                await asyncio.sleep(0)
        else:
            self._prefetch.leave()

    @contextmanager
    def _until_stopped(
        self, effect: effects.CallModel | effects.RunCalls, settings: CompanySettings
    ) -> Generator[None]:
        """While it is open, facts on the live feed may cancel this driver's task; a newer message cancels no tools."""
        journal, policy = effect.journal, self._policy(settings)
        runs = isinstance(effect, effects.RunCalls)  # of these only what a client runs is given up for a newer message

        def heed(fact: Fact) -> None:
            if fact.seq > effect.view.seq:
                forced = journal.forced or (runs and not self.handed.waiting)
                self.handed.pointless |= fact.kind is ChatKind.VISITOR
                reason = stop_reason(fact, basis=journal.basis, forced=forced, policy=policy)
                if reason is not None:
                    self.stop(reason, fact.seq)

        self._watch.listener = heed
        self._stoppable = True
        try:
            yield
        finally:
            self._stoppable = False
            self._watch.listener = None

    def _stop_or_raise(self) -> effects.Interrupted:
        """The stop that caused this cancellation; raises CancelledError if something else did (a drain)."""
        stopped, self._stopped = self._stopped, None
        task = self._task
        if stopped is None or task is None or task.uncancel() > 0:
            raise asyncio.CancelledError
        return stopped

    def _stopped_by(self, stopped: effects.Interrupted) -> effects.Interrupted:
        self.end_run(stopped.reason)
        return stopped

    def _close_run(self, settings: CompanySettings | None) -> None:
        """Ends a run that is still shown although its answer was refused for good, so that no reader waits for it."""
        deltas, seen, journal, found = self._deltas, self._seen, self._appending, self._found
        if seen is None:
            return
        policy, view = self._policy(settings), seen.view
        vetoed = not policy.answers(view.owner)
        veto = StopReason.TAKEN_OVER if policy.enabled else StopReason.DISABLED
        if deltas is None:
            # Shown by a driver that died, and by now not ours to go on with, or settled by a person's message.
            over = vetoed or not view.unanswered
            if over and found is not None and found.basis == self._handled and not found.ended:
                self._end_run_of(found, veto)
        elif vetoed:
            self.end_run(veto)
        elif journal is not None and journal.answer is not None and view.basis == journal.basis:
            # Its own answer, whose acknowledgement was lost.
            if deltas.open:
                deltas.end("run.finished", {"usage": usage_on_the_wire(journal)})
        else:
            self.end_run(StopReason.SUPERSEDED if view.unanswered else StopReason.USER)

    # ------------------------------------------------------------ tools

    async def _run_calls(self, effect: effects.RunCalls, settings: CompanySettings) -> effects.Event:
        seen, journal = self._snapshot(), effect.journal
        handing = await self._inputs.hand_over_calls(effect, seen)
        tools = await self._ports.catalogue.offered(self._key.company, seen.requester)
        seconds = max(min(self._limits.tool, journal.deadline - self._ports.clock.now() - 5.0), 1.0)
        self.handed.pointless = bool(handing)
        try:
            # Its own change of owner must not cancel the wait for it.
            with nullcontext() if handing else self._until_stopped(effect, settings):
                known = with_client_tools(with_analysis(tools, seen.requester.language, settings.config), seen.wishes)
                words = await self._inputs.own_words(effect, seen, settings.config)
                begun = {call.call_id for call in self._found.unsettled} if self._found is not None else ()
                requester = self._inputs.requester(seen)
                asked = CallRound(self._key, journal, requester, known, seconds, words, handing, begun)
                results = await outcomes(self._ports.tools, self._ports.live, asked, self._ports.own, self.handed)
                return effects.ToolsFinished(results, owner_change_seq(results[call_id] for call_id in handing))
        except asyncio.CancelledError:
            return self._stopped_by(self._stop_or_raise())

    # ------------------------------------------------------------ the end

    async def _append(self, journal: Journal, fence: int, settings: CompanySettings) -> effects.Event:
        seen = self._snapshot()
        self._drive_on(replace(journal, released=False) if journal.released else journal)
        self._appending = journal
        code, ending = journal.failure, turn_ending(journal, settings, seen.requester, seen.text)
        with span(SPAN_COMMIT) as work:
            appending = await self._ports.chat.append(self._key, ending, fence)
            work.set_attributes({"nexus.outcome": appending.outcome})
        if appending.outcome != "stored":
            return effects.AppendRefused(appending.seq) if appending.outcome == "refused" else effects.AppendUnknown()
        record_turn(self._ports, self._key, self._inputs, journal, settings)
        if code:
            self._running_deltas().end("run.error", {"code": code, "message": ending.text})
        else:
            self._running_deltas().end("run.finished", {"usage": usage_on_the_wire(journal)})
            follow_up(self._ports, self._key, self._inputs, seen.requester, settings, journal, appending.seq)
            await self._inputs.tell_estimate()
        return effects.Stored(appending.seq)

    async def _settings(self) -> CompanySettings | None:
        return await self._ports.companies.get(self._key.company)

    def _policy(self, settings: CompanySettings | None) -> AnswerPolicy:
        if settings is not self._policy_of[0]:
            self._policy_of = settings, policy_of(settings)
        return self._policy_of[1]

    def _snapshot(self) -> AskedSnapshot:
        if self._seen is None:
            raise RuntimeError("no snapshot yet: the conversation is read first")
        return self._seen

    def _running_deltas(self) -> Deltas:
        if self._deltas is None:
            raise RuntimeError("no turn is open")
        return self._deltas
