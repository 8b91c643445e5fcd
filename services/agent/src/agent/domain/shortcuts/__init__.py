"""What the agent does by itself at a user's plain word, with no model between: decide an action, show a memory.

A model cannot ask for these steps: they are recorded as the rules' own, and its calls go to the executor alone.
"""
