"""What a tool is and what its rules are: plain Python, no server needed."""
