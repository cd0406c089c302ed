"""How well does it remember? Public benchmarks, run through the same search and the same models as a conversation."""
