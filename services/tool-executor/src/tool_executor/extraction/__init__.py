"""Extracts a document's text from its bytes: title, language, and blocks with their headings."""
