"""Gaps: questions that were answered without a source, rated as bad, or handed to a person because the AI did not know.
Questions that ask the same are one gap; a click turns it into a question-and-answer pair."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from contracts.ids import derive_id
from memory.domain.recall.words import language_of
from memory.errors import NotFoundError, StoreUnavailableError
from memory.knowledge.library import Library
from memory.knowledge.mongo_gaps import Gap, GapStore, Unanswered
from memory.knowledge.question import TextProfile, text_profile
from memory.knowledge.records import Pair, Record
from runtime.clock import Clock
from runtime.recent import Recent

MAX_ATTEMPTS = 8
"""Attempts to write a gap that others are writing."""
MAX_COMPARED = 200
"""The most asked gaps that a question is compared with."""
MIN_SIMILARITY = 0.6
"""The share of significant words from which on two questions ask the same."""
ANSWERED_WITHIN = timedelta(hours=12)
"""An operator's message later than this does not count as the answer."""
CACHE_SECONDS, CACHED_COMPANIES = 2.0, 100
"""Seconds for which a company's gaps are cached for comparison, and for how many companies. A gap that has changed
since is read again before it is written."""
MAX_QUESTION_CHARACTERS = 500
MAX_ANSWER_CHARACTERS = 4_000


_GapsByState = dict[str, dict[str, tuple[Gap, TextProfile]]]


class GapList:
    def __init__(self, gaps: GapStore, library: Library, clock: Clock) -> None:
        self._gaps = gaps
        self._library = library
        self._clock = clock
        self._held = Recent[str, _GapsByState](CACHED_COMPANIES, ttl_seconds=CACHE_SECONDS)

    async def note(self, questions: Iterable[Unanswered]) -> None:
        """Records questions, each once; several that ask the same are counted together."""
        gaps: dict[tuple[str, str], Gap] = {}
        occasions: list[tuple[str, Unanswered]] = []
        for unanswered in questions:
            question = " ".join(unanswered.question.split())[:MAX_QUESTION_CHARACTERS]
            profile = text_profile(question)
            if profile.words:
                gap = await self._same(unanswered.company, profile)
                if gap is None:
                    name = derive_id(unanswered.company, "gap", *sorted(word for word, _ in profile.words))
                    gap = _new_gap(name, question, unanswered.language, unanswered.at)
                    self._hold(unanswered.company, gap)
                gaps[unanswered.company, gap.id] = gap
                occasions.append((gap.id, replace(unanswered, question=question)))
        counted: dict[tuple[str, str], list[Unanswered]] = {}
        for name, occasion in await self._gaps.note(occasions):
            counted.setdefault((occasion.company, name), []).append(occasion)
        for (company, name), new_occasions in counted.items():
            await self._count(company, gaps[company, name], new_occasions)

    async def _count(self, company: str, gap: Gap, occasions: Sequence[Unanswered]) -> None:
        """Adds these occasions to a gap, which may have changed meanwhile."""
        for attempt in range(MAX_ATTEMPTS):
            if attempt:
                self._held.drop(company)
                text, at = occasions[0].question, occasions[0].at
                gap = await self._gaps.get(company, gap.id) or _new_gap(gap.id, text, gap.language, at)
            asked_at = [occasion.at for occasion in occasions]
            counted = replace(
                gap,
                count=gap.count + len(occasions),
                first_at=min(gap.first_at, *asked_at),
                last_at=max(gap.last_at, *asked_at),
                # An answered gap that is asked again is reopened: its answer did not reach whoever asked.
                state="open" if gap.state == "answered" else gap.state,
            )
            if await self._gaps.put(company, counted, gap.version or None):
                self._hold(company, replace(counted, version=gap.version + 1))
                return
        raise StoreUnavailableError("too many requests at once: try again")

    async def operator_said(self, company: str, conversation: str, text: str, at: datetime) -> None:
        """Proposes a person's reply as the answer to the gap."""
        for name, asked_at in await self._gaps.of_conversation(company, conversation):
            gap = await self._gaps.get(company, name)
            if gap is None or gap.proposed or gap.state != "open" or not asked_at <= at <= asked_at + ANSWERED_WITHIN:
                continue
            await self._gaps.put(company, replace(gap, proposed=text[:MAX_ANSWER_CHARACTERS]), gap.version)

    async def answer(self, company: str, name: str, text: str, question: str | None) -> tuple[Gap, Record]:
        """Turns the gap into a pair."""
        gap = await self._required(company, name)
        examples = await self._gaps.examples(company, name)
        first_question = question or gap.question
        other_questions = dict.fromkeys(example.text for example in examples if example.text != first_question)
        pair = Pair(
            (first_question, *([gap.question] if gap.question != first_question else []), *other_questions),
            text,
            self._clock.now(),
        )
        pair = replace(pair, questions=tuple(dict.fromkeys(pair.questions)))
        # The same id each time, so that clicking twice makes one pair.
        record = await self._library.put_pair(company, derive_id(company, "gap", name), pair, gap.language)
        answered = replace(gap, state="answered", answer_id=record.id, proposed=gap.proposed or text)
        if not await self._gaps.put(company, answered, gap.version):
            return await self.answer(company, name, text, question)
        return answered, record

    async def dismiss(self, company: str, name: str) -> Gap:
        gap = await self._required(company, name)
        dismissed = replace(gap, state="dismissed")
        if not await self._gaps.put(company, dismissed, gap.version):
            return await self.dismiss(company, name)
        return dismissed

    async def _required(self, company: str, name: str) -> Gap:
        gap = await self._gaps.get(company, name)
        if gap is None:
            raise NotFoundError("there is no such gap")
        return gap

    async def _same(self, company: str, profile: TextProfile) -> Gap | None:
        """Returns the cached gap that asks the same; None if there is none."""
        cached = self._held.get(company)
        if cached is None:
            cached = _GapsByState()
            self._held.keep(company, cached)
        for state in ("open", "dismissed", "answered"):
            if state not in cached:
                gaps = (await self._gaps.page(company, state, MAX_COMPARED, None)).items
                cached[state] = {gap.id: (gap, text_profile(gap.question)) for gap in gaps}
            best = max(
                ((_similarity(profile, gap_profile), gap.id) for gap, gap_profile in cached[state].values()),
                default=(0.0, ""),
            )
            if best[0] >= MIN_SIMILARITY:
                return cached[state][best[1]][0]
        return None

    def _hold(self, company: str, gap: Gap) -> None:
        if (cached := self._held.get(company)) is None:
            return
        previous = [entry for gaps in cached.values() if (entry := gaps.pop(gap.id, None)) is not None]
        if gap.state in cached:
            profile = next((profile for entry, profile in previous if entry.question == gap.question), None)
            cached[gap.state][gap.id] = gap, profile or text_profile(gap.question)


def _new_gap(name: str, question: str, language: str | None, at: datetime) -> Gap:
    """Returns a new gap that is not stored yet."""
    return Gap(name, question, language_of(question) or language or "es", 0, at, at)


def _similarity(profile: TextProfile, other: TextProfile) -> float:
    if profile.numbers != other.numbers:
        return 0.0
    shared = len(profile.shared(other))
    total = len(profile.words) + len(other.words) - shared
    return shared / total if total else 0.0
