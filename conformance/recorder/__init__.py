"""The recorder: what passes between a client and a provider, or around a gateway, becomes cassettes."""
