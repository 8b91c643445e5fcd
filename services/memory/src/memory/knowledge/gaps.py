"""Gaps: questions that were answered without a source, rated as bad, or handed to a person because the AI did not
know. Questions that ask the same are one gap; a click turns it into a question-and-answer pair."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from contracts.ids import derive_id
from memory.domain.recall.words import language_of
from memory.errors import NoSuchKnowledgeError, StoreUnavailableError
from memory.knowledge.library import Library
from memory.knowledge.mongo_gaps import AskedOnce, Gap, Gaps
from memory.knowledge.question import TextProfile, text_profile
from memory.knowledge.records import Pair, Record
from runtime.clock import Clock
from runtime.recent import Recent

TRIES = 8
"""Tries to write a gap that others are writing."""
COMPARED = 200
"""The most asked gaps that a question is compared with."""
ALIKE = 0.6
"""The share of significant words from which on two questions ask the same."""
ANSWERED_WITHIN = timedelta(hours=12)
"""After this long, an operator's message no longer counts as the answer."""
HELD, HELD_COMPANIES = 2.0, 100
"""Seconds for which a company's gaps are cached for comparison, and for how many companies. A gap that has changed
since is read again before it is written."""
LONGEST = 500
LONGEST_ANSWER = 4_000


_GapsByState = dict[str, dict[str, tuple[Gap, TextProfile]]]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that the assistant could not answer; `message` is the one that showed it."""

    company: str
    conversation: str
    message: str
    question: str
    reason: str
    at: datetime
    language: str | None = None


class GapList:
    def __init__(self, gaps: Gaps, library: Library, clock: Clock) -> None:
        self._gaps = gaps
        self._library = library
        self._clock = clock
        self._held = Recent[str, _GapsByState](HELD_COMPANIES, seconds=HELD)

    async def note(self, asked: Iterable[Unanswered]) -> None:
        """Records questions, each once; several that ask the same are counted together."""
        gaps: dict[tuple[str, str], Gap] = {}
        times: list[tuple[str, AskedOnce]] = []
        for one in asked:
            question = " ".join(one.question.split())[:LONGEST]
            told = text_profile(question)
            if told.words:
                gap = await self._same(one.company, told)
                if gap is None:
                    name = derive_id(one.company, "gap", *sorted(word for word, _ in told.words))
                    gap = _unasked(name, question, one.language, one.at)
                    self._hold(one.company, gap)
                gaps[one.company, gap.id] = gap
                once = AskedOnce(one.conversation, one.message, gap.id, question, one.at, one.reason)
                times.append((one.company, once))
        counted: dict[tuple[str, str], list[AskedOnce]] = {}
        for company, once in await self._gaps.note(times):
            counted.setdefault((company, once.gap), []).append(once)
        for (company, name), every in counted.items():
            await self._count(company, gaps[company, name], every)

    async def _count(self, company: str, gap: Gap, times: Sequence[AskedOnce]) -> None:
        """Adds these questions to a gap, which may have changed meanwhile."""
        for attempt in range(TRIES):
            if attempt:
                self._held.drop(company)
                text, at = times[0].text, times[0].at
                gap = await self._gaps.get(company, gap.id) or _unasked(gap.id, text, gap.language, at)
            asked_at = [one.at for one in times]
            new = replace(
                gap,
                count=gap.count + len(times),
                first_at=min(gap.first_at, *asked_at),
                last_at=max(gap.last_at, *asked_at),
                # An answered one that is asked again is open again: its answer did not reach whoever asked.
                state="open" if gap.state == "answered" else gap.state,
            )
            if await self._gaps.put(company, new, gap.version or None):
                self._hold(company, replace(new, version=gap.version + 1))
                return
        raise StoreUnavailableError("too many requests at once: try again")

    async def operator_said(self, company: str, conversation: str, text: str, at: datetime) -> None:
        """Proposes a person's reply as the answer to the gap."""
        for name, asked_at in await self._gaps.of_conversation(company, conversation):
            gap = await self._gaps.get(company, name)
            if gap is None or gap.proposed or gap.state != "open" or not asked_at <= at <= asked_at + ANSWERED_WITHIN:
                continue
            await self._gaps.put(company, replace(gap, proposed=text[:LONGEST_ANSWER]), gap.version)

    async def answer(self, company: str, name: str, text: str, question: str | None) -> tuple[Gap, Record]:
        """Turns the gap into a pair."""
        gap = await self._required(company, name)
        examples = await self._gaps.examples(company, name)
        first = question or gap.question
        others = dict.fromkeys(one.text for one in examples if one.text != first)
        pair = Pair((first, *([gap.question] if gap.question != first else []), *others), text, self._clock.now())
        pair = replace(pair, questions=tuple(dict.fromkeys(pair.questions)))
        # The same id each time: clicked twice it is one pair.
        made = await self._library.put_pair(company, derive_id(company, "gap", name), pair, gap.language)
        answered = replace(gap, state="answered", answer_id=made.id, proposed=gap.proposed or text)
        if not await self._gaps.put(company, answered, gap.version):
            return await self.answer(company, name, text, question)
        return answered, made

    async def dismiss(self, company: str, name: str) -> Gap:
        gap = await self._required(company, name)
        dismissed = replace(gap, state="dismissed")
        if not await self._gaps.put(company, dismissed, gap.version):
            return await self.dismiss(company, name)
        return dismissed

    async def _required(self, company: str, name: str) -> Gap:
        gap = await self._gaps.get(company, name)
        if gap is None:
            raise NoSuchKnowledgeError("there is no such gap")
        return gap

    async def _same(self, company: str, told: TextProfile) -> Gap | None:
        """The cached gap that asks the same; None: there is none."""
        held = self._held.get(company)
        if held is None:
            held = _GapsByState()
            self._held.keep(company, held)
        for state in ("open", "dismissed", "answered"):
            if state not in held:
                gaps = (await self._gaps.page(company, state, COMPARED, None)).items
                held[state] = {gap.id: (gap, text_profile(gap.question)) for gap in gaps}
            best = max(((_alike(told, asks), gap.id) for gap, asks in held[state].values()), default=(0.0, ""))
            if best[0] >= ALIKE:
                return held[state][best[1]][0]
        return None

    def _hold(self, company: str, gap: Gap) -> None:
        if (held := self._held.get(company)) is None:
            return
        before = [one for gaps in held.values() if (one := gaps.pop(gap.id, None)) is not None]
        if gap.state in held:
            told = next((told for one, told in before if one.question == gap.question), None)
            held[gap.state][gap.id] = gap, told or text_profile(gap.question)


def _unasked(name: str, question: str, language: str | None, at: datetime) -> Gap:
    """A new gap, not stored yet."""
    return Gap(name, question, language_of(question) or language or "es", 0, at, at)


def _alike(one: TextProfile, other: TextProfile) -> float:
    if one.numbers != other.numbers:
        return 0.0
    shared = len(one.shared(other))
    every = len(one.words) + len(other.words) - shared
    return shared / every if every else 0.0
