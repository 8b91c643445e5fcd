"""`nexus drill`: breaks a stack again and again while people chat, and checks that every promise to them is kept."""
