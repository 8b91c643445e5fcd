"""Texts for people: each service has a file a language, and one more file is one more language."""

import ast
import re
import shutil
import string
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from contracts.text import Text, read_texts

ROOT = Path(__file__).resolve().parent.parent
_TABLES = {"analysis_text": "analysis.", "note": "analysis.note."}
"""The tables of the functions of `agent.domain.analysis.texts`."""
FOLDERS = sorted({path.parent for path in ROOT.glob("*/*/src/*/texts/__init__.py")} | set(ROOT.glob("cli/src/*/texts")))


def texts_in(file: Path) -> dict[str, str]:
    """Its texts by their whole keys."""

    def flat(table: dict[str, Any], prefix: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, value in table.items():
            found |= {prefix + key: value} if isinstance(value, str) else flat(value, f"{prefix}{key}.")
        return found

    return flat(tomllib.loads(file.read_text(encoding="utf-8")), "")


def places(text: str) -> set[str]:
    """The names in braces."""
    return {name.split(".")[0] for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.parent.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_language_says_the_same_texts_with_the_same_values(folder: Path) -> None:
    spanish, english = texts_in(folder / "es.toml"), texts_in(folder / "en.toml")
    assert spanish.keys() == english.keys()
    assert {key for key in english if places(spanish[key]) != places(english[key])} == set()


def test_code_uses_every_text_and_no_other_and_fills_every_place(folder: Path) -> None:
    texts = texts_in(folder / "en.toml")
    used, begun, misfilled = set[str](), set[str](), set[str]()
    for file in folder.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Subscript(value=ast.Name("TEXTS"), slice=ast.Constant(str(key))):
                    used.add(key)
                case ast.Subscript(value=ast.Name("TEXTS"), slice=ast.JoinedStr(values=[ast.Constant(str(start)), *_])):
                    begun.add(start)
                case ast.Subscript(value=ast.Name("TEXTS"), slice=choice):
                    used |= texts.keys() & {one.value for one in ast.walk(choice) if isinstance(one, ast.Constant)}
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("TEXTS"), attr="section"), args=[ast.Constant(str(key))]
                ):
                    begun.add(f"{key}.")
                case ast.Call(
                    func=ast.Name("analysis_text" | "note" as name), args=[choice, *_], keywords=keywords
                ) if file.parent.name == "analysis":
                    table, given = _TABLES[name], {keyword.arg for keyword in keywords}
                    match choice:
                        case ast.JoinedStr(values=[ast.Constant(str(start)), *_]):
                            begun.add(table + start)
                        case _:
                            keys = {table + str(one.value) for one in ast.walk(choice) if isinstance(one, ast.Constant)}
                            used |= keys if isinstance(choice, ast.Constant) else keys & texts.keys()
                            misfilled |= {key for key in keys & texts.keys() if given != places(texts[key])}
                case ast.Call(func=ast.Attribute(attr="format"), keywords=[_, *_] as keywords):
                    given, key = {keyword.arg for keyword in keywords}, _filled(node)
                    if key is not None and None not in given and given != places(texts[key]):
                        misfilled.add(key)
                case _:
                    pass
    assert used - texts.keys() == set()
    assert {key for key in texts if key not in used and not key.startswith(tuple(begun))} == set()
    assert misfilled == set()


def _filled(call: ast.Call) -> str | None:
    """The key in `TEXTS[key].format(…)` and `TEXTS[key].in_language(…).format(…)`."""
    match call.func:
        case ast.Attribute(
            value=ast.Subscript(value=ast.Name("TEXTS"), slice=ast.Constant(str(key)))
            | ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(value=ast.Name("TEXTS"), slice=ast.Constant(str(key))), attr="in_language"
                )
            )
        ):
            return key
        case _:
            return None


