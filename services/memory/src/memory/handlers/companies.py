"""Methods about companies: their settings, the pages that show their chat, their users' identities, and signing in to
the console. Deleting a company is in erasure.py.
"""

from contracts import company_rpc, sign_in_rpc
from contracts.company import CompanySettings
from contracts.identity_rpc import IDENTIFY
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.mongo_sightings import MongoSightings
from memory.adapters.openid_provider import REQUEST_TIMEOUT_SECONDS, OpenIdProviders
from memory.adapters.webhook_client import WebhookPosting
from memory.application.companies import ChangeListener, CompanyRegistry
from memory.application.sign_in import SignIns
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.openid import SignInRefusedError
from runtime.auth.seal import Seal, company_seal
from runtime.settings import SealSettings

SETTINGS_RETRY_SECONDS, SETTINGS_SWEEP_SECONDS, SETTINGS_REPEATS = 5.0, 3_600.0, 3
"""Interval of comparing the settings with those on the bus: SETTINGS_RETRY_SECONDS after a comparison that changed
something, since a replica of the stream that lags behind may have answered, otherwise SETTINGS_SWEEP_SECONDS. If a
store may have lost data, it is repeated SETTINGS_REPEATS times."""


def build(deps: Deps, announcements: BusAnnouncements, refresh_webhooks: ChangeListener) -> CompanyRegistry:
    async def changed(settings: CompanySettings) -> None:
        await refresh_webhooks(settings)
        await deps.looks.leave(settings.config.company_id, settings.config.team.signed_out)

    return CompanyRegistry(
        store=deps.companies,
        announcements=announcements,
        conversations=deps.stored_conversations,
        changed=changed,
        seal=company_seal(),
    )


def settings_sweep(companies: CompanyRegistry) -> PeriodicSweep:
    """Compares the settings with those on the bus."""
    return PeriodicSweep(
        "settings on the bus", SETTINGS_RETRY_SECONDS, companies.refresh, idle_seconds=SETTINGS_SWEEP_SECONDS
    )


def serve(deps: Deps, companies: CompanyRegistry) -> None:
    service, sightings = deps.service, MongoSightings(deps.database["sightings"], deps.clock)

    async def get(request: company_rpc.CompanyRequest) -> company_rpc.CompanyReply:
        settings = await companies.get_with_deleted(request.company_id)
        if settings is not None and settings.deleted:
            return company_rpc.CompanyReply(deleted=settings.version)
        return company_rpc.CompanyReply(settings=settings)

    async def create(request: company_rpc.CompanyCreateRequest) -> company_rpc.CompanySaved:
        return company_rpc.CompanySaved(settings=await companies.create(request.config))

    async def patch(request: company_rpc.CompanyPatchRequest) -> company_rpc.CompanySaved:
        return company_rpc.CompanySaved(
            settings=await companies.patch(request.company_id, request.version, request.patch)
        )

    service.serve(company_rpc.COMPANY_GET, get)
    service.serve(company_rpc.COMPANY_CREATE, create)
    service.serve(company_rpc.COMPANY_PATCH, patch)
    service.serve(company_rpc.COMPANY_LIST, companies.page)
    service.serve(IDENTIFY, companies.identify)
    service.serve(company_rpc.SIGHTING_NOTE, sightings.note)
    service.serve(company_rpc.SIGHTINGS, sightings.of)


def serve_sign_in(deps: Deps, companies: CompanyRegistry) -> None:
    """Serves signing in to the console."""
    service = deps.service
    posting = WebhookPosting(seconds=REQUEST_TIMEOUT_SECONDS, local=deps.local)
    service.on_stop(posting.close)
    sign_ins = SignIns(companies, OpenIdProviders(posting, Seal(SealSettings()), deps.clock))

    async def begin(request: sign_in_rpc.SignInBegin) -> sign_in_rpc.SignInBegun:
        try:
            return sign_in_rpc.SignInBegun(address=await sign_ins.begin(request))
        except SignInRefusedError as refused:
            return sign_in_rpc.SignInBegun(problem=_problem(refused))

    async def finish(request: sign_in_rpc.SignInFinish) -> sign_in_rpc.SignInFinished:
        try:
            return sign_in_rpc.SignInFinished(signed_in=await sign_ins.finish(request))
        except SignInRefusedError as refused:
            return sign_in_rpc.SignInFinished(problem=_problem(refused))

    service.serve(sign_in_rpc.SIGN_IN_BEGIN, begin)
    service.serve(sign_in_rpc.SIGN_IN_FINISH, finish)


def _problem(refused: SignInRefusedError) -> sign_in_rpc.Problem:
    return sign_in_rpc.Problem(reason=refused.reason, detail=refused.detail[:500])
