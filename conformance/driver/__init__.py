"""What speaks to the gateway, and keeps the raw timed bytes of both directions while it does."""
