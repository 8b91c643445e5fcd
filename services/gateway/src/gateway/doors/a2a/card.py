"""GET /.well-known/agent-card.json: who this agent is, what it can do and how to call it."""

import hashlib

import orjson
from fastapi import APIRouter, Request, Response

from gateway.domain.file_kinds import ACCEPTED_TYPES
from gateway.doors.a2a.rpc import PROTOCOL, Json
from gateway.doors.door_route import DoorRoute
from gateway.web.response_headers import described_headers

router = APIRouter(tags=["a2a"], route_class=DoorRoute)
CARD_PATH = "/.well-known/agent-card.json"
PATH = "/a2a"
VERSION = "2.0"
CACHE_SECONDS = 300
"""Seconds for which a client may cache the card."""


def card(origin: str) -> Json:
    """The agent's card, with `origin` as its address."""
    return {
        "name": "Nexus assistant",
        "description": "Answers customers of a company from its knowledge, market data and their own account; "
        "proposes paper orders, which its user confirms; hands over to people.",
        "version": VERSION,
        "supportedInterfaces": [{"url": origin + PATH, "protocolBinding": "JSONRPC", "protocolVersion": PROTOCOL}],
        "provider": {"organization": "Nexus", "url": origin},
        "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": list(ACCEPTED_TYPES),
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [
            {
                "id": "conversation",
                "name": "Conversation",
                "description": "Answers questions in the customer's language, with sources where it has read them.",
                "tags": ["chat", "support"],
                "examples": ["When are you open?", "¿Cómo puedo pagar?"],
            },
            {
                "id": "paper-orders",
                "name": "Paper orders",
                "description": "Proposes a simulated order and places it after its user's yes (input-required).",
                "tags": ["market", "orders", "confirmation"],
                "examples": ["Buy 3 IBM at market"],
                "inputModes": ["text/plain", "application/json"],
            },
        ],
    }


@router.get(CARD_PATH, responses={200: described_headers("ETag")})
async def get_card(request: Request) -> Response:
    """The agent's card (A2A 1.0). It names the address that it was asked for at."""
    body = orjson.dumps(card(f"{request.url.scheme}://{request.headers.get('host', '')}"))
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"Cache-Control": f"private, max-age={CACHE_SECONDS}", "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)
