"""labctl images: what would run, with digests; `lock` writes them anew, `verify` says whether all is as pinned."""

from __future__ import annotations

import json
import os

import click

from driver.cli.output import say


@click.group(name="images", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON object, service to identity.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> int:
    """List the images of the stack; exit 4 when one is missing or was built from other files."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json is for the list alone")
        return 0
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


@command.command(name="lock")
def lock() -> int:
    """Ask the registries what the tags of images.env stand for, and write it there and into compose.yaml.

    Nothing is written unless every tag has an answer.
    """
    from dataclasses import replace  # noqa: PLC0415 - `--help` imports no work
    from functools import partial  # noqa: PLC0415 - as above

    from driver.checkout import ROOT  # noqa: PLC0415 - as above
    from driver.image_pins import read_pins, write_pins  # noqa: PLC0415 - as above
    from driver.refusals import Refusals  # noqa: PLC0415 - as above
    from driver.stacks.registry import digest_of_tag  # noqa: PLC0415 - as above

    asked, pins = Refusals(), read_pins(ROOT)
    digests = {pin: asked.value_of(partial(digest_of_tag, pin.name)) for pin in pins}
    if asked.any:
        raise asked.as_one()
    write_pins(ROOT, [replace(pin, digest=digest) for pin, digest in digests.items() if digest])
    for pin, digest in digests.items():
        say(f"{pin.variable:<24} {pin.name:<40} {digest}{'' if digest == pin.digest else '  was ' + pin.digest}")
    return 0


@command.command(name="verify")
def verify() -> int:
    """Is every image of the stack here, current, and the one that images.env pins? Exit 4 names what is not."""
    from contracts.errors import ErrorCode, LabError  # noqa: PLC0415 - `--help` imports no work
    from driver.backends import require_engine  # noqa: PLC0415 - as above
    from driver.checkout import ROOT  # noqa: PLC0415 - as above
    from driver.image_pins import mismatches, read_pins  # noqa: PLC0415 - as above

    require_engine()
    from driver.stacks.images import ENV_FILE, checked_images, known_images, read_env_file  # noqa: PLC0415 - as above

    found = mismatches(ROOT, read_pins(ROOT), env=os.environ, made=read_env_file(ENV_FILE))
    if found:
        raise LabError(
            ErrorCode.IMAGE_UNPINNED,
            "something else would run than images.env pins",
            found=found,
            next_step="make setup, or unset the variable; `labctl images lock` changes the pins",
        )
    images = checked_images(known_images())
    say(f"{len(images)} images are here and as pinned")
    return 0
