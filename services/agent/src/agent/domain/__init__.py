"""What a turn is and how it is decided: plain Python, no server, no clock."""
