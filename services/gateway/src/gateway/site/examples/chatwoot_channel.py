"""Chatwoot's conversations, answered here: set NEXUS_TOKEN to `nexus token --role admin`, and run it with Chatwoot's
address and its agent bot's access token and webhook secret. It prints the webhook that the bot is to have."""

import os
import sys

import httpx

address, token, secret = sys.argv[1:4]
url, company = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080"), os.environ.get("NEXUS_COMPANY", "demo")
channel = {"address": address, "token": token, "secret": secret}
headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "If-Match": "*"}
answer = httpx.patch(f"{url}/v2/llm/config/{company}", json={"channels": [channel]}, headers=headers, timeout=30)
answer.raise_for_status()
settings = answer.json()
for kept in settings["channels"]:
    print(f"{url}/v2/channels/chatwoot/{kept['id']}")
for warning in settings.get("warnings", []):
    if warning["field"].startswith("channels"):
        print(f"! {warning['message']}")
