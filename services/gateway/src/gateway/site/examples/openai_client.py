"""The copilot through OpenAI's own client: set NEXUS_TOKEN to `nexus token --role user --plan pro`, and run it.

The token is a customer's (or a service's); `nexus` is whatever model the company has set."""

import os
import sys

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("NEXUS_URL", "http://127.0.0.1:8080") + "/v1",
    api_key=os.environ["NEXUS_TOKEN"],
)
question = " ".join(sys.argv[1:]) or "what is AAPL trading at?"
stream = client.chat.completions.create(model="nexus", messages=[{"role": "user", "content": question}], stream=True)
for chunk in stream:
    sys.stdout.write(chunk.choices[0].delta.content or "" if chunk.choices else "")
    sys.stdout.flush()
sys.stdout.write("\n")
