"""Tells open chats at once when their company's assistant is switched off or on."""

from collections.abc import Iterable

from contracts.company import CompanySettings
from gateway.domain import server_frames
from gateway.ports import ClientSocket
from runtime.companies import MAX_COMPANIES
from runtime.recent import Bounded


class Assistants:
    """The last known state of each company's switch. `sessions`: the open sockets."""

    def __init__(self, sessions: Iterable[ClientSocket]) -> None:
        self._sessions = sessions
        self._last_states = Bounded[str, bool](MAX_COMPANIES)

    def changed(self, company: str, settings: CompanySettings | None) -> None:
        """Tells the company's visitors and customers, if this change switches the assistant."""
        if settings is None:
            return  # the switch's state is unknown until memory answers again
        ai = settings.config.ai_auto_response_enabled
        if self._last_states.get(company) != ai:
            frame = server_frames.assistant_changed(ai=ai)
            for session in list(self._sessions):
                caller = session.caller
                if caller is not None and caller.company == company and not caller.is_operator:
                    session.push(frame)
        self._last_states[company] = ai
