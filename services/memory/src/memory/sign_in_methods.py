"""The methods of signing in to the console."""

from contracts.sign_in_rpc import (
    SIGN_IN_BEGIN,
    SIGN_IN_FINISH,
    Problem,
    SignInBegin,
    SignInBegun,
    SignInFinish,
    SignInFinished,
)
from memory.adapters.openid_provider import SECONDS, OpenIdProviders
from memory.adapters.webhook_client import WebhookPosting
from memory.application.companies import CompanyRegistry
from memory.application.sign_in import SignIns
from memory.domain.openid import SignInRefused
from runtime.clock import Clock
from runtime.seal import Seal
from runtime.service import Service
from runtime.settings import SealSettings


def serve(service: Service, companies: CompanyRegistry, clock: Clock, *, local: bool) -> None:
    """Serves them. `local`: a provider may be on this machine."""
    posting = WebhookPosting(seconds=SECONDS, local=local)
    service.on_stop(posting.close)
    sign_ins = SignIns(companies, OpenIdProviders(posting, Seal(SealSettings()), clock))

    async def begin(request: SignInBegin) -> SignInBegun:
        try:
            return SignInBegun(address=await sign_ins.begin(request))
        except SignInRefused as refused:
            return SignInBegun(problem=Problem(reason=refused.reason, detail=refused.detail[:500]))

    async def finish(request: SignInFinish) -> SignInFinished:
        try:
            return SignInFinished(signed_in=await sign_ins.finish(request))
        except SignInRefused as refused:
            return SignInFinished(problem=Problem(reason=refused.reason, detail=refused.detail[:500]))

    service.serve(SIGN_IN_BEGIN, begin)
    service.serve(SIGN_IN_FINISH, finish)
