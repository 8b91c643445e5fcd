"""What people say of themselves, read by rules alone: Spanish and English."""
