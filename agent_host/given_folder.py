"""The working folder that an attempt was given: copied, before anybody is let in, to a place that is bounded."""

import os


def copy_given(source: str, target: str) -> str:
    """Fill `target`, which is there, with all that is in `source`; why that did not work, or nothing."""
    import shutil  # noqa: PLC0415 - few attempts are given a folder, and each container starts this program anew

    try:
        for entry in os.scandir(source):
            to = f"{target}/{entry.name}"
            (shutil.copytree if entry.is_dir() else shutil.copy2)(entry.path, to)
    except OSError as error:
        return f"the working folder cannot be copied to {target}: {str(error)[:500]}"
    return ""
