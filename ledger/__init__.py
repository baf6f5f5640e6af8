"""How a run is written down: the run directory, what may stand in it, and what follows from its records."""
