"""Decides whether an answer is certain, what to show beside an uncertain one, and what comes closest if there is none.

An answer is uncertain if it lacks a word of the question, or if another section is likelier. Then it is quoted together
with the likeliest other sections: "I am not sure this answers your question."
"""

import re
from collections.abc import Mapping, Sequence

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import telling
from agent.domain.offline.concepts import ANOTHER_TERM
from agent.domain.offline.constraints import FREE_OR_PAID, carried
from agent.domain.offline.evidence import tells
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, keys_of
from agent.domain.offline.months import tells_month
from agent.domain.offline.other_cases import is_another_case
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.passages import TELLS, as_a_whole, has_name
from agent.domain.offline.questions import is_of_leaving, leans, needed, specific_words, terms
from agent.domain.offline.relevance import Section, likely
from agent.domain.offline.spoken import goes_on
from agent.domain.text_features import plain, stem

CERTAIN = 0.5
"""The likelihood that an answer's section needs for the answer to be certain."""
_FAR_BEHIND = 0.1
"""Below this likelihood an answer's section is overruled by one that is likely enough to be certain."""
NEAR = 0.4
"""Of a question's weight, what a passage must cover to be told as what may answer it, where nothing does."""
NEAR_DOING = 0.3
"""The same of a question for whether or how something is done, whose verb pages say in other words. A thing that
no page names is not there, and the price of another is no answer."""
_AROUND = 0.15
"""What of a question and the one before it a passage must cover to be told as what comes nearest to what the site does
not tell."""
_EARLIER, _THERE = 0.5, 0.15
"""What it counts there to cover what was asked before, and to stand in the section that was quoted last."""
_NEAR_IN_MEANING, _MUCH_NEARER = 0.2, 0.12
"""How near in meaning to the question a section is that may answer it whatever its words are, and by how much nearer
one is than what was chosen to make that uncertain (measured with multilingual-e5-small, decision 0153)."""
_FAINTLY_NEAR = 0.1
"""How near one of the likeliest sections must be for them to be shown as what comes closest where nothing else is
(decision 0159)."""
_VERY_NEAR = 0.3
"""How near in meaning an unlikely one must be to be shown where the site lacks half of what a question is about."""
_HALF = 0.5
"""How likely one must be to be shown whatever it shares with the question."""
_SHOWN, _LIKELY = 3, 0.05
"""Sections that are shown where nothing is certain, and the likelihood that one needs to stand beside another."""
_TOLD = 0.75
"""What a word of the question counts at least in a sentence that tells it, or whose section does."""
_TITLED = 0.5
"""What a word counts at least that the page's title has."""
_SEVERAL = 2
"""Words that a question needs to say clearly what it is about."""
_HOW_LONG = re.compile(
    rf"\b(?:how (?:much|long)|much|cu[aá]nt[oa]s?) (?:time|tiempo)\b|\b{constraints.UNIT}\b", re.IGNORECASE
)
"""How long something is for: no thing that may be there."""
TELLING = 4
"""Letters, at least, of a word that is told to be nowhere: of "use" nobody needs to hear that."""
_HOURS = frozenset(("=hours",))
_MONTH = frozenset(("=month",))
"""What another month has too."""
_NAMED = 0.85
"""What a word counts at least that a row, its columns, its heading or its page's title have."""
_NAMING = 4
"""Digits from which on a number is a name, a year or an amount."""


