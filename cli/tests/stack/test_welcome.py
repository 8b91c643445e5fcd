"""What `nexus up` says when all is ready."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from nexus_cli.commands.options import DEFAULT_DATA
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.welcome import welcome
from runtime.auth.tokens import TokenVerifier
from runtime.settings import TokenSettings

SECRET = "s" * 40


@pytest.mark.parametrize("detached", [False, True])
async def test_a_newcomer_reads_where_it_is_what_to_try_where_it_writes_and_how_it_ends(detached: bool) -> None:
    lines = welcome("http://127.0.0.1:8080/", DataDirectory(Path("my data")), SECRET, detached=detached)
    link = lines[0].split()[-1]
    assert link.startswith("http://127.0.0.1:8080/console#token=")
    who = await TokenVerifier(TokenSettings(jwt_secret=SecretStr(SECRET))).verify(link.partition("#token=")[2])
    assert (who.role, who.company) == ("admin", "demo")
    assert len([line for line in lines if line.startswith("try ")]) == 3
    text = "\n".join(lines)
    assert "my data/logs" in text
    assert ("down --data" in text) is detached
    assert ("Ctrl-C" in text) is not detached


def test_where_it_is_when_nothing_is_said_needs_no_saying() -> None:
    assert "--data" not in "\n".join(
        welcome("http://127.0.0.1:8080/", DataDirectory(DEFAULT_DATA), SECRET, detached=True)
    )
