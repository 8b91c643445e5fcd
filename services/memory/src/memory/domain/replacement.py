"""Whether a later statement makes an older one untrue, by comparing their claims.

If no such relation is recognised, nothing is replaced: keeping an outdated fact does less harm than removing a true
one.
"""

from collections.abc import Iterable

from contracts.calendar_names import MONTHS
from memory.domain.claims import ATTITUDE_WORDS, PERIODS, Claims
from memory.domain.long_term.attributes import are_incompatible
from memory.domain.long_term.concepts import ACTIONS, concepts_of
from memory.domain.long_term.endings import RENTING, StatementEnd, can_end
from memory.domain.long_term.slots import ASSETS, OCCASION

MAX_OTHER_WORDS = 2
"""Words that a statement may have beside the concepts that are ended or denied, to be the statement that is meant."""
_AMOUNTS = concepts_of("earn save invest put spend owe meto gasto aporto contribute rent budget presupuesto")
"""Concepts of things that have amounts: statements about different ones of these are about different amounts."""
_FLOWS = concepts_of("pay earn save invest put spend owe pago gano ahorro invierto meto gasto debo contribute pongo")
"""Verbs of recurring amounts."""
_PUTS = concepts_of("contribute meto aporto pongo")
_SETS_ASIDE = _PUTS | concepts_of("save invest put")
"""Verbs for money that somebody sets aside, of which `_PUTS` say nothing more."""
_GETS = concepts_of("get receive earn gano cobro recibo")
_PAYS = concepts_of("pay spend pago gasto owe debo")
_NOT_EXCLUSIVE = concepts_of(
    "am pay look need talk have like buy sell invest want trade hold go visit know meet eat drink watch follow study "
    "play"
)
"""Concepts that are true of several things at the same time."""
GENERIC = PERIODS | concepts_of(
    "turn turned cumple cumplio cumplido am have want need see ver recibir receive hear "
    "plan decide decided hope think pensandolo believe going pay make made get give keep show send "
    "time times once twice veces vez euro euros dollar dollars "
    "pound pounds end wait delay postpone cut raise lower change extend shorten lengthen increase reduce double halve "
    "up upped down top topped bump widen tighten loosen use hire replace appoint switch put set land "
    "finally across over subir bajar subido bajado aumentado reducido alargado acortado ampliado cambiado "
    "contratado sustituido "
    "subieron bajaron aumentaron decidido quiero pienso espero pasar "
    "away aside pasado final quedan quedo left touch toco saber nada animado"
)
"""Concepts that do not identify the subject of a statement when two statements are compared."""
_CALENDAR = concepts_of(" ".join((*MONTHS, *OCCASION)))
_ASSETS = concepts_of(" ".join(ASSETS))
_WORK = concepts_of("work")
_ATTITUDES = concepts_of(
    "like interest interested interesa interesan convence convencen trust fio into vegan vegetarian celiac"
)
_PLANS = concepts_of("want plan hope goal prefer like would quiere planea study estudiar marry")
_BACK = concepts_of("back got have")
_CHILDREN = concepts_of("have child kids children hijos ninos")
_OBTAINS = concepts_of("have buy open opened adopt adopted get got took abri compre adopte contrate")
_NOT_COUNTED = concepts_of("am have want plan viene moment stock week month year day time times veces vez")


def replaces(new: Claims, old: Claims) -> bool:
    """Whether the newer claims replace the older ones, or end them."""
    if _are_two_events(new, old):
        return False
    if (
        new.attributes
        and not new.is_addition
        and any(are_incompatible(value, before) for value in new.attributes for before in old.attributes)
    ):
        return True
    if new.ended and any(not ending.needs_sole_match and _is_ended(ending, new, old) for ending in new.ended):
        return True
    return _contradicts(new, old) or _denies_limit(new, old) or _likes_otherwise(new, old)


def may_replace(new: Claims, old: Claims) -> bool:
    """Whether the newer claims replace the older ones, provided that no others can be meant: "I switched to Delta"."""
    if _are_two_events(new, old):
        return False
    assets = new.concepts & _ASSETS, old.concepts & _ASSETS
    are_of_other_assets = all(assets) and not assets[0] & assets[1]  # futures at IBKR, crypto at Kraken
    ended = (
        new.relative == old.relative
        and not are_of_other_assets
        and any(ending.needs_sole_match and can_end(ending, old.concepts) and not old.ended for ending in new.ended)
    )
    is_revisable = not (old.is_denial or old.tells_act or old.is_past or new.is_addition)
    return ended or (
        is_revisable
        and any(
            rule(new, old)
            for rule in (_changes_value, _changes_measure, _changes_object, _corrects_figure, _changes_mind)
        )
    )


