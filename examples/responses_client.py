"""The copilot through OpenAI's Responses client: set NEXUS_TOKEN to `nexus token --role user --plan pro`, and run it.
The messages form a conversation of the customer; a stream that breaks off is continued where it stopped."""

import os
import sys

from openai import APIConnectionError, OpenAI, Stream, omit
from openai.types.responses import ResponseStreamEvent

url = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080") + "/v1"
client = OpenAI(base_url=url, api_key=os.environ["NEXUS_TOKEN"])
name, last_number = "", 0
for question in sys.argv[1:] or ["what is AAPL trading at?", "and MSFT?"]:
    stream: Stream[ResponseStreamEvent] | None = client.responses.create(
        model="nexus", input=question, previous_response_id=name or omit, stream=True
    )
    while stream is not None:
        try:
            for event in stream:
                last_number = event.sequence_number
                if event.type == "response.created":
                    name = event.response.id
                elif event.type == "response.output_text.delta":
                    sys.stdout.write(event.delta)
            stream = None
        except APIConnectionError:
            stream = client.responses.retrieve(name, stream=True, starting_after=last_number)
    sys.stdout.write("\n")
