"""The commands of labctl: flags to values to one library call each."""