def _are_two_events(new: Claims, old: Claims) -> bool:
    """Whether both tell when something got a value, at different times and with different figures: both happened."""
    if not (new.sets_value and old.sets_value):
        return False
    when, figure = (new.occasions, old.occasions), (new.values_by_kind.get("figure"), old.values_by_kind.get("figure"))
    return all((*when, *figure)) and when[0] != when[1] and figure[0] != figure[1]


def ends_only(new: Claims) -> bool:
    """Whether a statement says that something is over, and does not say what comes instead."""
    return bool(new.ended) and not new.attributes and not any(ending.has_replacement for ending in new.ended)


def has_named_replacement(new: Claims, replaced: Iterable[Claims]) -> bool:
    """Whether a statement that ended others names a person or place that none of them names: "… and went to Monzo"."""
    known = frozenset[str]().union(*(replaced_claims.concepts for replaced_claims in replaced))
    named = new.values_by_kind.get("name", frozenset()) | new.values_by_kind.get("language", frozenset())
    return bool(known and named - known - _CALENDAR)


def is_attitude(fact: Claims) -> bool:
    """Whether a fact is about an attitude, whose end is worth remembering too: bored by options, no longer vegan."""
    return bool(fact.concepts & _ATTITUDES)


def _is_ended(ending: StatementEnd, new: Claims, old: Claims) -> bool:
    concepts = old.concepts | _WORK if old.names_occupation else old.concepts
    if (
        old.is_denial
        or old.tells_act
        or ending in old.ended
        or not can_end(ending, concepts)
        or (old.relative and old.relative not in (new.relative, *new.concepts) and not ending.anyone)
        or (new.relative and old.relative and new.relative != old.relative and not ending.anyone)
        or (new.relative and not old.relative and new.relative not in ending.concepts and not ending.anyone)
        or _have_other_habits(new, old)
        or not (ending.anyone or new.subject <= old.concepts | ending.concepts)
    ):
        return False
    if ending.one_of == RENTING and _name_other_places(new, old):
        return False
    if not ending.concepts:
        return bool(ending.one_of & concepts) and len(_other_words(old, ending.one_of)) <= 2 * MAX_OTHER_WORDS
    return ending.concepts <= old.concepts and _covers_most_of(ending.concepts, old)


def _name_other_places(new: Claims, old: Claims) -> bool:
    places = [statement.values_by_kind.get("name", frozenset()) - _CALENDAR for statement in (new, old)]
    return all(places) and not places[0] & places[1]


def _have_other_habits(new: Claims, old: Claims) -> bool:
    """Whether both tell what is done on certain days or at certain hours, and not on the same ones: yoga on Mondays and
    on Fridays. A single day is the day of the change."""
    habits = [
        {name for name in statement.occasions if name in OCCASION and name.endswith("s")} for statement in (new, old)
    ]
    return all(habits) and not habits[0] & habits[1]


def are_about_same_person(new: Claims, old: Claims) -> bool:
    """Whether both are about the same person: "my daughter Emma is 9", "Emma turned 10"."""
    return new.relative == old.relative or (
        not new.relative and new.verb[0] in old.values_by_kind.get("name", frozenset())
    )


def flow_opposite_ways(new: Claims, old: Claims) -> bool:
    """Whether one tells of money that its writer gets, and the other of money that they pay."""
    return any(one.concepts & _GETS and other.concepts & _PAYS for one, other in ((new, old), (old, new)))


