"""The copilot through OpenAI's Responses client: set NEXUS_TOKEN to `nexus token --role user --plan pro`, and run it.
What is said is a conversation of the customer's; a stream that breaks off is gone on with where it was."""

import os
import sys

from openai import APIConnectionError, OpenAI, Stream, omit
from openai.types.responses import ResponseStreamEvent

url = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080") + "/v1"
client = OpenAI(base_url=url, api_key=os.environ["NEXUS_TOKEN"])
name, heard = "", 0
for question in sys.argv[1:] or ["what is AAPL trading at?", "and MSFT?"]:
    stream: Stream[ResponseStreamEvent] | None = client.responses.create(
        model="nexus", input=question, previous_response_id=name or omit, stream=True
    )
    while stream is not None:
        try:
            for event in stream:
                heard = event.sequence_number
                if event.type == "response.created":
                    name = event.response.id
                elif event.type == "response.output_text.delta":
                    sys.stdout.write(event.delta)
            stream = None
        except APIConnectionError:
            stream = client.responses.retrieve(name, stream=True, starting_after=heard)
    sys.stdout.write("\n")
