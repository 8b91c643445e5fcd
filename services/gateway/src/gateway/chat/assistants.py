"""Whoever has a company's chat open is told at once when its assistant is switched off, or on again."""

from collections.abc import Iterable

from contracts.company import CompanySettings
from gateway.domain import server_frames
from gateway.ports import ClientSocket
from runtime.companies import KEPT


class Assistants:
    """Which companies' assistants answer, as it was told last. `sessions`: the open sockets."""

    def __init__(self, sessions: Iterable[ClientSocket]) -> None:
        self._sessions = sessions
        self._told: dict[str, bool] = {}

    def changed(self, company: str, settings: CompanySettings | None) -> None:
        """Tells the company's visitors and customers, if this change is one of the switch."""
        if settings is None:
            return  # nobody can say how it is; the next answer of memory does
        ai = settings.config.ai_auto_response_enabled
        if self._told.pop(company, None) != ai:
            frame = server_frames.assistant_changed(ai=ai)
            for session in list(self._sessions):
                caller = session.caller
                if caller is not None and caller.company == company and not caller.is_operator:
                    session.push(frame)
        self._told[company] = ai
        if len(self._told) > KEPT:
            del self._told[next(iter(self._told))]
