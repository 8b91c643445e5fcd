"""What a document says, taken out of its bytes: title, language, and blocks that know their headings."""
