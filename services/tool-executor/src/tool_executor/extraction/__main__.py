"""``python -m tool_executor.extraction``: reads one document from standard input; see isolation.py."""

import dataclasses
import json
import resource
import sys

from tool_executor.extraction.document import UnreadableError
from tool_executor.extraction.formats import extract


def main() -> None:
    """The first line of the input names the type and the limits; the answer is one JSON object."""
    asked = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    seconds = int(asked["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    body = sys.stdin.buffer.read()
    try:
        found = extract(body, asked["declared"], asked["charset"], asked["name"])
        answer = dataclasses.asdict(found) | {"blocks": [block.model_dump(mode="json") for block in found.blocks]}
    except UnreadableError as unreadable:
        answer = {"reason": unreadable.reason, "text": unreadable.text.by_language}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
