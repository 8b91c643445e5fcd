"""Joins the modules of site/widget into widget.js, a classic script, so that a host page needs one tag and one request;
and into beside.js, which the first script loads when a chat is opened. There is no build: this happens when the server
starts, from the files as they are.

Modules use `import { a, b } from "./other.js";` and `export` before declarations, as in any browser. Each module comes
after those that it imports; imports and the word `export` are removed. All modules share one scope, so that no two may
declare the same name, which is an error here. beside.js contains the modules that are not in the first script; names
that it imports from the first one are passed to it. Each script contains the texts that it uses. Comments, indentation
(so that no text may span several lines) and unneeded spaces are removed.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache

from contracts.languages import LANGUAGES
from gateway.web.words import SITE, words

ENTRY = "main.js"
LATER_ENTRY = "beside.js"
LATER_PATH = "/widget-beside.js"
HOSTED = "hosted.js"
"""Entry module of the script for MCP hosts, which consists of the same modules without the chat."""
_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<module>[a-z0-9_-]+\.js)";\n', re.MULTILINE)
_USED_TEXT = re.compile(r"(?<!/)\bwords\.(\w+)")
_GENERATED = frozenset({"words.js", "style.js", "later.js"})
"""Modules without a file, whose source is generated."""
_EXPORT = re.compile(r"^export (?=(?:const|let|function|class|async) )", re.MULTILINE)
_DECLARED = re.compile(r"^(?:const|let|function|class|async function) (?P<name>[A-Za-z_$][\w$]*)", re.MULTILINE)
_DECLARATION_LIST = re.compile(r"^(?:const|let) [^({\n]*;$", re.MULTILINE)
_NEXT_DECLARATION = re.compile(r", (?P<name>[A-Za-z_$][\w$]*) =")
_COMMENT = re.compile(r"^\s*/\*(?s:.*?)\*/\n|^\s*//.*\n", re.MULTILINE)
_REMARK = re.compile(r"[ \t]+// [^\n\"'`]*$|/\* [^\n\"'`]*? \*/", re.MULTILINE)
"""A comment at the end of or within a line. It contains no quote, so that it is not part of a text."""
_SEPARATOR = "|"
_TEXTS = re.compile(
    r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"""
    r"""|(?<=[(,=:\[!&|?{};\n])\s*/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)"""
)
"""Strings, templates and regular expressions. A template within a template is not recognised; tests on the real script
ensure that no text changes (tests/test_page_scripts.py)."""
_BLANKS = re.compile(r" ?([=+*?:;,{}()<>&|!\[\]]) ?(?![+-])")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"(?P<name>--[a-z0-9-]+):[^;}]*;?")
_USED = re.compile(r"--[a-z0-9-]+(?=[)\"'`,])")
"""Design tokens that are used; the widget does not use all tokens of the pages."""
_FIRST_SHEETS = ("tokens.css", "widget.css")
_LATER_SHEETS = ("beside.css", "charts.css")
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_CSS_SPACE = re.compile(r"\s*([{};,>])\s*|(?<=:)\s+|\s+(?=!)")


@cache
def widget_script() -> bytes:
    """The script that a page loads first, in UTF-8.

    Raises:
        ValueError: modules import each other in a circle or declare a name twice.
    """
    first_modules, later_modules = _modules(ENTRY), _modules(LATER_ENTRY, excluded=_modules(ENTRY))
    address = f"{LATER_PATH}?v={hashlib.sha256(later_script()).hexdigest()[:16]}"
    names = ", ".join(_imported_names(first_modules, later_modules))
    generated = {
        "words.js": f"const WORDS = {{}};\n{_LEARN}{_learn_call(first_modules.values())}",
        "style.js": f"const STYLE = {_js_literal(styles(*_FIRST_SHEETS))};\n",
        "later.js": f"const LATER = {_js_literal(address)};\nconst shared = () => ({{ {names} }});\n",
    }
    return _in_closure(first_modules, generated)


@cache
def later_script() -> bytes:
    """The script that the first one loads: an ES module whose function `beside` gets the names it uses of the first
    one."""
    first_modules, later_modules = _modules(ENTRY), _modules(LATER_ENTRY, excluded=_modules(ENTRY))
    style = f"const BESIDE = {_js_literal(styles(*_LATER_SHEETS))};\n"
    body = _learn_call(later_modules.values()) + style + _joined_modules(later_modules, {})
    names = ",".join(_imported_names(first_modules, later_modules))
    return f"export const beside=({{{names}}})=>{{\n{body}return beside;\n}};\n".encode()


