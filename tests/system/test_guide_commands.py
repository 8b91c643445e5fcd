"""The guide's commands, run in the order in which a reader meets them."""

import asyncio
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nexus_cli.main import app
from tests.support.own_site import own_site
from tests.support.running_stack import RunningStack

GUIDE = Path(__file__).parents[2] / "docs/guide"
PAGES = {
    "en": "first-answer your-knowledge your-assistant your-tools your-users your-team your-model other-systems "
    "running-it",
    "es": "primera-respuesta tu-conocimiento tu-asistente tus-herramientas tus-usuarios tu-equipo tu-modelo "
    "otros-sistemas ponlo-en-marcha",
}


def commands(language: str) -> list[str]:
    """The lines of the pages' shell blocks that are commands of ours; the deletion, by which one page ends, last."""
    texts = [(GUIDE / language / f"{page}.md").read_text() for page in PAGES[language].split()]
    blocks = [block for text in texts for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("nexus ")]
    return sorted(lines, key=lambda line: line.startswith("nexus company delete"))


@pytest.mark.parametrize("language", PAGES)
async def test_every_command_of_the_guide_does_what_it_says(
    stack: RunningStack, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a copy is written where one is
    lines = commands(language)
    assert len(lines) == 38
    said: dict[str, str] = {}
    spoken = {**stack.env, "LC_ALL": {"en": "en_GB.UTF-8", "es": "es_ES.UTF-8"}[language]}
    async with own_site() as site:
        for line in lines:
            given = shlex.split(line.replace("https://www.example.com", site))[1:]
            done = await asyncio.to_thread(CliRunner().invoke, app, [*given, "--data", str(stack.data)], env=spoken)
            assert done.exit_code == 0, f"{line}: {done.output}"
            said[line] = done.output
    for asked, answer in (
        ("knowledge search hours --company no-such --locale en", "there is no company no-such"),
        ("erase user ana --company no-such --yes --locale es", "no hay ninguna empresa no-such"),
        ("company show no-such --locale en", "no such company"),
        ("company set no-such profile=support --locale en", "no such company"),
        ("company get demo no.such --locale en", "no.such: there is no such setting"),
        ("company get demo profile.x --locale en", "profile.x: there is no such setting"),
        (f"company new Demo --site {site} --locale en", "there is a company demo already: choose another name"),
    ):
        given = [*asked.split(), "--data", str(stack.data)]
        refused = await asyncio.to_thread(CliRunner().invoke, app, given, env=stack.env)
        assert (refused.exit_code, answer in refused.stderr) == (1, True), refused.stderr
    asked = ["company", "delete", "no-such", "--locale", "es", "--data", str(stack.data)]
    for word, answer in (("sí\n", "no existe esa empresa"), ("\n", "no se ha eliminado nada")):
        refused = await asyncio.to_thread(CliRunner().invoke, app, asked, env=stack.env, input=word)
        assert (refused.exit_code, answer in refused.stderr) == (1, True), refused.stderr
    env = await asyncio.to_thread(CliRunner().invoke, app, ["env", "--data", str(stack.data)], env=stack.env)
    assert f"export NEXUS_URL={stack.url}\n" in env.output
    assert "export NEXUS_TOKEN=ey" in env.output
    first, last = said[lines[0]], said[lines[-1]]
    assert "9 a 14" in first
    assert "/console#token=" in first
    assert ("is deleted" if language == "en" else "eliminada") in last
    other = {"en": ("falta", "empresa", "Todavía"), "es": ("missing", "company  ", "page(s)")}[language]
    assert [word for word in other if word in first] == []
    assert '"state": "sent"' in next(text for line, text in said.items() if "company call" in line)
    assert "free_slots" in next(text for line, text in said.items() if "mcp-tools" in line)
    assert "house-1 (compatible) " in next(text for line, text in said.items() if "check-model" in line)
    secrets = ("my-secret", "my-key", "my-client-secret", "-32-c", "my-webhook-secret", "my-bot")
    assert not any(secret in text for text in said.values() for secret in secrets)
    assert "9 a 14" in next(text for line, text in said.items() if "knowledge search" in line)
    assert f"{'warning' if language == 'en' else 'aviso':<9} budget.whenSpent" in next(
        text for line, text in said.items() if "cheaper_model" in line
    )


@pytest.mark.parametrize(("here", "there"), [("en", "es"), ("es", "en")])
def test_every_page_of_the_guide_is_linked_in_both_languages(here: str, there: str) -> None:
    index = (GUIDE / "README.md").read_text()
    pages = sorted(page.name for page in (GUIDE / here).iterdir())
    assert [page for page in pages if f"({here}/{page})" not in index] == []
    assert len(pages) == len(list((GUIDE / there).iterdir()))
