"""The ledger of a round's effects: orders prepared, orders placed, alerts made, alerts taken back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.faults.echo_model import MADE, REFUSED
from tests.support.effects_ledger import EffectsLedger, Finding, View


@dataclass(slots=True)
class Stores:
    """What there really is, as the public interfaces tell it: each basis as often as it is there."""

    prepared: list[str] = field(default_factory=list[str])
    """Orders, whatever became of them."""
    placed: list[str] = field(default_factory=list[str])
    """Orders that work, or have been filled."""
    alerts: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class EffectLedger:
    """What customers asked for and were told. The basis of an order is its quantity, of an alert its message."""

    prepared: EffectsLedger = field(default_factory=EffectsLedger)
    placed: EffectsLedger = field(default_factory=EffectsLedger)
    """Orders that were said yes to: whatever else stands was placed without one."""
    alerts: EffectsLedger = field(default_factory=EffectsLedger)
    deleted: EffectsLedger = field(default_factory=EffectsLedger)
    refused: set[str] = field(default_factory=set[str])
    """Orders that were said no to: they may be listed no longer."""

    @property
    def number(self) -> int:
        """How many effects were asked for."""
        return sum(len(one.effects) for one in (self.prepared, self.placed, self.alerts, self.deleted))

    def read(self, answer: str) -> None:
        """What an answer in the log says of the effects that it names, whoever has seen it."""
        for ledger in (self.prepared, self.alerts):
            for effect in ledger.effects:
                if (view := told(answer, effect.key)) is not View.UNKNOWN:
                    ledger.see(effect.key, view)

    def findings(self, stores: Stores) -> Iterator[tuple[str, Finding]]:
        """What is wrong, each with the kind of effect. What was asked for in the chat and never told has no key by
        which to ask again: its customer looks into the list, and either is right."""
        _looked_up(self.prepared, stores.prepared)
        _looked_up(self.alerts, stores.alerts)
        failed = {effect.basis for effect in self.placed.effects if effect.known is View.REJECTED}
        closed = [one for one in self.refused | failed if one not in stores.prepared]
        gone = [basis for basis in self._deleted() if basis not in stores.alerts]
        for what, ledger, stands in (
            ("order prepared", self.prepared, [*stores.prepared, *closed]),
            ("order placed", self.placed, stores.placed),
            ("alert", self.alerts, [*stores.alerts, *gone]),
            ("alert taken back", self.deleted, gone),
        ):
            for finding in ledger.findings(stands):
                yield what, finding

    def _deleted(self) -> list[str]:
        return [effect.basis for effect in self.deleted.effects if effect.known is View.ACCEPTED]


def told(answer: str, word: str) -> View:
    """What the model's answer says of the effect of a token."""
    if f"{MADE} {word}" in answer:
        return View.ACCEPTED
    return View.REJECTED if f"{REFUSED} {word}" in answer else View.UNKNOWN


def _looked_up(ledger: EffectsLedger, stands: Iterable[str]) -> None:
    there = set(stands)
    for one in ledger.unsettled:
        if one.known is View.UNKNOWN:
            ledger.see(one.key, View.ACCEPTED if one.basis in there else View.REJECTED)