def _changes_value(new: Claims, old: Claims) -> bool:
    """Whether both say the same except for a value of one kind (a figure, how often, who or where), and the newer says
    that it is different now. If each also mentions something else, they are about two things."""
    if not are_about_same_person(new, old) or new.is_denial or not (new.says_change or new.sets_value):
        return False
    if flow_opposite_ways(new, old):
        return False
    shared = (new.concepts & old.concepts) - GENERIC
    if not shared and not new.concepts - GENERIC - new.value_concepts - _PUTS:  # "now 350 a month"
        alike = old.values_by_kind.get("period") or new.concepts & old.concepts & _FLOWS
        if new.concepts & _PUTS and not old.concepts & _SETS_ASIDE:
            return False
        return bool(alike and old.values_by_kind.get("figure")) and all(
            new.values_by_kind.get(kind) and new.values_by_kind[kind] != values
            if kind == "figure"
            else new.values_by_kind.get(kind, values if kind == "currency" else None) == values
            for kind, values in old.values_by_kind.items()
        )
    if (
        not shared
        or (shared <= _AMOUNTS and not old.concepts & _AMOUNTS <= new.concepts)
        or old.occasions != new.occasions & old.occasions
    ):
        return False
    before, after = (
        old.concepts - new.concepts - GENERIC - old.value_concepts,
        new.concepts - old.concepts - GENERIC - new.value_concepts,
    )
    before, after = (frozenset(word for word in rest if not word[0].isdigit()) for rest in (before, after))
    if (before and after) or len(before) > MAX_OTHER_WORDS:
        return False
    differing = {
        kind
        for kind, values in old.values_by_kind.items()
        if values - new.values_by_kind.get(kind, values) and new.values_by_kind[kind] - values
    }
    if "figure" in differing and new.units ^ old.units and new.units - old.concepts:
        return False  # 900 a month, 2 parking spaces
    if "figure" in differing and len(old.values_by_kind["figure"]) > len(new.values_by_kind["figure"]):
        return False  # 100 for the car and 50 for the trip
    if "name" in differing and (
        after - new.deeds or len(differing) > 1 or new.concepts & old.concepts & _NOT_EXCLUSIVE
    ):
        return False  # 200 for VOO, 300 for QQQ; my car is a Mazda, the car insurance is with Axa
    return bool(differing)


def revalues_thing(new: Claims, old: Claims) -> bool:
    """Whether, provided that no others can be meant, both are about the same definite thing of the writer's, and the
    newer says that it has another name, figure or date now: "my wedding is on June 12", "we've had to move the wedding
    to September 4"."""
    if not (new.says_change or new.sets_value) or new.is_denial or new.is_addition:
        return False
    if new.relative or old.relative or not new.things & old.things:
        return False
    before, after = _values_beside(old, new), _values_beside(new, old)
    differing = [kind for kind in before if before[kind] and after[kind]]
    if len(differing) != 1:
        return False
    if differing == ["figure"] and (new.units != old.units or len(before["figure"]) > len(after["figure"])):
        return False
    ignored = GENERIC | ACTIONS | new.value_concepts | old.value_concepts | new.deeds
    rest, former = new.concepts - old.concepts - ignored, old.concepts - new.concepts - ignored
    rest, former = (frozenset(word for word in words if not word[0].isdigit()) for words in (rest, former))
    return not (rest and former) and (differing != ["name"] or not (rest or former))


def _values_beside(statement: Claims, other: Claims) -> dict[str, frozenset[str]]:
    """Returns the values of a statement, by kind, that another does not have. The figures of a date belong to it."""
    names, figures = (statement.values_by_kind.get(kind, frozenset()) - other.concepts for kind in ("name", "figure"))
    dates = (names | statement.occasions) & _CALENDAR
    return {
        "date": dates | (figures if dates else frozenset()),
        "name": names - _CALENDAR,
        "figure": frozenset() if dates else figures,
    }


def _corrects_figure(new: Claims, old: Claims) -> bool:
    """Whether the newer claims name the older figure, deny it or are about the same thing, and name the figure that it
    is now: "55 isn't realistic, I'm aiming for 62 now"."""
    if new.relative != old.relative or not (new.says_change or new.is_too_much):
        return False
    if new.units and old.units and not new.units & old.units:
        return False
    if not (new.sentence_denies or new.is_too_much or (new.concepts & old.concepts) - GENERIC - new.value_concepts):
        return False
    return any(
        values < new.sentence_values.get(kind, frozenset()) and len(new.sentence_values[kind]) == len(values) + 1
        for kind, values in old.values_by_kind.items()
        if kind in ("figure", "year")
    )


def _changes_measure(new: Claims, old: Claims) -> bool:
    """Whether both name a number for the same measure ("days a week"), the newer another one than before, and only one
    of them says of what: "I work four days a week", "they've got me back on five days a week"."""
    if not new.says_change or new.relative != old.relative or len(new.measures) != 1 or len(old.measures) != 1:
        return False
    ((measure, number),) = new.measures.items()
    others = [
        statement.concepts - GENERIC - statement.value_concepts - statement.deeds - _PLANS - _BACK
        for statement in (new, old)
    ]
    return old.measures.get(measure, number) != number and not (others[0] - others[1] and others[1] - others[0])