def doubts(
    question: str, before: str, earlier: str, chosen: Sequence[Excerpt], among: Candidates, told: str = ""
) -> tuple[list[Excerpt], bool]:
    """What to quote, and whether that answers the question for certain: what was chosen with its paragraph, or with
    what else may be meant. `earlier`: what was asked last, `before`: where the question leans on it; `told`: what was
    quoted last."""
    if as_a_whole(question, before, among.passages) or _is_of_named_row(question, before, chosen):
        return list(chosen), True
    index, must, places = among.index, needed(question), {(one.url, one.heading) for one in chosen}
    asked = terms(FREE_OR_PAID.sub(" ", question))
    spots = [at for at, one in enumerate(among.passages) if one in chosen]
    untold = [word for word in _untold(asked, spots, among) if not asked[word] & shapes.TOLD_OTHERWISE]
    # Who asks a complete question that is told as a whole asks it of nothing that was spoken of before.
    whole = likely(question, earlier, told, among) if before or untold else likely(question, "", "", among)
    whole = [one for one in whole if one.place in places or not is_of_leaving(one.place[1], f"{question} {earlier}")]
    sections = [
        one
        for one in whole
        # What does not tell what such a question needs is no other answer.
        if one.place in places
        or any(index.holds(must, at) and tells(question, index.section(at)) for at in one.sentences)
    ]
    mine = [one for one in sections if one.place in places]
    if not any(_MONTH & keys for keys in asked.values()):
        # What holds in one month is the exception.
        untold += ["=month" for at in spots if shapes.A_MONTH_ALONE.match(among.passages[at].text)][:1]
    untold += [word for word, keys in asked.items() if _MONTH & keys and not _is_told(keys - _MONTH, spots, among)]
    if any(tells_month(question, among.passages[at].text) for at in spots):
        untold = [word for word in untold if not asked.get(word, _MONTH) & _MONTH]
    if all(keys & (shapes.CLOCK | _HOURS) for keys in asked.values()) and not any(
        constraints.shows_hour(among.passages[at].text) for at in spots
    ):
        untold += ["=clock"] * ("=clock" in asked)  # that it is closed at times is no hour
    called = _called(asked, spots, sections, among)
    other_row = called is not None and any(among.passages[at].row for at in spots)
    nearer = _nearer(mine, sections, among)
    if not (untold or other_row or nearer) and any(_tells_all(asked, must, at, among) for at in spots):
        return _with_neighbours(chosen, asked, must, among), True
    untold += [word for word in asked if _is_name(word) and all(not index.has(asked[word], at) for at in spots)]
    another = is_another_case(question, earlier, told, spots, among)
    many = None if before else shapes.HOW_MANY.search(plain(question))
    if many and not (untold or another) and any(index.counts(keys_of(many["what"]), at) for at in spots):
        return _with_neighbours(chosen, asked, must, among), True
    priced = any(keys & shapes.PRICE for keys in [*must, *carried(question, before)])
    if (
        priced
        and called is None
        and not (untold or another or nearer)
        and all(has_name(asked, among.passages[at]) for at in spots)
    ):
        return list(chosen), True
    share = sum(one.likelihood for one in mine) / sum(one.likelihood for one in sections)
    far_behind = whole[0].likelihood >= CERTAIN and sum(one.likelihood for one in mine) < _FAR_BEHIND
    if any(among.passages[at].row for at in spots) and whole[0] not in sections:
        far_behind = False  # a row that shows what is asked for is not overruled by what does not
    if (
        called is not None
        and called is sections[0]
        and called.likelihood >= CERTAIN
        and _is_of(called, asked, must, among)
    ):
        of_it = [among.passages[at] for at in called.sentences if index.holds(must, at)]
        return _with_neighbours(of_it[:1], asked, must, among), True
    if not (untold or another or nearer) and called is None and sections[0] in mine and not far_behind:
        alike = any(_is_headed_alike(asked, among.passages[at].heading) for at in spots)
        if alike or share >= CERTAIN:
            return _with_neighbours(chosen, asked, must, among), True
    meant = whole[0] if far_behind else called or nearer
    naming = _naming([asked[word] for word in untold if word in asked], must, mine, whole, among)
    ranked = [*([meant] if meant else sections), *whole]
    others = [one for one in dict.fromkeys(ranked) if one is meant or _stands_beside(one, mine, must, among)]
    others = list(dict.fromkeys([*others[: _SHOWN - 1], *naming]))
    shown, other = _extract(chosen, mine[0], among), [each for one in others for each in _extract((), one, among)]
    return ([*other, *shown] if far_behind or other_row else [*shown, *other]), False


