"""Open Responses: POST /v1/responses and what belongs to it (https://www.openresponses.org/specification).

Followed: the specification's text of 2026-04-24 and OpenAI's reference as its client 3.52 has it; what is left out and
why is in docs/architecture/doors.md.
"""
