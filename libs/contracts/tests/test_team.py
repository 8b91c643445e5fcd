"""Whose token counts, by the settings alone: also where somebody has changed the team with a plain patch."""

from datetime import UTC, datetime

import pytest

from contracts.team import Member, Team

OUT = datetime(2026, 5, 1, 12, tzinfo=UTC)
AT = OUT.timestamp()
TEAM = Team(members={"ana": Member(role="admin")}, signed_out={"ana": OUT, "elena": OUT})


@pytest.mark.parametrize(
    ("user", "role", "issued", "member", "counts"),
    [
        ("ana", "admin", AT + 0.001, True, True),
        ("ana", "admin", AT, True, False),
        ("ana", "commercial", AT + 1, True, False),
        ("bea", "admin", AT + 1, True, False),
        ("bea", "admin", 0, False, True),
        ("elena", "commercial", 0, False, False),
        ("elena", "commercial", AT + 1, False, True),
    ],
)
def test_a_token_counts_while_its_member_is_who_it_says_and_it_is_newer_than_the_last_sign_out(
    user: str, role: str, issued: float, member: bool, counts: bool
) -> None:
    assert TEAM.is_valid_for(user, role, issued, member=member) is counts
