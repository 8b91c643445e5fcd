"""What every Nexus service shares: settings, broker, consuming, publishing, health, logs, traces."""