def hosted_script() -> bytes:
    """The script for MCP hosts."""
    parts = _modules(HOSTED)
    return _in_closure(parts, {"words.js": f"const WORDS = {{}};\n{_LEARN}{_learn_call(parts.values())}"})


def _in_closure(parts: dict[str, str], generated: dict[str, str]) -> bytes:
    return ('(() => {\n"use strict";\n' + _joined_modules(parts, generated) + "})();\n").encode()


def _modules(entry: str, excluded: Iterable[str] = ()) -> dict[str, str]:
    """The sources of a module and its imports, in the order in which they can run."""
    parts: dict[str, str] = {}
    _add(entry, parts, (), frozenset(excluded))
    return parts


def _add(module: str, parts: dict[str, str], importers: tuple[str, ...], excluded: frozenset[str]) -> None:
    if module in parts or module in excluded:
        return
    if module in importers:
        raise ValueError(f"widget.js: a circle of imports: {' -> '.join((*importers, module))}")
    source = "" if module in _GENERATED else (SITE / "widget" / module).read_text(encoding="utf-8")
    for import_ in _IMPORT.finditer(source):
        _add(import_["module"], parts, (*importers, module), excluded)
    parts[module] = source


def _imported_names(first_modules: dict[str, str], later_modules: dict[str, str]) -> list[str]:
    """The names that the later modules import from the first ones."""
    imports = (import_ for source in later_modules.values() for import_ in _IMPORT.finditer(source))
    names = (
        re.findall(r"\w+", import_["names"])
        for import_ in imports
        if import_["module"] in first_modules.keys() - _GENERATED
    )
    return sorted({"learn", *(name for imported in names for name in imported)})


def _joined_modules(parts: dict[str, str], generated: dict[str, str]) -> str:
    sources = [_EXPORT.sub("", _IMPORT.sub("", generated.get(module, source))) for module, source in parts.items()]
    names = [name for source in sources for name in _declared(source)]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(f"widget.js: declared in two modules: {', '.join(duplicates)}")
    return "".join(map(minified, sources))


def minified(source: str) -> str:
    """The script without comments, indentation and unneeded spaces."""
    parts = _TEXTS.split(_INDENT.sub("", _REMARK.sub("", _COMMENT.sub("", source))))
    parts[::2] = (_BLANKS.sub(r"\1", code) for code in parts[::2])
    return "".join(parts)


def _declared(source: str) -> list[str]:
    several = [name for line in _DECLARATION_LIST.findall(source) for name in _NEXT_DECLARATION.findall(line)]
    return _DECLARED.findall(source) + several


def _learn_call(sources: Iterable[str]) -> str:
    """The call that defines the texts that the sources use: the names once, then each language's texts in their order,
    to keep the script small."""
    used_names = {name for source in sources for name in _USED_TEXT.findall(source)}
    texts = {language: words(language, "widget") for language in sorted(LANGUAGES)}
    names = [name for name in texts["en"] if name in used_names]
    lists = {language: _SEPARATOR.join(own_texts[name] for name in names) for language, own_texts in texts.items()}
    if any(text_list.count(_SEPARATOR) != len(names) - 1 for text_list in lists.values()):
        raise ValueError(f"widget.js: a text has the sign {_SEPARATOR}")
    return f"learn({_js_literal({'names': _SEPARATOR.join(names), **lists})});\n"


def styles(*sheets: str) -> str:
    """The widget's style, or some of its sheets, with the design tokens that the whole widget uses."""
    widget = SITE / "widget"
    tight = {name: _minified_css(_CSS_COMMENT.sub("", _sheet(name))) for name in (*_FIRST_SHEETS, *_LATER_SHEETS)}
    parts = [part.read_text(encoding="utf-8") for part in widget.iterdir() if part.name.endswith(".js")]
    used = set(_USED.findall("".join([*tight.values(), *parts])))
    style = "".join(tight[name] for name in sheets or tight)
    return _TOKEN.sub(lambda token: token[0] if token["name"] in used else "", style)


def _sheet(name: str) -> str:
    return (SITE / ("static" if name == _FIRST_SHEETS[0] else "widget") / name).read_text(encoding="utf-8")


def _minified_css(style: str) -> str:
    return _CSS_SPACE.sub(lambda match: match[1] or "", re.sub(r"\s+", " ", style)).strip().replace(";}", "}")


def _js_literal(value: object) -> str:
    # Two characters that are line breaks in older JavaScript but not in JSON.
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_LEARN = f"""const learn = (lists) => {{
  const of = (name) => lists[name].split({_js_literal(_SEPARATOR)});
  for (const name of {_js_literal(sorted(LANGUAGES))}) of("names").forEach((one, at) => {{
    (WORDS[name] ||= {{}})[one] = of(name)[at];
  }});
}};
"""
