"""Decides whether an answer is certain, and what to show beside an uncertain one.

An answer is uncertain if it lacks a word of the question, or if another section is likelier. Then it is quoted together
with the likeliest other sections: "I am not sure this answers your question."
"""

from collections.abc import Mapping, Sequence

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.constraints import FREE_OR_PAID, carried
from agent.domain.offline.evidence import has_evidence
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, keys_of
from agent.domain.offline.months import covers_month
from agent.domain.offline.other_cases import is_another_case
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.passages import TELLS, as_a_whole, has_name
from agent.domain.offline.questions import is_of_leaving, lacks_subject, needed, specific_words, terms
from agent.domain.offline.relevance import Section, likely
from agent.domain.text_features import plain

CERTAIN = 0.5
"""The likelihood that an answer's section needs for the answer to be certain."""
_FAR_BEHIND = 0.1
"""Below this likelihood an answer's section is overruled by one that is likely enough to be certain."""
NEAR_IN_MEANING, _MUCH_NEARER = 0.2, 0.12
"""How near in meaning to the question a section is that may answer it whatever its words are, and by how much nearer
one is than what was chosen to make that uncertain (measured with multilingual-e5-small, decision 0153)."""
_NEARLY_SURE, _HARDLY = 0.8, 0.01
"""From which likelihood on a section is the answer by itself, and below which one is no other answer."""
_NEAR_ENOUGH = 0.15
"""How near in meaning such a section must be."""
_NEED = frozenset(("=need",))
SHOWN, LIKELY = 3, 0.05
"""Sections that are shown where nothing is certain, and the likelihood that one needs to stand beside another."""
TOLD = 0.75
"""What a word of the question counts at least in a sentence that tells it, or whose section does."""
_TITLED = 0.5
"""What a word counts at least that the page's title has."""
SEVERAL = 2
"""Words that a question needs to say clearly what it is about."""
_HOURS = frozenset(("=hours",))
_MONTH = frozenset(("=month",))
"""What another month has too."""
_NAMED = 0.85
"""What a word counts at least that a row, its columns, its heading or its page's title have."""
_NAMING = 4
"""Digits from which on a number is a name, a year or an amount."""