def test_a_third_language_is_its_tag_and_its_files(tmp_path: Path) -> None:
    for package in ("libs/contracts/src/contracts", "services/tool-executor/src/tool_executor",
                    "services/gateway/src/gateway", "services/agent/src/agent"):  # fmt: skip
        copy = tmp_path / Path(package).name
        shutil.copytree(ROOT / package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    _add_portuguese(tmp_path)
    program = (
        "from agent.domain.prompt.layers import VisitorInfo, system_prompt\n"
        "from contracts.company import faults\n"
        "from contracts.ids import ID_PATTERN\n"
        "from gateway.domain.error_language import in_language\n"
        "from gateway.web.console import console_routes\n"
        "from gateway.web.docs.guide import guide\n"
        "from gateway.web.pages import page_routes\n"
        "from tool_executor.adapters.schema_messages import pattern_message\n"
        "from tool_executor.texts import TEXTS\n"
        "print(faults({'companyId': 'acme', 'languages': ['pt'], 'assistant': {'greeting': {'pt': 'Olá'}}}))\n"
        "print({'/es/help', '/help', '/pt/help'} <= {route.path for route in page_routes()})\n"
        "print(guide('pt')[0].path, len(console_routes(dev=True)) > 0)\n"
        "print(in_language('there is no such page', 'pt'))\n"
        "print(pattern_message(ID_PATTERN, None).in_language('pt-BR'))\n"
        "print(TEXTS['call.timeout'].format(tool='x', seconds=5).in_language('pt'))\n"
        "print(TEXTS['call.failed'].format(tool='x').in_language('pt'), TEXTS['call.failed'].in_language('en'))\n"
        "visitor = VisitorInfo('/', None, 2)\n"
        "print(*system_prompt('pt', custom='És o Max.', visitor=visitor, tool_names=()).split('\\n'))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert said.stdout.splitlines() == [
        "[]", "True", "/docs/pt/first-answer True", "não existe essa página",
        "não é um id", "x não respondeu a tempo (5 s).", "x ha fallado. {tool} failed.",
        "És o Max.  Responde em poucas palavras.  Sobre el visitante: - página atual: / - número de visitas: 2",
    ], said.stderr  # fmt: skip


def _add_portuguese(tree: Path) -> None:
    """What docs/architecture/README.md lists for a language, as far as these packages have it."""
    languages = tree / "contracts/languages.py"
    listed = languages.read_text().replace('Literal["es", "en"]', 'Literal["es", "en", "pt"]')
    languages.write_text(listed.replace('    "en": (', '    "pt": "não é você",\n    "en": ('))
    tool = '[call]\ntimeout = "{tool} não respondeu a tempo ({seconds} s)."\n[schema.forms]\nid = "não é um id"\n'
    (tree / "tool_executor/texts/pt.toml").write_text(tool, encoding="utf-8")
    error = '"there is no such page" = "não existe essa página"\n'
    (tree / "gateway/texts/errors.pt.toml").write_text(error, encoding="utf-8")
    prompt = '[prompt]\nbrevity = "Responde em poucas palavras."\n[prompt.visitor]\npage = "página atual"\n'
    (tree / "agent/texts/pt.toml").write_text(prompt, encoding="utf-8")
    site = tree / "gateway/site"
    shutil.copy(site / "words/en.json", site / "words/pt.json")
    for pages in ("", "guide"):
        shutil.copytree(site / pages / "en", site / pages / "pt")
    index = site / "guide/README.md"
    index.write_text(re.sub(r"\(en/([\w-]+\.md)\)", r"\g<0> | [texto](pt/\1)", index.read_text()))


def test_a_text_is_put_into_another_in_each_language(tmp_path: Path) -> None:
    (tmp_path / "es.toml").write_text('[a]\nb = "hoy {what}, {count:.1f}"\n', encoding="utf-8")
    (tmp_path / "en.toml").write_text('[a]\nb = "{what} today, {count:.1f}"\n', encoding="utf-8")
    text = read_texts(tmp_path)["a.b"].format(what=Text(es="no", en="nothing"), count=2)
    assert (text.in_language("es-MX"), text.in_language("en"), text.in_language("fr"), str(text)) == (
        "hoy no, 2.0", "nothing today, 2.0", "hoy no, 2.0", "nothing today, 2.0"
    )  # fmt: skip


def test_what_a_crawl_tells_is_put_into_spanish_in_the_executors_own_words() -> None:
    executor = ROOT / "services/tool-executor/src/tool_executor/texts"
    english, spanish = texts_in(executor / "en.toml"), texts_in(executor / "es.toml")
    shown = tomllib.loads((ROOT / "services/gateway/src/gateway/texts/errors.es.toml").read_text(encoding="utf-8"))
    anonymous = [{key: re.sub(r"\{[^}]+\}", "{}", said) for key, said in texts.items()} for texts in (english, spanish)]
    told = {key for key in english if key.startswith(("page.", "document."))}
    told -= {"page.no_text", "page.not_text", "document.gone", "document.unreadable_kind"}  # of tools alone
    told |= {f"site.{one}" for one in ("no_site", "unreadable", "no_address", "no_origin", "other_site", "page_closed")}
    assert {key for key in told if shown.get(anonymous[0][key]) != anonymous[1][key]} == set()
