"""The backends that bring fixture API, runner and agent host up: processes, or containers under Compose."""
