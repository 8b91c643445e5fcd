"""Answers questions that a single sentence cannot: the difference of two things, what something includes, all prices.

"What is the difference between Basic and Pro?" quotes both sections; "what is in the Pro plan?" everything under its
name.
"""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from agent.domain.offline import shapes
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.constraints import CONTACT_KEYS, TAKES, contacts_in
from agent.domain.offline.excerpts import Excerpt, with_columns
from agent.domain.offline.kinds import MAX_SHOWN, TITLE_END, cells_of_thing, is_title_of_kind, name_of, table_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.questions import Query, required_keys, terms
from agent.domain.offline.superlatives import is_superlative
from agent.domain.text_features import plain, stem
from contracts.expressions import expression

_EXPENSIVE = expression(r"\b(?:expensive|car[oa]s?)\b")
_SUPERLATIVE_PRICE = expression(
    r"\b(?:cheapest|priciest|dearest|most expensive|(?:el|la|lo|los|las) (?:\w+ )?mas (?:barat|car)[oa]s?)\b"
)
_NAMES_NO_COLUMN = {*shapes.PRICE_OR_TIME, "=include"}
"""Keys of words that ask for something of a row, without naming a column."""
_TODAY = frozenset(map(stem, ("hoy", "ahora", "today", "now", "tonight")))
"""Words of the day on which everybody asks: they name nothing."""
_OF_THE_MENTIONED = expression(r"\b(?:of the|de l[oa]s) (?:two|three|dos|tres)\b")
"""Refers to one of two or three things mentioned before; "the cheapest" without it is one of all there are."""
_BOTH = expression(r"\b(?:them|both|the two|ell[oa]s|amb[oa]s|l[oa]s dos|un[oa] y otr[oa])\b")


