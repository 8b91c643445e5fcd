"""Runs one agent process: settings from the environment, health, draining."""

from agent.app import Agent, AgentConnections
from agent.settings import AgentSettings, ModelSettings
from contracts.streams import CHAT, FACTS, TOOLS, TURNS
from runtime.auth.principals import Principal, PrincipalVerifier
from runtime.lifecycle.service import Service
from runtime.settings import DevSettings, DrainSettings, LogSettings, MarkSettings, NatsSettings, TokenSettings


async def serve() -> None:
    """Runs the service until SIGTERM; raises NotReadyError if it cannot start."""
    settings, drain = AgentSettings(), DrainSettings()
    service = Service(
        "agent",
        nats=NatsSettings(),
        port=settings.port,
        host=DevSettings().bind_host,
        logging=LogSettings(),
        drain=drain,
        marks=MarkSettings(),
    )
    service.writes(CHAT, TURNS, TOOLS, FACTS)

    async def build() -> None:
        verifier = PrincipalVerifier(TokenSettings())

        def verify(token: str) -> Principal:
            # An expired principal still proves who wrote; the executor decides whether it may still act.
            return verifier.verify(token, expired_too=True)

        agent = Agent(AgentConnections(service.nats, verify, ModelSettings(), loopback=DevSettings().dev), settings)
        service.on_reconnect(agent.reconnected)
        service.add_check("turns", agent.listening)
        service.add_check("settings", agent.settings.check)
        service.add_check("principals", verifier.check)
        service.before_metrics(agent.waiting.refresh)
        for worker in agent.workers:
            service.watch(worker.name, worker.stuck_because)
        service.watch("sweep", agent.sweep.stuck_because)
        service.on_drain(lambda: agent.drain(drain.deadline - 3.0))
        await agent.start()

    service.on_start(build)
    await service.run()
