"""Splits a fact into its statements, so that one of them can be forgotten without the others: "I am vegan" of "I am
vegan and live in Porto"."""

import re

from memory.domain.long_term.concepts import ACTIONS, concepts_of, significant_words
from memory.domain.long_term.plain_facts import clauses, is_plain_fact

_JOINT = re.compile(r"[,;]?\s+(?:and|but|y|e|pero)\s+(?:also\s+|tambi[eé]n\s+)?|[,;]\s+", re.I)
_SUBJECT = re.compile(r"(?:I(?='m\b)|I|we(?='re\b)|we)\b", re.I)


def without_part(fact: str, wanted: frozenset[str]) -> tuple[str, str] | None:
    """Returns the one statement of a fact that has all these concepts, and the remainder, each with its subject; None
    if all of the fact is meant."""
    parts = _parts(fact)
    meant = [part for part in parts if wanted and wanted <= concepts_of(part)]
    if len(parts) < 2 or len(meant) != 1:
        return None
    return meant[0], ", ".join(part for part in parts if part is not meant[0])


def _parts(fact: str) -> list[str]:
    """Returns the statements in the fact's words. Text without a verb of its own belongs to the statement before it."""
    cuts = [joint.span() for joint in _JOINT.finditer(fact) if _is_statement(fact[joint.end() :])]
    starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(fact)]
    parts = [fact[start:end] for start, end in zip(starts, ends, strict=True)]
    subject = _SUBJECT.match(fact)
    return parts[:1] + [part if not subject or clauses(part) else f"{subject[0]} {part}" for part in parts[1:]]


def _is_statement(text: str) -> bool:
    """Whether a text begins with a statement: "live in Porto" and "my son is Leo" do, "my bike" does not."""
    first_concept = next(iter(significant_words(_JOINT.split(text)[0])), "")
    clauses_found = clauses(text)
    return first_concept in ACTIONS or bool(
        clauses_found
        and text.startswith(clauses_found[0])
        and " " in clauses_found[0]
        and is_plain_fact(clauses_found[0])
    )
