"""Adapters, one file for each outside system: MongoDB's collections, Redis, the streams' consumers."""
