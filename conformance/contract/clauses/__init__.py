"""The clauses, one module for each area: the one place where a contributor adds a clause."""
