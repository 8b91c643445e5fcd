"""FastAPI with LangGraph: ``python fastapi_langgraph.py PORT BASE_URL``. A websocket is a conversation."""

import sys
import uuid

import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from langchain_core.messages import AIMessageChunk, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SYSTEM = SystemMessage("You are the assistant of a company. Answer shortly.")
PRICE = {"symbol": "AAPL", "price": 200.5, "change": 1.5, "change_percent": 0.75, "source": "sample"}


@tool
async def get_price(symbol: str) -> dict:
    """The newest price of a symbol."""
    return PRICE | {"symbol": symbol}


model = ChatOpenAI(
    model="scripted", base_url=sys.argv[2], api_key="not-a-key", streaming=True, stream_usage=True, max_retries=0
).bind_tools([get_price])


async def agent(state: MessagesState) -> dict:
    return {"messages": [await model.ainvoke([SYSTEM, *state["messages"]])]}


graph = StateGraph(MessagesState)
graph.add_node("agent", agent)
graph.add_node("tools", ToolNode([get_price]))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "agent")
chat_graph = graph.compile(checkpointer=InMemorySaver())
app = FastAPI()


@app.websocket("/")
async def chat(socket: WebSocket) -> None:
    await socket.accept()
    config = {"configurable": {"thread_id": uuid.uuid4().hex}}
    try:
        while True:
            graph_input = {"messages": [("user", (await socket.receive_json())["text"])]}
            async for chunk, _ in chat_graph.astream(graph_input, config, stream_mode="messages"):
                if isinstance(chunk, AIMessageChunk) and isinstance(chunk.content, str) and chunk.content:
                    await socket.send_json({"type": "message.delta", "text": chunk.content})
            await socket.send_json({"type": "run.finished"})
    except WebSocketDisconnect:
        return


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", loop="uvloop", ws_ping_interval=None)
