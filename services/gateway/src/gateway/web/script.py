"""widget.js out of its parts: the modules of site/widget joined into one classic script, so that a host page needs one
tag and one request; and beside.js, which the first loads when a chat is opened. There is no build: this happens when
the server starts, and what is served is what is in the files.

A module says `import { a, b } from "./other.js";` and `export` before its declarations, as in any browser. The parts
stand behind what they import; imports and the word `export` are left out. All parts share one scope, so no two of them
may declare the same name: that is refused here. beside.js holds what its modules import and the first has not; what
they take of the first is handed to them. Words go with the script that says them. What only readers of the source need
is not sent: comments, indentation (so no text goes over several lines), and blanks that separate nothing.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache

from contracts.languages import LANGUAGES
from gateway.web.words import SITE, words

ENTRY = "main.js"
LATER = "beside.js"
LATER_PATH = "/widget-beside.js"
HOSTED = "hosted.js"
"""The script that an MCP host shows: made of the same parts, without the chat."""
_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<module>[a-z0-9_-]+\.js)";\n', re.MULTILINE)
_SAID = re.compile(r"(?<!/)\bwords\.(\w+)")
_MADE = frozenset({"words.js", "style.js", "later.js"})
"""Modules that are no files: what they say follows from the others."""
_EXPORT = re.compile(r"^export (?=(?:const|let|function|class|async) )", re.MULTILINE)
_DECLARED = re.compile(r"^(?:const|let|function|class|async function) (?P<name>[A-Za-z_$][\w$]*)", re.MULTILINE)
_SEVERAL = re.compile(r"^(?:const|let) [^({\n]*;$", re.MULTILINE)
_ANOTHER = re.compile(r", (?P<name>[A-Za-z_$][\w$]*) =")
_COMMENT = re.compile(r"^\s*/\*(?s:.*?)\*/\n|^\s*//.*\n", re.MULTILINE)
_REMARK = re.compile(r"[ \t]+// [^\n\"'`]*$|/\* [^\n\"'`]*? \*/", re.MULTILINE)
"""Behind or within a line. No text holds one: its closing quote would come behind it, on the same line."""
_BETWEEN = "|"
_TEXTS = re.compile(
    r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"""
    r"""|(?<=[(,=:\[!&|?{};\n])\s*/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)"""
)
"""Texts, templates and patterns. A template within a template is not seen as one; that no text is touched all the same
is tested on the script as it is (tests/test_page_scripts.py)."""
_BLANKS = re.compile(r" ?([=+*?:;,{}()<>&|!\[\]]) ?(?![+-])")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"(?P<name>--[a-z0-9-]+):[^;}]*;?")
_USED = re.compile(r"--[a-z0-9-]+(?=[)\"'`,])")
"""The pages' tokens are more than the widget's: what it does not use is not sent."""
_FIRST_SHEETS = ("tokens.css", "widget.css")
_LATER_SHEETS = ("beside.css", "charts.css")
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_CSS_SPACE = re.compile(r"\s*([{};,>])\s*|(?<=:)\s+|\s+(?=!)")


@cache
def widget_script() -> bytes:
    """The script that a page loads at first, in UTF-8.

    Raises:
        ValueError: modules import each other in a circle, or declare a name twice.
    """
    first, later = _modules(ENTRY), _modules(LATER, without=_modules(ENTRY))
    address = f"{LATER_PATH}?v={hashlib.sha256(later_script()).hexdigest()[:16]}"
    made = {
        "words.js": f"const WORDS = {{}};\n{_LEARN}{_words(first.values())}",
        "style.js": f"const STYLE = {_js(styles(*_FIRST_SHEETS))};\n",
        "later.js": f"const LATER = {_js(address)};\nconst shared = () => ({{ {', '.join(_taken(first, later))} }});\n",
    }
    return _closed(first, made)


@cache
def later_script() -> bytes:
    """The script that the first one loads: an ES module whose `beside` is handed what it takes of the first one."""
    first, later = _modules(ENTRY), _modules(LATER, without=_modules(ENTRY))
    style = f"const BESIDE = {_js(styles(*_LATER_SHEETS))};\n"
    body = _words(later.values()) + style + _joined(later, {})
    return f"export const beside=({{{','.join(_taken(first, later))}}})=>{{\n{body}return beside;\n}};\n".encode()


