"""Load: the same scenarios alone and in parallel, and what differs. Pure but for `locust`."""
