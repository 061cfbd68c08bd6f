"""Clients as their models meet us: what each shows of an answer, and what can be found in that and nothing else."""
