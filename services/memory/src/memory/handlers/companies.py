"""Companies: their settings, the pages that show their chat, their users' identities, and signing in to the console.

Deleting a company is in erasure.py.
"""

from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_GET,
    COMPANY_LIST,
    COMPANY_PATCH,
    SIGHTING_NOTE,
    SIGHTINGS,
    CompaniesReply,
    CompaniesRequest,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyReply,
    CompanyRequest,
    CompanySaved,
    SightingNoted,
    SightingsReply,
)
from contracts.identity_rpc import IDENTIFY, IdentifyReply, IdentifyRequest
from contracts.sign_in_rpc import (
    SIGN_IN_BEGIN,
    SIGN_IN_FINISH,
    Problem,
    SignInBegin,
    SignInBegun,
    SignInFinish,
    SignInFinished,
)
from memory.adapters.mongo_sightings import MongoSightings
from memory.adapters.openid_provider import SECONDS, OpenIdProviders
from memory.adapters.webhook_client import WebhookPosting
from memory.application.companies import CompanyRegistry
from memory.application.sign_in import SignIns
from memory.deps import Deps
from memory.domain.identity import IdentityRefusedError
from memory.domain.openid import SignInRefusedError
from runtime.auth.seal import Seal
from runtime.settings import SealSettings


def serve(deps: Deps, companies: CompanyRegistry) -> None:
    service, clock = deps.service, deps.clock
    sightings = MongoSightings(deps.asked["sightings"])

    async def get(request: CompanyRequest) -> CompanyReply:
        kept = await companies.kept(request.company_id)
        if kept is not None and kept.deleted:
            return CompanyReply(deleted=kept.version)
        return CompanyReply(settings=kept)

    async def create(request: CompanyCreateRequest) -> CompanySaved:
        return CompanySaved(settings=await companies.create(request.config))

    async def patch(request: CompanyPatchRequest) -> CompanySaved:
        return CompanySaved(settings=await companies.patch(request.company_id, request.version, request.patch))

    async def page(request: CompaniesRequest) -> CompaniesReply:
        items, more = await companies.page(request.after, request.limit)
        return CompaniesReply(items=items, more=more)

    async def identify(request: IdentifyRequest) -> IdentifyReply:
        try:
            return IdentifyReply(user=await companies.identify(request.company_id, request.token))
        except IdentityRefusedError as error:
            return IdentifyReply(problem=str(error))

    async def note(request: SightingNoted) -> SightingsReply:
        await sightings.note(request.company_id, request.origin, clock.now())
        return SightingsReply(items=await sightings.of(request.company_id))

    async def seen(request: CompanyRequest) -> SightingsReply:
        return SightingsReply(items=await sightings.of(request.company_id))

    service.serve(COMPANY_GET, get)
    service.serve(COMPANY_CREATE, create)
    service.serve(COMPANY_PATCH, patch)
    service.serve(COMPANY_LIST, page)
    service.serve(IDENTIFY, identify)
    service.serve(SIGHTING_NOTE, note)
    service.serve(SIGHTINGS, seen)


def serve_sign_in(deps: Deps, companies: CompanyRegistry) -> None:
    """Signing in to the console."""
    service = deps.service
    posting = WebhookPosting(seconds=SECONDS, local=deps.local)
    service.on_stop(posting.close)
    sign_ins = SignIns(companies, OpenIdProviders(posting, Seal(SealSettings()), deps.clock))

    async def begin(request: SignInBegin) -> SignInBegun:
        try:
            return SignInBegun(address=await sign_ins.begin(request))
        except SignInRefusedError as refused:
            return SignInBegun(problem=Problem(reason=refused.reason, detail=refused.detail[:500]))

    async def finish(request: SignInFinish) -> SignInFinished:
        try:
            return SignInFinished(signed_in=await sign_ins.finish(request))
        except SignInRefusedError as refused:
            return SignInFinished(problem=Problem(reason=refused.reason, detail=refused.detail[:500]))

    service.serve(SIGN_IN_BEGIN, begin)
    service.serve(SIGN_IN_FINISH, finish)
