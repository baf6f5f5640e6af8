"""Records and pure rules that cross a process boundary; a leaf that every other part may import."""
