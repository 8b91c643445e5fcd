"""FastAPI with OpenAI's SDK: ``python fastapi_openai.py PORT BASE_URL``. A websocket is a conversation."""

import json
import sys

import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from openai import AsyncOpenAI

SYSTEM = "You are the assistant of a company. Answer shortly."
PRICE = {"symbol": "AAPL", "price": 200.5, "change": 1.5, "change_percent": 0.75, "source": "sample"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_price",
            "description": "The newest price of a symbol.",
            "parameters": {"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]},
        },
    }
]
app = FastAPI()
client = AsyncOpenAI(base_url=sys.argv[2], api_key="not-a-key", max_retries=0)


@app.websocket("/")
async def chat(socket: WebSocket) -> None:
    await socket.accept()
    messages = [{"role": "system", "content": SYSTEM}]
    try:
        while True:
            messages.append({"role": "user", "content": (await socket.receive_json())["text"]})
            while calls := await reply(socket, messages):
                messages.append({"role": "assistant", "content": None, "tool_calls": calls})
                messages += [
                    {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(PRICE)} for call in calls
                ]
            await socket.send_json({"type": "run.finished"})
    except WebSocketDisconnect:
        return


async def reply(socket: WebSocket, messages: list[dict]) -> list[dict]:
    """Streams one reply of the model to the socket; returns the calls that it makes."""
    text, calls = [], {}
    stream = await client.chat.completions.create(
        model="scripted", messages=messages, tools=TOOLS, stream=True, stream_options={"include_usage": True}
    )
    async for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                text.append(choice.delta.content)
                await socket.send_json({"type": "message.delta", "text": choice.delta.content})
            for part in choice.delta.tool_calls or ():
                call = calls.setdefault(
                    part.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                )
                call["id"] = part.id or call["id"]
                call["function"]["name"] += part.function.name or ""
                call["function"]["arguments"] += part.function.arguments or ""
    if not calls:
        messages.append({"role": "assistant", "content": "".join(text)})
    return list(calls.values())


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", loop="uvloop", ws_ping_interval=None)
