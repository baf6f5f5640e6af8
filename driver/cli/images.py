"""labctl images: what would run, with digests."""

from __future__ import annotations

import json

import click

from driver.cli.output import say


@click.command(name="images")
@click.option("--json", "as_json", is_flag=True, help="A JSON object, service to identity.")
def command(*, as_json: bool) -> int:
    """List the images of the stack; exit 4 when one is missing or was built from other files."""
    from driver.backends import require_engine  # noqa: PLC0415 - `--help` imports no work

    require_engine()
    from driver.stacks.images import checked_images, known_images  # noqa: PLC0415 - as above

    images = checked_images(known_images())
    if as_json:
        say(json.dumps({service: image.to_json() for service, image in images.items()}, indent=2))
        return 0
    for service, image in images.items():
        say(f"{service:<15} {image.digest}  content {image.content_digest or 'as pulled'}")
    return 0
