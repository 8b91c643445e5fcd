"""The doors for other protocols, a line for each. Adding a door changes only its own folder and this table.

MCP is mounted separately (application.py): its library brings its own application.
"""

from fastapi import APIRouter

from gateway.doors.a2a.route import router as a2a
from gateway.doors.agui.route import router as agui
from gateway.doors.chatwoot.route import router as chatwoot
from gateway.doors.completions.route import router as completions
from gateway.doors.responses.router import router as responses
from gateway.doors.ui.route import router as ui

DOORS: tuple[APIRouter, ...] = (completions, responses, agui, a2a, ui, chatwoot)
