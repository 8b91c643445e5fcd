"""Turns: decides when to answer, drives the model and its tools, appends the fenced answer."""
