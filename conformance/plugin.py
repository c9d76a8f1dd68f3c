"""pytest hooks and fixtures; no logic."""
