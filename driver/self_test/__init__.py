"""`labctl doctor --self-test`: controls of known outcome through the real pipeline, each of which can fail."""
