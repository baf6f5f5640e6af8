"""An agent that answers at once, but in a case `slow…` waits for a file, with a child that shows from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

task = json.load(sys.stdin)
mark = os.environ["LABTEST_RUN"]
if task["caseId"].startswith("slow"):
    idle = [sys.executable, "-c", "import time; time.sleep(600)", f"waits {mark} {task['caseId']}"]
    with subprocess.Popen(idle) as child:
        while not Path(f"/tmp/go-on-{mark}").exists():  # noqa: S108 - the same place in a container and outside
            time.sleep(0.05)
        child.kill()
print(json.dumps({"type": "message", "text": "the answer"}))
