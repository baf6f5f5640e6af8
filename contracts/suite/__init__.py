"""The files of a suite: their records, how they are read, and what is refused."""
