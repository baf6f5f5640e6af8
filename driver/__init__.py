"""The driver: plans a run, brings its world up, collects the evidence, seals it."""