def hosted_script() -> bytes:
    """The script of what an MCP host shows."""
    parts = _modules(HOSTED)
    return _closed(parts, {"words.js": f"const WORDS = {{}};\n{_LEARN}{_words(parts.values())}"})


def _closed(parts: dict[str, str], made: dict[str, str]) -> bytes:
    return ('(() => {\n"use strict";\n' + _joined(parts, made) + "})();\n").encode()


def _modules(entry: str, without: Iterable[str] = ()) -> dict[str, str]:
    """The sources of a module and of what it imports, in the order in which they can run."""
    parts: dict[str, str] = {}
    _add(entry, parts, (), frozenset(without))
    return parts


def _add(module: str, parts: dict[str, str], above: tuple[str, ...], without: frozenset[str]) -> None:
    if module in parts or module in without:
        return
    if module in above:
        raise ValueError(f"widget.js: a circle of imports: {' -> '.join((*above, module))}")
    source = "" if module in _MADE else (SITE / "widget" / module).read_text(encoding="utf-8")
    for wanted in _IMPORT.finditer(source):
        _add(wanted["module"], parts, (*above, module), without)
    parts[module] = source


def _taken(first: dict[str, str], later: dict[str, str]) -> list[str]:
    """The names that the later modules import of the first ones."""
    wanted = (found for source in later.values() for found in _IMPORT.finditer(source))
    names = (re.findall(r"\w+", found["names"]) for found in wanted if found["module"] in first.keys() - _MADE)
    return sorted({"learn", *(name for some in names for name in some)})


def _joined(parts: dict[str, str], made: dict[str, str]) -> str:
    sources = [_EXPORT.sub("", _IMPORT.sub("", made.get(module, source))) for module, source in parts.items()]
    names = [name for source in sources for name in _declared(source)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"widget.js: declared in two modules: {', '.join(twice)}")
    return "".join(map(for_machines, sources))


def for_machines(source: str) -> str:
    """The same script for those who do not read it."""
    parts = _TEXTS.split(_INDENT.sub("", _REMARK.sub("", _COMMENT.sub("", source))))
    parts[::2] = (_BLANKS.sub(r"\1", code) for code in parts[::2])
    return "".join(parts)


def _declared(source: str) -> list[str]:
    several = [name for line in _SEVERAL.findall(source) for name in _ANOTHER.findall(line)]
    return _DECLARED.findall(source) + several


def _words(sources: Iterable[str]) -> str:
    """What these say. The names once, and each language's texts in their order: the script is small on the wire."""
    said = {name for source in sources for name in _SAID.findall(source)}
    texts = {language: words(language, "widget") for language in sorted(LANGUAGES)}
    names = [name for name in texts["en"] if name in said]
    lists = {language: _BETWEEN.join(one[name] for name in names) for language, one in texts.items()}
    if any(one.count(_BETWEEN) != len(names) - 1 for one in lists.values()):
        raise ValueError(f"widget.js: a text has the sign {_BETWEEN}")
    return f"learn({_js({'names': _BETWEEN.join(names), **lists})});\n"


def styles(*sheets: str) -> str:
    """The style of all of it, or of some of its sheets, with the tokens that the whole uses."""
    widget = SITE / "widget"
    tight = {name: _tight(_CSS_COMMENT.sub("", _sheet(name))) for name in (*_FIRST_SHEETS, *_LATER_SHEETS)}
    parts = [part.read_text(encoding="utf-8") for part in widget.iterdir() if part.name.endswith(".js")]
    used = set(_USED.findall("".join([*tight.values(), *parts])))
    style = "".join(tight[name] for name in sheets or tight)
    return _TOKEN.sub(lambda token: token[0] if token["name"] in used else "", style)


def _sheet(name: str) -> str:
    return (SITE / ("static" if name == _FIRST_SHEETS[0] else "widget") / name).read_text(encoding="utf-8")


def _tight(style: str) -> str:
    return _CSS_SPACE.sub(lambda found: found[1] or "", re.sub(r"\s+", " ", style)).strip().replace(";}", "}")


def _js(value: object) -> str:
    # Two characters end a line in older JavaScript but not in JSON.
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_LEARN = f"""const learn = (lists) => {{
  const of = (name) => lists[name].split({_js(_BETWEEN)});
  for (const name of {_js(sorted(LANGUAGES))}) of("names").forEach((one, at) => {{
    (WORDS[name] ||= {{}})[one] = of(name)[at];
  }});
}};
"""
