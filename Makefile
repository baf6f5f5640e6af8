# Every target does its own set-up: on a new machine `make run` or `make test` is all there is to type.
PYTHON ?= python3
# side by side: the tests of a file together, and all that share the engine together, first (tests/conftest.py)
TESTS := -m pytest --numprocesses=auto --dist=loadscope --no-loadscope-reorder tests --ignore=tests/docker_agent
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# where make setup leaves toxiproxy-server, which network faults on the process backend need
export PATH := $(CURDIR)/.build/bin:$(PATH)

.PHONY: setup run test test-shuffled lint check test-compose test-docker-agent soak bench bench-peers audit sbom clean
.DEFAULT_GOAL := run

$(STAMP): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "labctl needs Python 3.11 or newer; next: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "setup: installing locked packages into $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --config-settings editable_mode=compat -e .
	@touch $@

setup: $(STAMP)
	@$(BIN)/python -m scripts.build_images

run: setup
	@$(BIN)/labctl run

test: setup
	@$(BIN)/python $(TESTS)

# the same in another order each time; the seed is in its first lines, and `-p randomly --randomly-seed=N` repeats it
test-shuffled: setup
	@$(BIN)/python $(TESTS) -p randomly

lint: $(STAMP)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m scripts.lock_requirements --check
	@$(BIN)/python -m scripts.generate_schemas --check
	@$(BIN)/python -m scripts.generate_errors --check
	@$(BIN)/python -m scripts.generate_comparison_keys --check

check: lint
	@$(BIN)/python -m pytest -q --numprocesses=auto --dist=loadfile tests/unit tests/contract

# the real program against the scripted model, where it is on the path; else it says that it was skipped, and why
test-docker-agent: $(STAMP)
	@$(BIN)/python -m pytest -q tests/docker_agent

test-compose: setup
	@LABCTL_REQUIRE_ENGINE=1 $(BIN)/python -m pytest tests/compose

# the loops of docs/reliability.md at their full length; hours
soak: setup
	@$(BIN)/python -m pytest tests/soak --soak

bench: setup
	@$(BIN)/python -m scripts.bench

bench-peers: setup
	@$(BIN)/python -m scripts.bench_peers

# what each image that was built here consists of, in CycloneDX: .build/sbom/*.cdx.json
sbom: setup
	@$(BIN)/python -m scripts.sbom

# asks a service for known vulnerabilities of every locked package; it has an environment of its own, locked as well
audit:
	@$(PYTHON) -m venv .venv-audit
	@.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r scripts/audit/requirements.lock
	@.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip $(shell git ls-files '*.lock' | sed 's/^/--requirement /')

clean:
	@rm -rf $(VENV) .venv-audit .venv-peers .build .env .mypy_cache .ruff_cache .pytest_cache *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
