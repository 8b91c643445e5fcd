"""Open Responses: POST /v1/responses and what belongs to it (https://www.openresponses.org/specification).

Follows the specification of 2026-04-24 and OpenAI's reference as of its client 3.52. docs/architecture/doors.md says
what is left out and why.
"""
