"""widget.js out of its parts: the modules of site/widget joined into one classic script, so that a host page needs one
tag and one request. There is no build: this happens when the server starts, and what is served is what is in the files.

A module says `import { a, b } from "./other.js";` and `export` before its declarations, as in any browser. The parts
stand behind what they import; imports and the word `export` are left out. All parts share one scope, so no two of them
may declare the same name: that is refused here. What only readers of the source need is not sent: comments and
indentation (so no text goes over several lines).
"""

import json
import re
from collections.abc import Mapping
from functools import cache

from contracts.languages import LANGUAGES
from gateway.web.words import SITE, words

ENTRY = "main.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<module>[a-z_-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|let|function|class|async) )", re.MULTILINE)
_DECLARED = re.compile(r"^(?:const|let|function|class|async function) (?P<name>[A-Za-z_$][\w$]*)", re.MULTILINE)
_SEVERAL = re.compile(r"^(?:const|let) [^({\n]*;$", re.MULTILINE)
_ANOTHER = re.compile(r", (?P<name>[A-Za-z_$][\w$]*) =")
_COMMENT = re.compile(r"^\s*/\*(?s:.*?)\*/\n|^\s*//.*\n", re.MULTILINE)
_REMARK = re.compile(r"[ \t]+// [^\n\"'`]*$|/\* [^\n\"'`]*? \*/", re.MULTILINE)
"""Behind or within a line. No text holds one: its closing quote would come behind it, on the same line."""
_BETWEEN = "|"
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"(?P<name>--[a-z0-9-]+):[^;}]*;?")
_USED = re.compile(r"--[a-z0-9-]+(?=[)\"'`,])")
"""The pages' tokens are more than the widget's: what it does not use is not sent."""
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_CSS_SPACE = re.compile(r"\s*([{};,>])\s*|(?<=:)\s+|\s+(?=!)")


@cache
def widget_script() -> bytes:
    """The whole script, in UTF-8.

    Raises:
        ValueError: modules import each other in a circle, or declare a name twice.
    """
    parts: dict[str, str] = {}
    _add(ENTRY, parts, ())
    names = [name for source in parts.values() for name in _declared(source)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"widget.js: declared in two modules: {', '.join(twice)}")
    return ('(() => {\n"use strict";\n' + "".join(map(_for_machines, parts.values())) + "})();\n").encode()


def _add(module: str, parts: dict[str, str], above: tuple[str, ...]) -> None:
    if module in parts:
        return
    if module in above:
        raise ValueError(f"widget.js: a circle of imports: {' -> '.join((*above, module))}")
    source = _source(module)
    for wanted in _IMPORT.finditer(source):
        _add(wanted["module"], parts, (*above, module))
    parts[module] = _EXPORT.sub("", _IMPORT.sub("", source))


def _for_machines(source: str) -> str:
    return _INDENT.sub("", _REMARK.sub("", _COMMENT.sub("", source)))


def _declared(source: str) -> list[str]:
    several = [name for line in _SEVERAL.findall(source) for name in _ANOTHER.findall(line)]
    return _DECLARED.findall(source) + several


def _source(module: str) -> str:
    if module == "words.js":
        return _words({language: words(language, "widget") for language in sorted(LANGUAGES)})
    if module == "style.js":
        return f"export const STYLE = {_js(_styles())};\n"
    return (SITE / "widget" / module).read_text(encoding="utf-8")


def _words(texts: Mapping[str, Mapping[str, str]]) -> str:
    """The names once, and each language's texts in their order: the script is small on the wire."""
    names = list(next(iter(texts.values())))
    lists = {language: _BETWEEN.join(one[name] for name in names) for language, one in texts.items()}
    if any(one.count(_BETWEEN) != len(names) - 1 for one in lists.values()):
        raise ValueError(f"widget.js: a text has the sign {_BETWEEN}")
    return (
        f"const LISTS = {_js({'names': _BETWEEN.join(names), **lists})}, WORDS = {{}};\n"
        f"const listed = (name) => LISTS[name].split({_js(_BETWEEN)});\n"
        'for (const name of Object.keys(LISTS)) WORDS[name] = Object.fromEntries(listed("names").map((one, at) => '
        "[one, listed(name)[at]]));\n"
    )


def _styles() -> str:
    widget = SITE / "widget"
    sheets = (SITE / "static" / "tokens.css", widget / "widget.css", widget / "charts.css")
    style = "".join(_tight(_CSS_COMMENT.sub("", sheet.read_text(encoding="utf-8"))) for sheet in sheets)
    parts = [part.read_text(encoding="utf-8") for part in widget.iterdir() if part.name.endswith(".js")]
    used = set(_USED.findall("".join([style, *parts])))
    return _TOKEN.sub(lambda token: token[0] if token["name"] in used else "", style)


def _tight(style: str) -> str:
    return _CSS_SPACE.sub(lambda found: found[1] or "", re.sub(r"\s+", " ", style)).strip().replace(";}", "}")


def _js(value: object) -> str:
    # Two characters end a line in older JavaScript but not in JSON.
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
