"""A conversation over AG-UI: set NEXUS_TOKEN to `nexus token --role user`, and run it with a question. NEXUS_THREAD
goes on with a thread; the same run again shows the same answer."""

import os
import sys
import uuid

import httpx
from ag_ui.core import Event, RunAgentInput, RunErrorEvent, TextMessageContentEvent, ToolCallStartEvent, UserMessage
from pydantic import TypeAdapter

question = " ".join(sys.argv[1:]) or "what is AAPL trading at?"
thread = os.environ.get("NEXUS_THREAD", str(uuid.uuid4()))
asked = UserMessage(id=str(uuid.uuid4()), content=question)
run = RunAgentInput(thread_id=thread, run_id=str(uuid.uuid4()), messages=[asked])
address = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080") + "/v2/ag-ui"
headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Content-Type": "application/json"}
with httpx.stream("POST", address, content=run.model_dump_json(), headers=headers, timeout=60) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        event = TypeAdapter(Event).validate_json(line[6:]) if line.startswith("data: ") else None
        if isinstance(event, TextMessageContentEvent):
            print(event.delta, end="", flush=True)
        elif isinstance(event, ToolCallStartEvent | RunErrorEvent):
            print(f"[{event.tool_call_name if isinstance(event, ToolCallStartEvent) else event.message}] ", end="")
print()
