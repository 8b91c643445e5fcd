"""``python -m tool_executor.extraction``: reads one document from standard input; see isolation.py."""

import json
import resource
import sys

from tool_executor.extraction.document import EXTRACTED, UnreadableError
from tool_executor.extraction.formats import extract


def main() -> None:
    """Reads type and limits from the first line of the input, then the document; writes one JSON object."""
    options = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_AS, (options["memory"], options["memory"]))
    seconds = int(options["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    body = sys.stdin.buffer.read()
    try:
        answer = EXTRACTED.dump_json(extract(body, options["declared"], options["charset"], options["name"]))
    except UnreadableError as unreadable:
        answer = json.dumps({"reason": unreadable.reason, "text": unreadable.text.by_language}).encode()
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main()