def compared_passages(question: str, antecedent: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The passages about each thing that a question compares; empty if it compares none. `antecedent` holds the
    questions that it refers to, which may name the things."""
    question_words = " ".join(words_of(question))
    if not shapes.COMPARING.search(question_words):
        return []
    names = [name_of(passage) for passage in passages if passage.row]
    names += [column for passage in passages for column in passage.columns if "=price" not in keys_in(column)]
    one_word_names = {words[0] for name in names if len(words := words_of(name)) == 1}
    sides = _sides(
        [" ".join(words_of(antecedent))] if antecedent and _BOTH.search(question_words) else [question_words],
        one_word_names,
    )
    has_named_sides = True
    last_sides = _sides([" ".join(words_of(antecedent.rpartition("\n")[2]))], one_word_names)
    if (
        not sides
        and antecedent
        and (
            len(last_sides) > 1
            or _OF_THE_MENTIONED.search(question_words)
            or not _SUPERLATIVE_PRICE.search(question_words)
        )
    ):
        # "Which one is cheaper?" is about the things mentioned before.
        sides = _sides([" ".join(words_of(line)) for line in antecedent.splitlines()], one_word_names)
        has_named_sides = False
    if len(sides) < 2:
        return []
    if rows := _compared_rows(sides, passages):
        return rows
    if columns := _compared_columns(sides, passages):
        return columns
    quoted: list[Excerpt] = []
    for side in sides[:3]:
        section = _section(side, passages)
        if not section or not (
            has_named_sides or keys_in(section[0].heading) & {key for word in side for key in keys_of(word)}
        ):
            return []
        if any(passage.is_table_row and not _name_has_all(passage, side) for passage in section):
            return []
        quoted += [passage for passage in section if passage not in quoted]
    if len({table_of(passage) for passage in quoted if passage.is_table_row}) > 1:
        return []
    by_price = shapes.PRICE_WORD.search(question_words) or _EXPENSIVE.search(question_words)
    return (
        quoted if not by_price or sum(_shows(shapes.PRICE, [passage]) for passage in quoted) >= len(sides[:3]) else []
    )


def _sides(texts: Sequence[str], names: AbstractSet[str]) -> list[list[str]]:
    """The things compared: for each part of these texts, the words that name something. `names` are words that are
    always names, such as "Business" of a row."""
    parts = [part for text in texts for part in shapes.CONJUNCTION.split(text)]
    sides = [
        [
            word
            for word in words_of(shapes.COMPARING.sub(" ", part))
            if word in names or (significant_words(word) and "=price" not in keys_of(word))
        ]
        for part in parts
    ]
    return [side for side in sides if side]


def _compared_rows(sides: Sequence[Sequence[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of one table with these names: for each side, the one whose name it contains most fully."""
    tables: dict[tuple[str, str, str], list[Excerpt]] = {}
    for row in passages:
        if row.is_table_row:
            tables.setdefault(table_of(row), []).append(row)
    for rows in tables.values():
        if _is_of_other_things(sides, rows, passages):
            continue
        best_rows = [max(rows, key=lambda row: _matched_name_words(row, side)) for side in sides]
        if all(map(_matched_name_words, best_rows, sides)) and len(set(best_rows)) == len(sides):
            return sorted(best_rows, key=lambda row: row.page_position)
        rows_by_side = [[row for row in rows if _name_has_all(row, side)] for side in sides]
        all_rows = [row for side_rows in rows_by_side for row in side_rows]
        if all(rows_by_side) and len(set(all_rows)) == len(all_rows) <= MAX_SHOWN:
            return sorted(all_rows, key=lambda row: row.page_position)
    return []


def _is_of_other_things(sides: Sequence[Sequence[str]], rows: Sequence[Excerpt], passages: Sequence[Excerpt]) -> bool:
    """Whether a table says nothing of a compared thing that rows of other tables are named after: what a night costs
    for a dog and for a cat does not compare the prices of their vaccinations."""
    texts = (" ".join((row.title, row.heading, row.column, *row.columns, row.text)) for row in rows)
    own_keys = keys_in(" ".join(texts))
    names = " ".join(name_of(row) for row in passages if row.is_table_row and row not in rows)
    other_keys = keys_in(names) - own_keys
    return any(keys_of(word) & other_keys and not keys_of(word) & own_keys for side in sides for word in side)


def _matched_name_words(row: Excerpt, side: Sequence[str]) -> int:
    """How many words a row's name has if the side contains all of them, else 0. In "2 m²" and "Child (3-15)", 2 and
    Child."""
    keys = {key for word in side for key in keys_of(word)}
    name_words = words_of(name_of(row).partition("(")[0])
    has_figure = any(map(str.isdigit, side))
    telling_words = [
        word
        for word in name_words
        if (word.isdigit() if has_figure else significant_words(word) or len(name_words) == 1)
    ]
    return len(telling_words) if all(keys_of(word) & keys for word in telling_words) else 0


def _name_has_all(row: Excerpt, side: Sequence[str]) -> bool:
    """Whether a row's name has all of these words, among others: metal braces are braces."""
    name_keys = keys_in(name_of(row))
    return all(keys_of(word) & name_keys for word in side)


def _compared_columns(sides: Sequence[Sequence[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of a table in which the columns with these headers differ, narrowed to those columns."""
    for example in (row for row in passages if len(row.columns) == len(row.cells) > 1):
        matches_by_side = [[_shared_words(header, side) for header in example.columns] for side in sides]
        columns = sorted(
            {
                column
                for matches in matches_by_side
                for column, count in enumerate(matches)
                if count and count == max(matches)
            }
        )
        if all(map(any, matches_by_side)) and len(columns) > 1:
            rows = [row for row in passages if row.columns == example.columns and table_of(row) == table_of(example)]
            if _is_of_other_things(sides, rows, passages):
                continue
            return [with_columns(row, columns) for row in rows if len({row.cells[column] for column in columns}) > 1][
                :MAX_SHOWN
            ]
    return []


def with_named_columns(question: str, antecedent: str, rows: Sequence[Excerpt]) -> list[Excerpt]:
    """Return the excerpts; table rows with only the columns that the question names.

    A question that names none gets the columns of the question that it refers to. If none of these has the
    kind of figure asked for, the columns that have it are added. Rows with only empty cells are left out.
    """
    if len({row.columns for row in rows}) != 1 or not all(len(row.columns) == len(row.cells) > 1 for row in rows):
        return list(rows)
    headers, name_keys = rows[0].columns, {key for row in rows for key in keys_in(name_of(row))}
    every = range(len(headers))
    named = _named_columns(question, headers, name_keys)
    query = terms(question)
    asks_of_rows = all(keys & (name_keys | _NAMES_NO_COLUMN) or is_common(keys) for keys in query.values()) and not (
        is_superlative(question) or shapes.COMPARING.search(plain(question))
    )
    depends_on_antecedent = bool(query) and asks_of_rows
    earlier_questions = reversed(antecedent.splitlines()) if depends_on_antecedent else ()
    earlier_named = (_named_columns(earlier, headers, name_keys, as_written=True) for earlier in earlier_questions)
    named = named or next(filter(None, earlier_named), every)
    required = [keys - shapes.FIGURE if keys & shapes.PRICE else keys for keys in required_keys(question)]
    required += [shapes.DURATION] if TAKES in required else []
    patterns = [pattern for key, pattern in shapes.SHAPES if any(key in keys for keys in required)]

    def looks_so(column: int) -> bool:
        return any(pattern.search(row.cells[column]) for row in rows for pattern in patterns)

    if patterns and not any(map(looks_so, named)):
        named = [column for column in every if column in named or looks_so(column)]
    if len(named) == len(headers):
        return list(rows)
    narrowed = [with_columns(row, named) for row in rows]
    return [row for row in narrowed if any(any(map(str.isalnum, cell)) for cell in row.cells)] or narrowed


def _named_columns(text: str, headers: Sequence[str], name_keys: set[str], *, as_written: bool = False) -> list[int]:
    """The columns whose headers have the most of a text's words, apart from words of the rows' own names. `as_written`:
    without those that only mean the same, as "Closes" does for the hours."""
    whole_headers = {header.lower() for header in headers}
    asked_words = [word for word in words_of(text) if word in whole_headers or significant_words(word)]
    words = [word for word in asked_words if not keys_of(word) & name_keys]
    if as_written:
        stems = {stem(header_word) for header in headers for header_word in words_of(header)}
        words = [word for word in words if stem(word) in stems]
    match_counts = [_shared_words(header, words) for header in headers]
    return [column for column, count in enumerate(match_counts) if count and count == max(match_counts)]


def _shared_words(name: str, words: Sequence[str]) -> int:
    """How many words of a name are among these."""
    keys = {key for word in words for key in keys_of(word)}
    return sum(bool(keys & keys_of(word)) for word in _words_without_figures(name) or words_of(name))


def included_passages(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Everything under the name of a thing, for the question what it includes; empty for other questions."""
    question_words = " ".join(words_of(question))
    if (
        not shapes.INCLUDED.search(question_words)
        or shapes.WHETHER.search(question_words)
        or ((included := shapes.INCLUDES_IT.match(question_words)) and significant_words(included["what"]))
        or shapes.HOW_MANY.search(question_words)
        or shapes.WHICH_INCLUDE.search(question_words)
    ):
        return []
    topic = shapes.INCLUDED.sub(" ", question_words)
    section = cells_of_thing(frozenset(words_of(topic)), passages) or _section(significant_words(topic), passages)
    return section if len(section) > 1 else []


def all_of_shape(question: str, query: Query, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """All passages with a price (or hours, an address …) on the page that shows the most, for a question that names
    nothing else, as "how much is it?"; empty if they lack another thing that it asks for ("when can I call you?")."""
    normalized, required = plain(question), required_keys(question)
    for key, pattern in shapes.SHAPES:
        if key == "=price" and (
            shapes.OBLIGED.search(normalized)
            or not (shapes.HOW_MUCH.search(normalized) or shapes.PRICE_WORD.search(normalized))
        ):
            continue
        if key == "=weekend" and {"weekend", "weekends", "finde", "semana"}.isdisjoint(normalized.split()):
            continue  # Saturday is not Sunday
        if query and all(key in keys or not keys - {"=figure"} or keys <= _TODAY for keys in query.values()):
            ways = [keys for keys in required if keys <= CONTACT_KEYS]  # a telephone, no e-mail address
            matching = [
                passage
                for passage in passages
                if (pattern.search(passage.text) or (ways and shapes.NEGATION.search(passage.text)))
                and all(keys & contacts_in(passage.text) for keys in ways)
            ]
            if not matching:
                return []
            scores_by_page = Counter[str]()
            for passage in matching:
                is_headed = key in keys_in(passage.heading) or is_title_of_kind(
                    frozenset((key,)), TITLE_END.split(passage.title)[0]
                )
                scores_by_page[passage.url] += 3 if is_headed else 1
            best_page = [passage for passage in matching if passage.url == scores_by_page.most_common(1)[0][0]]
            shown = [passage for passage in best_page if key != "=where" or passage.heading == best_page[0].heading]
            return shown[:MAX_SHOWN] if all(_shows(keys, shown) for keys in required) else []
    return []


def _shows(keys: frozenset[str], passages: Sequence[Excerpt]) -> bool:
    """Whether one of the passages has one of these shapes; true for keys without a shape."""
    patterns = [pattern for key, pattern in shapes.SHAPES if key in keys]
    return not patterns or any(pattern.search(passage.text) for pattern in patterns for passage in passages)


def _words_without_figures(heading: str) -> list[str]:
    """A heading's words without its figures: "Silver" of "Silver – 85 €"."""
    return [word for word in significant_words(heading) if not word.isdigit()]


def _section(words: Sequence[str], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The passages under the heading that has the fewest other words than these; or else the first that contains all of
    them."""
    keys = {key for word in words for key in keys_of(word)}
    under_heading = [
        passage
        for passage in passages
        if keys & keys_in(passage.heading) and len(_words_without_figures(passage.heading)) <= max(len(words), 2)
    ]
    under_heading.sort(
        key=lambda passage: sum(not keys_of(word) & keys for word in _words_without_figures(passage.heading))
    )
    containing = [passage for passage in passages if all(keys_of(word) & keys_in(passage.text) for word in words)]
    first = under_heading[:1] or sorted(containing, key=lambda passage: not passage.row)[:1]
    return [passage for passage in under_heading if passage.location == first[0].location][:4] or first
