"""Tools that other services announce: checked like our own, and removed when their service is gone.

An announcement is the complete offer of one service to one company, or to all (``-`` in its subject). It replaces the
previous one and is valid for `ttl_seconds`. If several tools have the same name, this order decides: the catalogue, a
service that announces to all, a service that announces to the company, the company's settings; between two services of
the same rank, the first one.
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from contracts.events.tool import ToolDeclaration, ToolsAnnounced
from contracts.ids import NOBODY
from contracts.text import Text
from contracts.tools_rpc import TOOL_OUTCOME
from tool_executor.catalogue.own import OwnCatalogue
from tool_executor.catalogue.registry import CatalogueError, Entry, Registry, check
from tool_executor.domain.declaration import CacheScope, DeclaredTool, OverTheBus
from tool_executor.domain.plans import CompanyTools, VerifiedCaller

_SUBJECT = re.compile(r"rpc\.tool(\.[A-Za-z0-9_-]+){1,8}")
MAX_TOOLS = 64
"""Tools of one service."""
MAX_OFFERS = 256
"""Services that offer tools at the same time."""


@dataclass(slots=True)
class _Offer:
    announced: ToolsAnnounced
    expires_at: float
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])


class Offers:
    """All current tools: those of the catalogue, announced ones, and companies' own. `clock`: in seconds."""

    def __init__(
        self, catalogue: Registry, clock: Callable[[], float] = time.monotonic, own: OwnCatalogue | None = None
    ) -> None:
        self._catalogue = catalogue
        self._own = own
        self._clock = clock
        self._offers: dict[tuple[str, str], _Offer] = {}
        """The offers by company (``-`` for all) and service."""

    def find(self, name: str, company: str) -> Entry | None:
        entry = self._catalogue.find(name)
        if entry is not None:
            return entry
        announced = (offer.entries[name] for offer in self._of(company) if name in offer.entries)
        return next(announced, None) or self._own_tools(company).get(name)

    def offered_to(self, caller: VerifiedCaller, company: CompanyTools) -> list[Entry]:
        """Returns the tools that this caller may call now, those of the catalogue first."""
        listed = self._catalogue.offered_to(caller, company)
        names: set[str] = set()
        for offer in self._of(caller.company):
            for name, entry in offer.entries.items():
                if name not in names and entry.plan <= caller.effective_plan and entry.visible_to(caller, company):
                    names.add(name)
                    listed.append(entry)
        names |= {entry.tool.name for entry in self._catalogue}
        own = self._own_tools(caller.company)
        return listed + [
            entry for name, entry in own.items() if name not in names and entry.visible_to(caller, company)
        ]

    def _own_tools(self, company: str) -> dict[str, Entry]:
        return {} if self._own is None else self._own.of(company)

    def announce(self, company: str, announced: ToolsAnnounced, seconds: float) -> list[str]:
        """Takes a service's offer to a company (``-`` for all) for `seconds`.

        Returns:
            The reasons why tools were left out, one line each; the other tools are offered.
        """
        self._drop_expired()
        key, expires_at = (company, announced.service), self._clock() + seconds
        current = self._offers.get(key)
        if current is not None and current.announced == announced and len(current.entries) == len(announced.tools):
            current.expires_at = expires_at
            return []
        if current is None and len(self._offers) >= MAX_OFFERS:
            return [f"{announced.service}: {MAX_OFFERS} services offer tools already"]
        subject = announced.call_subject
        outcomes = announced.outcome_subject
        reserved_subjects = {f"rpc.tool.{entry.tool.name}.v1" for entry in self._catalogue} | {TOOL_OUTCOME.subject}
        for name, address in (("callSubject", subject), ("outcomeSubject", outcomes)):
            if address is not None and (_SUBJECT.fullmatch(address) is None or address in reserved_subjects):
                self._offers.pop(key, None)
                return [f"{announced.service}: {name} must be a subject of its own below rpc.tool, not {address[:80]}"]
        offer, refused = _Offer(announced, expires_at), list[str]()
        for declared in announced.tools[:MAX_TOOLS]:
            try:
                entry = check(declared_tool(declared, subject, outcomes))
                self._check_free(entry.tool, key, offer)
            except CatalogueError as error:
                refused.append(str(error))
            else:
                offer.entries[entry.tool.name] = entry
        if len(announced.tools) > MAX_TOOLS:
            refused.append(f"{announced.service}: offers more than {MAX_TOOLS} tools")
        self._offers[key] = offer
        return refused

    def withdraw(self, company: str, service: str, names: list[str]) -> None:
        """Ends a service's offer, or only the named tools of it."""
        offer = self._offers.get((company, service))
        if offer is None:
            return
        for name in names:
            offer.entries.pop(name, None)
        offer.announced = offer.announced.model_copy(
            update={"tools": [tool for tool in offer.announced.tools if tool.name in offer.entries]}
        )
        if not names or not offer.entries:
            del self._offers[company, service]

    def end_offers_of(self, subject: str) -> list[str]:
        """Ends the offers whose tools are called on this subject, which nobody serves any more; returns their
        services."""
        keys = [key for key, offer in self._offers.items() if offer.announced.call_subject == subject]
        for key in keys:
            del self._offers[key]
        return [service for _, service in keys]

    def _of(self, company: str) -> Iterator[_Offer]:
        now = self._clock()
        for scope in (NOBODY, company):
            for (owner, _), offer in self._offers.items():
                if owner == scope and offer.expires_at > now:
                    yield offer

    def _check_free(self, tool: DeclaredTool, key: tuple[str, str], offer: _Offer) -> None:
        others = [other for (owner, service), other in self._offers.items() if owner == key[0] and service != key[1]]
        announced = (entry for other in [offer, *others] for entry in other.entries.values())
        if any(tool.name == entry.tool.name or tool.id == entry.tool.id for entry in [*self._catalogue, *announced]):
            raise CatalogueError(
                f"tool {tool.id}: another tool has this id or the name {tool.name!r}; choose a new one"
            )

    def _drop_expired(self) -> None:
        now = self._clock()
        for key in [key for key, offer in self._offers.items() if offer.expires_at <= now]:
            del self._offers[key]


def declared_tool(declared: ToolDeclaration, subject: str, outcomes: str | None = None) -> DeclaredTool:
    """Returns the declaration in our own form, unchecked. Cacheable results are cached for each user separately: a
    service cannot decide that data are public."""
    texts = declared.description
    description = texts.get("en") or texts.get("es") or declared.name
    digest = hashlib.sha256(declared.to_json()).digest()
    return DeclaredTool(
        id=declared.id,
        name=declared.name,
        description=Text(**{"es": description, "en": description} | texts),
        category=declared.category,
        required_plan=declared.required_plan,
        per_minute=declared.per_minute,
        per_hour=declared.per_hour,
        per_day=declared.per_day,
        input_schema=declared.input_schema,
        output_schema=declared.output_schema,
        side_effects=declared.side_effects,
        time_limit=declared.time_limit_seconds,
        cache=CacheScope.USER if declared.cacheable else CacheScope.NEVER,
        texts_differ=True,
        # The version is a digest, so a changed declaration does not serve results cached for the old one.
        version=int.from_bytes(digest[:6], "big"),
        handler=OverTheBus(subject),
        reconcile=None if outcomes is None else OverTheBus(outcomes),
    )
