"""The relevance judge: a model on the host's side that is asked about one statement at a time."""
