"""`nexus drill`: a stack is broken again and again while people chat, and what they were promised is counted."""
