"""What a prompt may hold: exact token counts, and the compression that keeps it inside its window."""