def quotes_with_certainty(
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
    untold = [word for word in untold_words(asked, spots, among) if not asked[word] & shapes.TOLD_OTHERWISE]
    # Who asks a complete question that is told as a whole asks it of nothing that was spoken of before.
    whole = likely(question, earlier, told, among) if before or untold else likely(question, "", "", among)
    whole = [one for one in whole if one.place in places or not is_of_leaving(one.place[1], f"{question} {earlier}")]
    sections = [
        one
        for one in whole
        # What does not tell what such a question needs is no other answer.
        if one.place in places
        or any(index.covers(must, at) and has_evidence(question, index.section(at)) for at in one.sentences)
    ]
    mine = [one for one in sections if one.place in places]
    if not any(_MONTH & keys for keys in asked.values()):
        # What holds in one month is the exception.
        untold += ["=month" for at in spots if shapes.A_MONTH_ALONE.match(among.passages[at].text)][:1]
    untold += [word for word, keys in asked.items() if _MONTH & keys and not _is_told(keys - _MONTH, spots, among)]
    if any(covers_month(question, among.passages[at].text) for at in spots):
        untold = [word for word in untold if not asked.get(word, _MONTH) & _MONTH]
    if all(keys & (shapes.CLOCK | _HOURS) for keys in asked.values()) and not any(
        constraints.shows_hour(among.passages[at].text) for at in spots
    ):
        untold += ["=clock"] * ("=clock" in asked)  # that it is closed at times is no hour
    called = _called(asked, spots, sections, among)
    other_row = called is not None and any(among.passages[at].row for at in spots)
    nearer = _nearer(mine, sections, among)
    if nearer and nearer.likelihood < _HARDLY and sum(one.likelihood for one in mine) >= _NEARLY_SURE:
        nearer = None
    if not (untold or other_row or nearer) and any(_tells_all(asked, must, at, among) for at in spots):
        return with_neighbours(chosen, asked, must, among), True
    untold += [word for word in asked if _is_name(word) and all(not index.has(asked[word], at) for at in spots)]
    another = is_another_case(question, earlier, told, spots, among)
    many = None if before else shapes.HOW_MANY.search(plain(question))
    if many and not (untold or another) and any(index.counts(keys_of(many["what"]), at) for at in spots):
        return with_neighbours(chosen, asked, must, among), True
    priced = any(keys & shapes.PRICE for keys in [*must, *carried(question, before)])
    if (
        priced
        and called is None
        and not (untold or another)
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
        of_it = [among.passages[at] for at in called.sentences if index.covers(must, at)]
        return with_neighbours(of_it[:1], asked, must, among), True
    if not (untold or another or nearer) and called is None and sections[0] in mine and not far_behind:
        alike = any(_is_headed_alike(asked, among.passages[at].heading) for at in spots)
        if alike or share >= CERTAIN:
            return with_neighbours(chosen, asked, must, among), True
    if far_behind and is_surely(whole[0], asked, must, among):
        return with_neighbours(extract((), whole[0], among), asked, must, among), True
    meant = whole[0] if far_behind else called or nearer
    naming = _naming([asked[word] for word in untold if word in asked], must, mine, whole, among)
    ranked = [*([meant] if meant else sections), *whole]
    others = [one for one in dict.fromkeys(ranked) if one is meant or stands_beside(one, mine, must, among)]
    others = list(dict.fromkeys([*others[: SHOWN - 1], *naming]))
    shown, other = extract(chosen, mine[0], among), [each for one in others for each in extract((), one, among)]
    return ([*other, *shown] if far_behind or other_row else [*shown, *other]), False


def is_surely(
    section: Section, asked: Mapping[str, frozenset[str]], must: Sequence[frozenset[str]], among: Candidates
) -> bool:
    """Whether a section is by far the likeliest, near in meaning, and what would be quoted of it has all the words that
    the question is about, and tells what it needs; that something is needed, its heading says."""
    quoted = [at for at, one in enumerate(among.passages) if one in extract((), section, among)]
    said = " ".join(among.passages[at].text for at in quoted)
    named = _titled_by(section, asked)
    needs = [keys for keys in must if not (named and keys == _NEED)]
    return (
        section.likelihood >= _NEARLY_SURE
        and nearness(section, among) >= _NEAR_ENOUGH
        and not untold_words(asked, quoted, among)
        and all(any(among.index.covers([keys], at) for at in quoted) for keys in needs)
        and (not any(keys & shapes.PRICE for keys in needs) or any(map(str.isdigit, said)))
        and (shapes.CLOCK not in needs or constraints.shows_hour(said))
    )


def _titled_by(section: Section, asked: Mapping[str, frozenset[str]]) -> bool:
    """Whether a section's heading has no other telling words than those that the question is about."""
    words = specific_words(asked)
    said = significant_words(section.place[1])
    return bool(said) and all(any(asked[word] & keys_of(one) for word in words) for one in said)


def _is_of(
    section: Section, asked: Mapping[str, frozenset[str]], must: Sequence[frozenset[str]], among: Candidates
) -> bool:
    """Whether a section is of nothing but what the question names, and tells the price or time that is asked for."""
    return bool(must) and _titled_by(section, asked) and any(among.index.covers(must, at) for at in section.sentences)


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
        return all(keys & said for keys in lacking) and among.index.covers(figures, at)

    return [one for one in sections if lacking and one not in mine and any(map(says_it, one.sentences))][:1]


def _is_of_named_row(question: str, before: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether a question for the price, or how long, of what was spoken of is told by the table's row of that name."""
    spoken = frozenset[str]().union(*terms(before).values())
    named = [significant_words(one.text.partition(":")[0]) for one in chosen if _is_of_table(one)]
    return (
        lacks_subject(question)
        and len(named) == len(chosen)
        and all(name and all(keys_of(word) & spoken for word in name) for name in named)
    )


def with_neighbours(
    chosen: Sequence[Excerpt], asked: Mapping[str, frozenset[str]], must: Sequence[frozenset[str]], among: Candidates
) -> list[Excerpt]:
    """What was chosen with the rest of its paragraphs, if they are short: conditions and exceptions stand there. An
    item of a list stands by itself if it has the figure asked for, or every word that the question is about."""
    figures, words = [keys for keys in must if keys & shapes.SHOWN], specific_words(asked)

    def stands_alone(at: int) -> bool:
        said = keys_in(among.passages[at].text)
        return (
            all(among.index.has_word(keys, at) for keys in figures)
            if figures
            else all(asked[one] & said for one in words)
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


def stands_beside(other: Section, shown: Sequence[Section], must: Sequence[frozenset[str]], among: Candidates) -> bool:
    """Whether another section is likely enough to be shown beside these, and in their language. One that does not tell
    what the question needs must be likelier than they are, and nearer in meaning than most."""
    first, index = shown[0], among.index
    foreign = [among.passages[one.sentences[0]].number in among.foreign for one in (other, first)]
    likelier = other.likelihood > first.likelihood and nearness(other, among) > 0
    tells_it = likelier or any(index.covers(must, at) for at in other.sentences)
    return other not in shown and other.likelihood >= LIKELY and foreign[0] <= foreign[1] and tells_it


def nearness(section: Section, among: Candidates) -> float:
    return among.passages[section.sentences[0]].near


def _nearer(mine: Sequence[Section], sections: Sequence[Section], among: Candidates) -> Section | None:
    """The section that is much nearer to the question in meaning than what words have chosen."""
    nearest = max(sections, key=lambda one: nearness(one, among))
    most = max(nearness(one, among) for one in mine)
    return nearest if nearness(nearest, among) >= max(NEAR_IN_MEANING, most + _MUCH_NEARER) else None


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
    if len(words) < SEVERAL or not index.covers(must, at):
        return False
    if (one := among.passages[at]).row:
        # Its page's title may be about another sense of a word; what it is called itself is not.
        columns = keys_in(" ".join((one.column, *one.columns)))
        named = any(index.has_word(asked[word], at) for word in words if not asked[word] & shapes.BARE)
        return named and all(asked[word] & columns or index.has(asked[word], at) >= _NAMED for word in words)
    return index.is_headed(asked, words, at)


def _is_told(keys: frozenset[str], at_places: Sequence[int], among: Candidates) -> bool:
    return any(among.index.has_word(keys, at) for at in at_places)


def _is_headed_alike(asked: Mapping[str, frozenset[str]], heading: str) -> bool:
    """Whether a heading asks what the question does in other words: "Getting here", "What to bring"."""
    return any(
        key in asked and said.search(heading)
        for key, said in shapes.SAID_AS
        if key in ("=directions", *shapes.TOLD_ITSELF)
    )


def _is_name(word: str) -> bool:
    """Whether a number is one that something is called by: another is another thing."""
    return word.isdigit() and len(word) >= _NAMING


def untold_words(asked: Mapping[str, frozenset[str]], at_places: Sequence[int], among: Candidates) -> list[str]:
    """The words that say what a question is about and that none of these passages has, nor its page's title."""
    index = among.index
    return [word for word in specific_words(asked) if all(index.has(asked[word], at) < _TITLED for at in at_places)]


def _is_of_table(one: Excerpt) -> bool:
    return one.row and not one.item


def extract(chosen: Sequence[Excerpt], section: Section, among: Candidates) -> list[Excerpt]:
    """What was chosen of a section, with as much of the rest as is short, the likeliest first; in the page's order."""
    rest = [among.passages[at] for at in section.sentences if not among.index.scrap(at)]
    shown = list(chosen) or rest[:1]
    for one in rest:
        short = sum(len(each.text) for each in [*shown, one]) <= TELLS
        if one not in shown and _is_of_table(one) == _is_of_table(shown[0]) and short:
            shown.append(one)
    return sorted(shown, key=lambda one: ((one.url, one.heading) != section.place, one.place))
