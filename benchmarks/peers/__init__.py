"""What does a turn cost with other frameworks: the same chat with FastAPI and OpenAI's SDK, and with LangGraph?

The peers keep conversations in memory and do nothing else: no log, no journal, no limits, no second process. They have
their own environment (requirements.txt, compiled from requirements.in), since Nexus does not need their dependencies.
"""
