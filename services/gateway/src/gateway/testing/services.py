"""For tests: stand-ins for the services behind the gateway that admins, human agents and customers use."""

import asyncio
import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson
from nats.aio.client import Client

from contracts import (
    agent_rpc,
    company_rpc,
    completion_rpc,
    failed_rpc,
    preview_rpc,
    replay_rpc,
)
from contracts.channels import fact
from contracts.company import CompanyConfig, CompanySettings, faults, read_config
from contracts.errors import ErrorCode
from contracts.events.chat import Usage
from contracts.merge_patch import merged_settings
from gateway.testing.own_tools import serve_own_tools
from runtime.calls.rpc import RpcServer
from runtime.calls.streamed_calls import ReplyStream, StreamServer
from runtime.errors import RpcError


@dataclass
class SettingsStandIn:
    """Stores settings like memory: created once, changed only from their newest version, published on the bus."""

    client: Client
    companies: dict[str, CompanySettings]

    async def start(self) -> None:
        """Starts answering."""
        server = RpcServer(self.client)
        await server.serve(company_rpc.COMPANY_CREATE, self._create)
        await server.serve(company_rpc.COMPANY_PATCH, self._patch)
        await server.serve(company_rpc.COMPANY_LIST, self._list)
        await server.serve(company_rpc.COMPANY_DELETE, self._delete)
        await server.serve(company_rpc.SIGHTINGS, self._sightings)
        await self.client.flush()

    async def _list(self, request: company_rpc.CompaniesRequest) -> company_rpc.CompaniesReply:
        names = [name for name in sorted(self.companies) if name > request.after]
        items = [self.companies[name] for name in names[: request.limit]]
        return company_rpc.CompaniesReply(items=items, more=len(names) > len(items))

    async def _sightings(self, _: company_rpc.CompanyRequest) -> company_rpc.SightingsReply:
        return company_rpc.SightingsReply(items=[])

    async def _delete(self, request: company_rpc.CompanyRequest) -> company_rpc.CompanyDeleted:
        return company_rpc.CompanyDeleted(deleted=self.companies.pop(request.company_id, None) is not None)

    async def _create(self, request: company_rpc.CompanyCreateRequest) -> company_rpc.CompanySaved:
        config = CompanyConfig.model_validate(request.config)
        if config.company_id in self.companies:
            raise RpcError(ErrorCode.CONFLICT, "there are settings already")
        return await self._save(config, 1)

    async def _patch(self, request: company_rpc.CompanyPatchRequest) -> company_rpc.CompanySaved:
        stored = self.companies[request.company_id]
        if stored.version != request.version:
            raise RpcError(ErrorCode.PRECONDITION_FAILED, "the settings have moved on")
        old_config = stored.config.model_dump(mode="json", by_alias=True)
        changed = merged_settings(copy.deepcopy(old_config), request.patch)
        if found_faults := faults(changed, old_config):
            raise RpcError(ErrorCode.BAD_FIELD, "some settings are wrong", fields=found_faults)
        config = read_config(changed)
        return await self._save(config, stored.version + 1)

    async def _save(self, config: CompanyConfig, version: int) -> company_rpc.CompanySaved:
        settings = CompanySettings(config=config, version=version)
        self.companies[config.company_id] = settings
        subject = fact("company.config.changed.v1", config.company_id, None)
        await self.client.publish(subject, orjson.dumps({"data": settings.to_wire()}))
        return company_rpc.CompanySaved(settings=settings)


