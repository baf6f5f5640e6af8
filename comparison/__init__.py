"""What changed between two sealed runs: pure functions over what the driver has verified."""
