"""What happened, frozen: both legs of one client request as facts."""
