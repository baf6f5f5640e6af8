"""Network faults of attempts: toxiproxy behind one door, its proxies, and the witness that a fault was met."""
