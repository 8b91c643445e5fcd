"""Reads a text about markets as typed claims, and compares each with what the tools returned."""
