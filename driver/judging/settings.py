"""How the judge is asked: fixed numbers, which are part of the run's conditions."""

from __future__ import annotations

TEMPERATURE = 0.0
MAX_OUTPUT_TOKENS = 4096
TRIES = 3
"""Of one vote, when its service is busy, failing or out of reach; never for an answer that is no verdict."""
WAITS_S = (1.0, 4.0)
"""Before the second and the third try."""
REQUESTS_AT_ONCE = 8
ATTEMPTS_AHEAD = 64
"""How many attempts may wait for their verdicts before the runner begins no further one; those under way come too."""
TEXT_BYTES = 8 * 1024
"""Of each text, argument object and result in the transcript."""
TRANSCRIPT_BYTES = 128 * 1024
"""Of the whole transcript: where it is more, every text is cut further."""
MOST_ENTRIES = 200
"""Of messages, texts and calls each: where there are more, those in the middle are left out."""
QUOTED_BYTES = 1000
"""Of an answer that is no verdict."""
REASON_BYTES = 8 * 1024
