"""The ledger of a round's effects: orders prepared and placed, alerts made and deleted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.faults.echo_model import MADE, REFUSED
from tests.support.effects_ledger import EffectsLedger, Finding, View


@dataclass(slots=True)
class Stores:
    """The stored effects according to the public interfaces, each basis as often as it is stored."""

    prepared: list[str] = field(default_factory=list[str])
    """All orders, in any state."""
    placed: list[str] = field(default_factory=list[str])
    """Orders that are open or filled."""
    alerts: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class EffectLedger:
    """The effects customers asked for and what they were told. The basis of an order is its quantity, of an alert its
    message."""

    prepared: EffectsLedger = field(default_factory=EffectsLedger)
    placed: EffectsLedger = field(default_factory=EffectsLedger)
    """Orders that were confirmed: any other stored order was placed without confirmation."""
    alerts: EffectsLedger = field(default_factory=EffectsLedger)
    deleted: EffectsLedger = field(default_factory=EffectsLedger)
    refused: set[str] = field(default_factory=set[str])
    """Orders that were rejected: they may be missing from the list."""

    @property
    def number(self) -> int:
        """Returns how many effects were asked for."""
        return sum(len(ledger.effects) for ledger in (self.prepared, self.placed, self.alerts, self.deleted))

    def read(self, answer: str) -> None:
        """Records what an answer in the log says of the effects it names, whether or not a client has shown it."""
        for ledger in (self.prepared, self.alerts):
            for effect in ledger.effects:
                if (view := told(answer, effect.key)) is not View.UNKNOWN:
                    ledger.see(effect.key, view)

    def findings(self, stores: Stores) -> Iterator[tuple[str, Finding]]:
        """Yields the findings, each with the kind of effect. An effect asked for in the chat without an answer has no
        key under which to repeat it: its customer reads the list, and either outcome is right."""
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
    """Returns what the model's answer says of the effect with this token."""
    if f"{MADE} {word}" in answer:
        return View.ACCEPTED
    return View.REJECTED if f"{REFUSED} {word}" in answer else View.UNKNOWN


def _looked_up(ledger: EffectsLedger, stands: Iterable[str]) -> None:
    stored = set(stands)
    for effect in ledger.unsettled:
        if effect.known is View.UNKNOWN:
            ledger.see(effect.key, View.ACCEPTED if effect.basis in stored else View.REJECTED)
