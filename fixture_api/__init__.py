"""The fixture API: a world that answers the same way every time, and a journal of what it was asked."""
