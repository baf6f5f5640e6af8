"""Runs the attempts of a plan against the fixture API, lets agents act, and judges what they did."""

VERSION = "0.1.0"
