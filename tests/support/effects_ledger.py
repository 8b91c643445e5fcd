"""The ledger of a fault campaign: each effect that a client asked for, what it was told, and what there really is.

Every effect has a key of its own (an Idempotency-Key, an action and its decision) and a `basis` that no other has: a
unique text or quantity, by which it is known in the store whoever made it and however many messages were answered as
one. A client that got no answer knows nothing: either outcome is right, if asking again under the same key agrees with
the store. So what is left over is a fault, and `findings` says of which kind.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class View(StrEnum):
    """What a client knows of an effect."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


class Fault(StrEnum):
    """What can be wrong with an effect."""

    LOST = "lost"
    """The client was told that it is done, and the store does not have it."""
    DONE_ALL_THE_SAME = "done all the same"
    """The client was told that it is not done, and the store has it."""
    DOUBLED = "doubled"
    """The store has it more than once."""
    NOBODY_ASKED = "nobody asked"
    """The store has it, and no client asked for it."""
    TOLD_BOTH = "told both"
    """The client was told both that it is done and that it is not; only "unknown" may be corrected later."""
    STILL_UNKNOWN = "still unknown"
    """When everything worked again, a repeated request still got no answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One effect for which the ledger and the store differ."""

    fault: Fault
    key: str
    basis: str

    def __str__(self) -> str:
        return f"{self.fault}: {self.key or '-'} ({self.basis})"


@dataclass(slots=True)
class Effect:
    """One thing that a client asked for. `views`: what it was told, in order; the last is what asking again said."""

    key: str
    basis: str
    views: list[View] = field(default_factory=list[View])

    @property
    def known(self) -> View:
        """Returns the last view that is not UNKNOWN."""
        return next((view for view in reversed(self.views) if view is not View.UNKNOWN), View.UNKNOWN)


class EffectsLedger:
    """What clients asked for and were told; then, against the store, what does not fit."""

    def __init__(self) -> None:
        self._effects: dict[str, Effect] = {}
        self._by_basis: dict[str, str] = {}

    def ask(self, key: str, basis: str) -> None:
        """A client asks, for the first time or again. Raises ValueError when the basis is another effect's."""
        if self._by_basis.setdefault(basis, key) != key:
            raise ValueError(f"{basis!r} belongs to {self._by_basis[basis]}: two effects could not be told apart")
        effect = self._effects.setdefault(key, Effect(key, basis))
        if effect.basis != basis:
            raise ValueError(f"{key} was asked for with {effect.basis!r} before")

    def see(self, key: str, view: View) -> None:
        """What the client was told; UNKNOWN for no answer, a time-out or a connection that broke."""
        self._effects[key].views.append(view)

    @property
    def effects(self) -> list[Effect]:
        """Everything that was asked for, in order."""
        return list(self._effects.values())

    @property
    def unsettled(self) -> list[Effect]:
        """Effects whose last answer was none: to be asked for again before the ledgers are compared with the log."""
        return [effect for effect in self._effects.values() if not effect.views or effect.views[-1] is View.UNKNOWN]

    def count(self) -> Counter[View]:
        """How many effects are known to be done, known not to be, and unknown."""
        return Counter(effect.known for effect in self._effects.values())

    def findings(self, stands: Iterable[str]) -> list[Finding]:
        """What is wrong. `stands`: the basis of everything that there is, as often as it is there, by a public
        interface."""
        stored_counts = Counter(stands)
        found = [Finding(Fault.NOBODY_ASKED, "", basis) for basis in stored_counts if basis not in self._by_basis]
        for effect in self._effects.values():
            found += [
                Finding(fault, effect.key, effect.basis) for fault in _faults(effect, stored_counts[effect.basis])
            ]
        return found


def _faults(effect: Effect, stored_count: int) -> list[Fault]:
    told = {view for view in effect.views if view is not View.UNKNOWN}
    found: list[Fault] = []
    if stored_count > 1:
        found.append(Fault.DOUBLED)
    if len(told) > 1:
        found.append(Fault.TOLD_BOTH)
    elif told == {View.ACCEPTED} and not stored_count:
        found.append(Fault.LOST)
    elif told == {View.REJECTED} and stored_count:
        found.append(Fault.DONE_ALL_THE_SAME)
    elif not told:
        found.append(Fault.STILL_UNKNOWN)
    return found
