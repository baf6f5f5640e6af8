"""The adapters: how an agent of each kind is run through one attempt."""