def _changes_mind(new: Claims, old: Claims) -> bool:
    """Whether somebody close to the writer has changed their mind, and the older claims tell what they wanted; of the
    writer, only about the same thing."""
    if not new.is_change_of_mind or new.relative != old.relative or not old.concepts & _PLANS:
        return False
    return bool(new.relative or (new.concepts & old.concepts) - GENERIC - ACTIONS - _PLANS)


def _changes_object(new: Claims, old: Claims) -> bool:
    """Whether something that is done in one way at a time is now done in another: the same verb with another object,
    under the same conditions. "I save for a trip", "now I save for a car"; "I trade US stocks", "now I only trade
    European ones"."""
    if new.relative or old.relative or new.is_denial or not new.says_change or _are_two_of_mine(new, old):
        return False
    verb, preposition = new.verb
    names_old_occasion = new.excludes_others and bool(old.occasions) and old.occasions < new.occasions
    if (
        verb == old.verb[0]
        and names_old_occasion
        and (old.concepts <= new.concepts or not new.concepts - old.concepts - _CALENDAR - GENERIC)
    ):
        return True  # "now on Wednesdays instead of Tuesdays"
    if verb != old.verb[0] or new.occasions != old.occasions or any(verb in thing for thing in new.things):
        return False
    if not (new.excludes_others or (preposition and preposition == old.verb[1] and verb not in _NOT_EXCLUSIVE)):
        return False
    return bool(new.concepts - old.concepts) and bool(old.concepts - new.concepts)


def _are_two_of_mine(new: Claims, old: Claims) -> bool:
    """Whether both tell what something of the writer's is, and not of the same thing: budgets for food and clothes."""
    mine = [
        {value.attribute for value in statement.attributes if value.attribute.startswith("my ")}
        for statement in (new, old)
    ]
    return all(mine) and not mine[0] & mine[1]


def _denies_limit(new: Claims, old: Claims) -> bool:
    """Whether what was the only one of its kind is so no more: "I only trade US stocks", "now also European stocks"."""
    is_limit = old.is_limit and not (old.occasions or old.is_denial or new.is_denial) and new.relative == old.relative
    return is_limit and new.is_addition and bool((new.concepts & old.concepts) - GENERIC - ACTIONS)


def _contradicts(new: Claims, old: Claims) -> bool:
    """Whether one denies what the other says: of the same person, in the same words."""
    if new.relative != old.relative or new.is_denial == old.is_denial or old.ended:
        return False
    if new.ended:  # a child was born to somebody who had none
        return old.is_denial and old.concepts <= _CHILDREN and any(ending.anyone for ending in new.ended)
    about = old.concepts - GENERIC - _ATTITUDES
    if not new.is_denial and new.says_change and about and (about - {old.verb[0]} or about) <= new.concepts:
        return True
    if old.is_denial and "have" in old.concepts and new.verb[0] in _OBTAINS and (about := old.concepts - GENERIC):
        return about <= new.concepts  # "I have no pension", "I opened a pension with Aviva"
    telling = new.concepts - {"be", "have"}
    if new.is_denial:
        return bool(telling) and new.concepts <= old.concepts and _covers_most_of(new.concepts, old)
    return bool(telling) and (old.concepts == new.concepts or (new.says_change and old.concepts <= new.concepts))


def _likes_otherwise(new: Claims, old: Claims) -> bool:
    """Whether one likes the very thing that the other does not: "I'm against crypto", "I've come to like crypto"."""
    if new.relative != old.relative or not new.attitude or not old.attitude or new.attitude == old.attitude:
        return False
    things = [statement.concepts - GENERIC - ATTITUDE_WORDS - ACTIONS for statement in (new, old)]
    return bool(things[0]) and things[0] == things[1] and new.occasions == old.occasions


def _covers_most_of(covered: frozenset[str], old: Claims) -> bool:
    remaining = _other_words(old, covered)
    return len(remaining) <= MAX_OTHER_WORDS and not (remaining and old.is_list)


def _other_words(old: Claims, covered: frozenset[str]) -> list[str]:
    return [word for word in old.concepts - covered if word not in _NOT_COUNTED and not word[0].isdigit()]
