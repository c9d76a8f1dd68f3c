"""The contract: clauses over exchanges, their catalogue, and the judge. Pure."""