@dataclass
class WritersStandIn:
    """Answers the agent's methods and records its requests. If `error` is set, it is the answer."""

    client: Client
    error: RpcError | None = None
    suggested: list[agent_rpc.SuggestRequest] = field(default_factory=list[agent_rpc.SuggestRequest])
    explained: list[preview_rpc.ExplainRequest] = field(default_factory=list[preview_rpc.ExplainRequest])
    replayed: list[replay_rpc.ReplayRequest] = field(default_factory=list[replay_rpc.ReplayRequest])
    improved: list[agent_rpc.ImproveRequest] = field(default_factory=list[agent_rpc.ImproveRequest])

    async def start(self) -> None:
        """Starts answering."""
        server = RpcServer(self.client)
        await server.serve(agent_rpc.PROVIDERS, self._providers)
        await server.serve(agent_rpc.SUGGEST, self._suggest)
        await server.serve(agent_rpc.IMPROVE, self._improve)
        await server.serve(preview_rpc.PROMPT, self._prompt)
        await server.serve(preview_rpc.TRY, self._try)
        await server.serve(preview_rpc.SITE_CHECK, self._check)
        await serve_own_tools(server)
        await server.serve(preview_rpc.EXPLAIN, self._explain)
        await server.serve(replay_rpc.REPLAY, self._replay)
        await server.serve(replay_rpc.CASE, self._case)
        await server.serve(failed_rpc.FAILED_TURNS, self._failed)
        await self.client.flush()

    async def _providers(self, _: agent_rpc.ProvidersRequest) -> agent_rpc.ProvidersReply:
        model = agent_rpc.ModelView(id="llama-3.3-70b-versatile", default=True, params="70B", context_window=131_072)
        scout = agent_rpc.ModelView(id="meta-llama/llama-4-scout-17b-16e-instruct", aliases=["scout"])
        groq = agent_rpc.ProviderView(id="groq", configured=False, models=[model, scout])
        compatible = agent_rpc.ProviderView(id="compatible", configured=False, models=[])
        return agent_rpc.ProvidersReply(providers=[groq, compatible])

    async def _suggest(self, request: agent_rpc.SuggestRequest) -> agent_rpc.SuggestReply:
        self.suggested.append(request)
        if self.error is not None:
            raise self.error
        return agent_rpc.SuggestReply(suggestions=["one", "two", "three"], model="scripted")

    async def _improve(self, request: agent_rpc.ImproveRequest) -> agent_rpc.ImproveReply:
        self.improved.append(request)
        if self.error is not None:
            raise self.error
        return agent_rpc.ImproveReply(text=request.text.upper(), model="scripted")

    async def _prompt(self, request: preview_rpc.PromptRequest) -> preview_rpc.PromptReply:
        text = request.config.custom_system_prompt or "the base"
        return preview_rpc.PromptReply(layers=[preview_rpc.PromptLayer(name="base", text=text)], tools=[], tokens=3)

    async def _try(self, request: preview_rpc.TryRequest) -> preview_rpc.TryReply:
        if self.error is not None:
            raise self.error
        text = f"{request.question} at {request.config.temperature}"
        return preview_rpc.TryReply(text=text, model="m", provider="p", tools=[], citations=[], usage=Usage())

    async def _check(self, request: preview_rpc.SiteCheckRequest) -> preview_rpc.SiteCheckReply:
        return preview_rpc.SiteCheckReply(allowed=request.address in request.tool_config.allowed_paths)

    async def _failed(self, request: failed_rpc.FailedTurnsRequest) -> failed_rpc.FailedTurnsReply:
        """Returns endless pages of one turn, whose id contains the company and the requested position."""
        turn = failed_rpc.FailedTurn(
            turn_id=f"{request.company_id}-{request.before or 100}",
            conversation_id="c1",
            basis=7,
            code="LLM_UNAVAILABLE",
            detail="no model",
            attempts=2,
            failed_at=datetime(2026, 1, 1, tzinfo=UTC),
            open=True,
        )
        return failed_rpc.FailedTurnsReply(items=[turn], before=(request.before or 100) - 1)

    async def _replay(self, request: replay_rpc.ReplayRequest) -> replay_rpc.ReplayReply:
        """Returns a replayed text that contains the requested prompt and model."""
        self.replayed.append(request)
        side = replay_rpc.ReplaySide(
            text="said", model="m", provider="p", prompt_tokens=1, completion_tokens=1, latency_ms=1.0, tools=[]
        )
        replayed = side.model_copy(update={"text": f"{request.prompt} by {request.model}"})
        turn = replay_rpc.ComparedTurn(
            turn_id=request.turn_id,
            question="?",
            recorded=side,
            replayed=replayed,
            same_text=False,
            same_tools=True,
            identical=False,
        )
        return replay_rpc.ReplayReply(turn=turn)

    async def _case(self, request: preview_rpc.TurnRequest) -> replay_rpc.CaseReply:
        return replay_rpc.CaseReply(case=replay_rpc.MadeCase(name=request.turn_id, toml=f"of = '{request.user_id}'\n"))

    async def _explain(self, request: preview_rpc.ExplainRequest) -> preview_rpc.ExplainReply:
        """Returns a record for every turn, with the requesting user in place of the provider."""
        self.explained.append(request)
        turn = preview_rpc.ExplainedTurn(
            turn_id=request.turn_id,
            outcome="answered",
            model="m",
            provider=request.user_id or "nobody",
            config_version=1,
            usage=Usage(),
            latency_ms=5,
            attempts=1,
            discarded=0,
            offered=[],
            calls=[],
            citations=[],
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        return preview_rpc.ExplainReply(turn=turn)


@dataclass
class CompletionsStandIn:
    """Answers completions with its texts, or with `corrected` when it is asked without tools, then ends or fails. It
    waits for `hold`, if set, before it begins."""

    client: Client
    texts: list[str] = field(default_factory=lambda: ["One ", "two."])
    corrected: list[str] | None = None
    end: completion_rpc.CompletionEnd = field(
        default_factory=lambda: completion_rpc.CompletionEnd(
            finish_reason="stop", model="scripted", usage=Usage(prompt_tokens=7, completion_tokens=2)
        )
    )
    error: RpcError | None = None
    hold: asyncio.Event | None = None
    asked: list[completion_rpc.CompleteRequest] = field(default_factory=list[completion_rpc.CompleteRequest])
    given_up: int = 0

    async def start(self) -> None:
        """Starts answering."""
        await RpcServer(self.client).serve(completion_rpc.MODELS, self._models)
        await StreamServer(self.client).serve(completion_rpc.COMPLETE, self._complete)
        await self.client.flush()

    async def _models(self, _: completion_rpc.ModelsRequest) -> completion_rpc.ModelsReply:
        names = (("nexus", "nexus"), ("org/model-1", "groq"))
        return completion_rpc.ModelsReply(
            models=[completion_rpc.ModelName(id=name, provider=provider) for name, provider in names]
        )

    async def _complete(
        self, request: completion_rpc.CompleteRequest, replies: ReplyStream[completion_rpc.CompletePart]
    ) -> None:
        self.asked.append(request)
        try:
            if self.hold is not None:
                await self.hold.wait()
            for text in self.corrected if self.corrected and request.tool_choice == "none" else self.texts:
                await replies.send(completion_rpc.CompletePart(text=text))
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.error is not None:
            raise self.error
        await replies.send(completion_rpc.CompletePart(end=self.end))
