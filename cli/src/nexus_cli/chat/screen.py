"""Shows frames as text: answers on one stream, everything else on another. Colours only on a terminal."""

from __future__ import annotations

import json
from typing import TextIO, cast

from rich.console import Console
from rich.text import Text

from contracts.languages import Language
from nexus_cli.chat.client import Frame
from nexus_cli.terminal_text import plain
from nexus_cli.texts import TEXTS

FINAL = frozenset({"assistant", "operator", "system"})
"""Roles whose messages are answers."""


class Screen:
    """Writes frames as text, and remembers the actions that wait for a yes.

    Answers go to `output`, all other events to `aside`. With `as_json` each final message is a line of JSON.
    """

    def __init__(self, output: TextIO, aside: TextIO, *, as_json: bool, language: Language = "en") -> None:
        self._out = output
        self._aside = Console(file=aside, highlight=False, soft_wrap=True)
        self._as_json = as_json
        self._language: Language = language
        self._streamed: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._outcomes: dict[str, str] = {}
        self.pending: dict[str, int] = {}
        """Ids of the actions that wait for the customer's yes, oldest first, with the number that each one keeps."""

    def show(self, frame: Frame) -> None:
        """Shows a frame, unless it has nothing to show."""
        match frame["type"]:
            case "message.delta" if not self._as_json:
                self._delta(frame["messageId"], frame["deltaSeq"], frame["delta"])
            case "message.created":
                self._message(frame["message"])
            case "welcome":
                if conversation := frame.get("conversationId"):
                    self.aside(f"· {self._word('conversation')} {conversation}")
                self._actions(frame.get("pendingActions") or [])
            case "tool.started":
                label = frame.get("label") or frame["tool"]
                self._labels[frame["callId"]] = label
                self.aside(f"· {label}")
            case "tool.finished" if not frame.get("success", True):
                label = self._labels.pop(frame["callId"], frame["tool"])
                self.aside(f"· {label} {self._word('tool_failed')}", "yellow")
            case "run.error" | "error":
                self.aside(f"! {frame['code']}: {frame['message']}", "red")
            case "run.cancelled" if frame.get("reason") == "user":
                self.aside(f"· {self._word('cancelled')}")
            case "owner.changed":
                owner = frame["owner"]
                self.aside(f"· {owner.get('name') or self._word(owner['kind'])}", "cyan")
            case "action.updated":
                self._action(frame["action"])
            case "alert.triggered":
                self._alert(frame["alert"])
            case _:
                return

    def aside(self, line: str, style: str = "dim") -> None:
        self._aside.print(Text(plain(line), style=style))

    def _word(self, name: str) -> str:
        return TEXTS[f"chat.{name}"].in_language(self._language)

    def _delta(self, message: str, number: int, text: str) -> None:
        if number == 0 and self._streamed.get(
            message
        ):  # the turn was driven again: the text shown so far no longer counts
            print(file=self._out)
            self._streamed[message] = ""
        self._streamed[message] = self._streamed.get(message, "") + text
        print(plain(text), end="", file=self._out, flush=True)

    def _message(self, message: Frame) -> None:
        if message["role"] not in FINAL:
            return
        if self._as_json:
            print(json.dumps(message, ensure_ascii=False), file=self._out, flush=True)
        else:
            self._text(message)
            if turn := message.get("turnId"):
                self.aside(f"· {self._word('turn')} {turn}")
        self._actions(message.get("actions") or [])

    def _text(self, message: Frame) -> None:
        streamed = self._streamed.pop(message["id"], "")
        if streamed != message["text"]:  # the final message is what counts
            print(("\n" if streamed else "") + plain(message["text"]), end="", file=self._out)
        print(file=self._out)
        for citation in cast(list[Frame], message.get("citations") or []):
            print(plain(f"  [{citation.get('title') or citation['url']}] {citation['url']}"), file=self._out)
        for file in cast(list[Frame], message.get("files") or []):
            print(plain(f"  [{file['name']}] {file['type']}, {file['size']} bytes"), file=self._out)
        self._out.flush()

    def _actions(self, actions: list[Frame]) -> None:
        for action in actions:
            if action["state"] == "pending":
                self._action(action)

    def _action(self, action: Frame) -> None:
        details = cast(Frame, action.get("details") or {})
        if action["state"] == "pending":
            is_new = action["id"] not in self.pending
            number = self.pending.setdefault(action["id"], max(self.pending.values(), default=0) + 1)
            if is_new:
                shown = f"{number}. " if number > 1 else ""
                self.aside(f"? {shown}{action['summary']}: {self._word('pending')}", "bold yellow")
                self.aside(f"  {self._word('confirm' if len(self.pending) == 1 else 'choose')}")
                if editable := cast(Frame, action.get("editable") or {}):
                    values = [f"{name}={details[name]}" for name in editable if details.get(name) is not None]
                    example = " ".join([str(number), *values] if number > 1 else values)
                    self.aside(f"  {self._word('change').format(example=example)}")
            return
        if outcome := details.get("outcome"):
            self.pending.pop(action["id"], None)
            # What the market did is told at least once.
            if self._outcomes.get(action["id"]) != outcome:
                self._outcomes[action["id"]] = outcome
                self.aside(f"· {action['summary']}: {outcome}", "green" if action["state"] == "confirmed" else "yellow")
        elif self.pending.pop(action["id"], None) is not None:
            style = "green" if action["state"] == "confirmed" else "yellow"
            self.aside(f"· {action['summary']}: {self._word(action['state'])}", style)

    def _alert(self, alert: Frame) -> None:
        text = f"{alert['symbol']} {alert['condition']} {alert['price']} ({alert['triggeredPrice']})"
        note = f": {alert['message']}" if alert.get("message") else ""
        self.aside(f"! {self._word('alert')}: {text}{note}", "bold magenta")