def _is_of(
    section: Section, asked: Mapping[str, frozenset[str]], must: Sequence[frozenset[str]], among: Candidates
) -> bool:
    """Whether a section is of nothing but what the question names, and tells the price or time that is asked for."""
    words = specific_words(asked)
    return (
        bool(must)
        and all(any(asked[word] & keys_of(said) for word in words) for said in telling(section.place[1]))
        and any(among.index.holds(must, at) for at in section.sentences)
    )


def _naming(
    lacking: Sequence[frozenset[str]],
    must: Sequence[frozenset[str]],
    mine: Sequence[Section],
    sections: Sequence[Section],
    among: Candidates,
) -> list[Section]:
    """The likeliest other section with a sentence that says all that the question is about and what was chosen lacks,
    and shows the figure that is asked for."""
    figures = [keys for keys in must if keys & shapes.SHOWN]

    def says_it(at: int) -> bool:
        said = keys_in(among.passages[at].text)
        return all(keys & said for keys in lacking) and among.index.holds(figures, at)

    return [one for one in sections if lacking and one not in mine and any(map(says_it, one.sentences))][:1]


def _is_of_named_row(question: str, before: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether a question for the price, or how long, of what was spoken of is told by the table's row of that name."""
    spoken = frozenset[str]().union(*terms(before).values())
    named = [telling(one.text.partition(":")[0]) for one in chosen if _is_of_table(one)]
    return (
        leans(question)
        and len(named) == len(chosen)
        and all(name and all(keys_of(word) & spoken for word in name) for name in named)
    )


def _with_neighbours(
    chosen: Sequence[Excerpt], asked: Mapping[str, frozenset[str]], must: Sequence[frozenset[str]], among: Candidates
) -> list[Excerpt]:
    """What was chosen with the rest of its paragraphs, if they are short: conditions and exceptions stand there. An
    item of a list stands by itself if it has the figure asked for, or every word that the question is about."""
    figures, words = [keys for keys in must if keys & shapes.SHOWN], specific_words(asked)

    def stands_alone(at: int) -> bool:
        said = keys_in(among.passages[at].text)
        return (
            all(among.index.says(keys, at) for keys in figures) if figures else all(asked[one] & said for one in words)
        )

    if any(one in chosen and one.item and stands_alone(at) for at, one in enumerate(among.passages)):
        return list(chosen)
    paragraphs = {_paragraph(one) for one in chosen}
    whole = [one for one in among.passages if _paragraph(one) in paragraphs]
    if sum(len(one.text) for one in whole) <= TELLS:
        return whole
    # Of a longer paragraph as much of what follows as is short.
    shown = list(chosen)
    for one in whole[whole.index(shown[-1]) + 1 :] if shown[-1] in whole and not shown[-1].row else ():
        if sum(len(each.text) for each in (*shown, one)) > TELLS:
            break
        shown.append(one)
    return shown


def _paragraph(one: Excerpt) -> tuple[str, str, int, int]:
    return one.url, one.heading, one.number, one.paragraph


def _stands_beside(other: Section, shown: Sequence[Section], must: Sequence[frozenset[str]], among: Candidates) -> bool:
    """Whether another section is likely enough to be shown beside these, and in their language. One that does not tell
    what the question needs must be likelier than they are, and nearer in meaning than most."""
    first, index = shown[0], among.index
    foreign = [among.passages[one.sentences[0]].number in among.foreign for one in (other, first)]
    likelier = other.likelihood > first.likelihood and _nearness(other, among) > 0
    tells_it = likelier or any(index.holds(must, at) for at in other.sentences)
    return other not in shown and other.likelihood >= _LIKELY and foreign[0] <= foreign[1] and tells_it


def _nearness(section: Section, among: Candidates) -> float:
    return among.passages[section.sentences[0]].near


def _nearer(mine: Sequence[Section], sections: Sequence[Section], among: Candidates) -> Section | None:
    """The section that is much nearer to the question in meaning than what words have chosen."""
    nearest = max(sections, key=lambda one: _nearness(one, among))
    most = max(_nearness(one, among) for one in mine)
    return nearest if _nearness(nearest, among) >= max(_NEAR_IN_MEANING, most + _MUCH_NEARER) else None


def _called(
    asked: Mapping[str, frozenset[str]], spots: Sequence[int], sections: Sequence[Section], among: Candidates
) -> Section | None:
    """The section whose heading is what the question is about, where what was chosen only mentions that."""
    # By the words themselves: what they may mean as well, a heading need not be about.
    named = [
        frozenset(key for key in asked[word] if key[0] != "=")
        for word in specific_words(asked)
        if not asked[word] & shapes.BARE
    ]
    if not named or any(
        among.passages[at].row and all(map(keys_in(among.passages[at].text).__and__, named)) for at in spots
    ):
        return None

    def is_called(heading: str) -> bool:
        said = keys_in(heading)
        return all(keys & said for keys in named)

    if any(is_called(among.passages[at].heading) for at in spots):
        return None
    return next((one for one in sections if is_called(one.place[1])), None)


def _tells_all(asked: Mapping[str, frozenset[str]], must: Sequence[frozenset[str]], at: int, among: Candidates) -> bool:
    """Whether all that a question is about stands in a table's row with what names it, or in a sentence's heading."""
    index, words = among.index, [*specific_words(asked), *(word for word in asked if word.isdigit())]
    if len(words) < _SEVERAL or not index.holds(must, at):
        return False
    if (one := among.passages[at]).row:
        # Its page's title may be about another sense of a word; what it is called itself is not.
        columns = keys_in(" ".join((one.column, *one.columns)))
        named = any(index.says(asked[word], at) for word in words if not asked[word] & shapes.BARE)
        return named and all(asked[word] & columns or index.has(asked[word], at) >= _NAMED for word in words)
    return index.is_headed(asked, words, at)


def _is_told(keys: frozenset[str], at_places: Sequence[int], among: Candidates) -> bool:
    return any(among.index.says(keys, at) for at in at_places)


def _is_headed_alike(asked: Mapping[str, frozenset[str]], heading: str) -> bool:
    """Whether a heading asks what the question does in other words: "Getting here", "What to bring"."""
    return any(
        key in asked and said.search(heading)
        for key, said in shapes.SAID_AS
        if key in ("=directions", *shapes.TOLD_ITSELF)
    )


def nowhere(question: str, among: Candidates) -> list[str]:
    """Of a question for whether there is something: the words for it, as they are written, that nothing found has, nor
    another word that means the same. None where all that was found is in another language."""
    said, index = plain(question), among.index
    same_language = any(one.number not in among.foreign for one in among.passages)
    if not same_language or not (shapes.DO_YOU.search(said) or shapes.MAY.search(said) or ANOTHER_TERM.match(said)):
        return []
    asked = terms(FREE_OR_PAID.sub(" ", question))
    missing = {word for word in specific_words(asked) if not index.is_known(asked[word])}
    return [
        word
        for word in re.findall(r"[^\W\d_]+", _HOW_LONG.sub(" ", question))
        if stem(plain(word)) in missing and not plain(word).endswith("is")  # no verb: enviáis, salís
    ]


def nearest(question: str, earlier: str, told: str, among: Candidates) -> tuple[list[Excerpt], bool]:
    """What comes nearest to a question that nothing is found to answer, and whether it may be the answer; nothing where
    no section stands out, none is near in meaning, and no word of it, or of the one before it, is told."""
    asked = terms(FREE_OR_PAID.sub(" ", question))
    before = {word: keys for word, keys in terms(earlier).items() if word not in asked}
    specific = specific_words(asked)
    must = [*needed(question), *(carried(question, earlier) if goes_on(question) else ())]
    # Of a question that has only words that anybody says, those.
    words = [*(specific or (word for word in asked if word[0] != "=")), *specific_words(before)]
    index, about = among.index, [(asked | before)[word] for word in words]

    def near(section: Section) -> bool:
        return _nearness(section, among) >= _NEAR_IN_MEANING

    def stands_out(section: Section) -> bool:
        foreign = among.passages[section.sentences[0]].number in among.foreign
        return foreign or section.likelihood >= _HALF or _nearness(section, among) >= _VERY_NEAR

    def stands_near(section: Section) -> bool:
        at = section.sentences[0]
        if section.likelihood >= _HALF or near(section):
            return True
        if index.scrap(at) or not any(index.has(keys, at) >= _TOLD for keys in about):
            return False
        beside = _EARLIER * index.share(before, at) if before else 0.0
        beside += _THERE * (among.passages[at].is_in(told))
        return (index.share(asked, at) if asked else 0.0) + beside >= (_AROUND if before or told else NEAR_DOING)

    ranked = likely(question, earlier, told, among)
    strange = [word for word in specific if not index.is_known(asked[word])]
    if 2 * len(strange) >= max(len(specific), 1) and not any(map(stands_out, ranked[:_SHOWN])):
        return [], False  # it is about something else
    found = [one for one in ranked if stands_near(one)]
    if specific and not any(index.is_known(asked[word]) for word in specific):
        # What stands near the question before it is about other things, unless this one goes on with that.
        found = [one for one in found if (goes_on(question) and one.likelihood >= _HALF) or near(one)]
    if not found:
        faint = [one for one in ranked[:_SHOWN] if _nearness(one, among) > 0]
        shown = faint if any(_nearness(one, among) >= _FAINTLY_NEAR for one in faint) else []
        return [one for section in shown for one in _extract((), section, among)], False
    # A price, or when, is told by what shows one.
    found = [one for one in found if index.holds(must, one.sentences[0])] or found
    of_a_thing = shapes.DO_YOU.search(plain(question)) or any(keys & shapes.BARE for keys in asked.values())
    at = found[0].sentences[0]
    if not specific:
        # "How many hours is it?" says nothing of what: that section may tell it which has such a figure.
        may = bool(must) and index.holds(must, at) and found[0].likelihood >= _HALF and index.share(asked, at) >= NEAR
    else:
        may = any(index.has(asked[word], at) >= _TOLD for word in specific)
        may = may and not (among.passages[at].row and _untold(asked, [at], among))
        may = may and index.share(asked, at) >= (NEAR if of_a_thing else NEAR_DOING)
    # A thing that is named and stands nowhere is not there, however near other things of its kind are.
    may = may or (near(found[0]) and not nowhere(question, among))
    others = [one for one in ranked if one in found or _nearness(one, among) > 0]
    shown = [found[0], *(one for one in others if _stands_beside(one, found[:1], must, among))][:_SHOWN]
    return [one for section in shown for one in _extract((), section, among)], may


def _is_name(word: str) -> bool:
    """Whether a number is one that something is called by: another is another thing."""
    return word.isdigit() and len(word) >= _NAMING


def _untold(asked: Mapping[str, frozenset[str]], at_places: Sequence[int], among: Candidates) -> list[str]:
    """The words that say what a question is about and that none of these passages has, nor its page's title."""
    index = among.index
    return [word for word in specific_words(asked) if all(index.has(asked[word], at) < _TITLED for at in at_places)]


def _is_of_table(one: Excerpt) -> bool:
    return one.row and not one.item


def _extract(chosen: Sequence[Excerpt], section: Section, among: Candidates) -> list[Excerpt]:
    """What was chosen of a section, with as much of the rest as is short, the likeliest first; in the page's order."""
    rest = [among.passages[at] for at in section.sentences if not among.index.scrap(at)]
    shown = list(chosen) or rest[:1]
    for one in rest:
        short = sum(len(each.text) for each in [*shown, one]) <= TELLS
        if one not in shown and _is_of_table(one) == _is_of_table(shown[0]) and short:
            shown.append(one)
    return sorted(shown, key=lambda one: ((one.url, one.heading) != section.place, one.place))
