# `make test` checks everything, `make demo` shows what devicelint does. Both set themselves up:
# a clone needs only make and Python 3.10 or later.

PYTHON ?= python3
VENV := .venv
DEMO_VENV := .venv-demo
RELEASE_VENV := .venv-release
BIN := $(VENV)/bin
DEMO_BIN := $(DEMO_VENV)/bin
RELEASE_BIN := $(RELEASE_VENV)/bin

# The training script that the demo fixes.
DEMO ?= examples/broken/cpu_batches.py

PYTEST = OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses=logical --dist=loadfile
# Pages, and what is tested in this process, without torch and without other programs.
QUICK := devicelint/rules docs $(addprefix tests/,config domain fixes interpreter linter output rules \
  structure suppression text views workspace)

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup test quick lint types layers generated unit quick-unit generate format docs demo clean \
  changelog release-check

help:
	@echo "make test       everything that must pass: the five below, in this order"
	@echo "  make lint       ruff check and ruff format --check"
	@echo "  make types      mypy --strict"
	@echo "  make layers     import-linter: dependencies point one way"
	@echo "  make generated  the generated pages are those that the rules give"
	@echo "  make unit       pytest on every core, with coverage"
	@echo "make quick      in a minute: the first three, pages without executing them, tests without torch"
	@echo "make docs       the site, below build/site"
	@echo "make demo       lint and fix a broken training script (installs no torch)"
	@echo "make generate   write the generated pages anew"
	@echo "make changelog VERSION=...  gather the news fragments into CHANGELOG.md"
	@echo "make release-check  build the distributions, install and try them (no torch)"
	@echo "make format     let ruff format and fix what it can"
	@echo "make clean      remove the environments, dist and every cache"

setup: $(VENV)/installed

test: lint types layers generated unit

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports --no-logo

generated: setup
	$(BIN)/python tools/generate.py --check

unit: setup
	$(PYTEST) --cov

quick: lint types layers quick-unit

quick-unit: setup
	$(PYTEST) --static $(QUICK) --ignore=tests/interpreter/test_robustness.py

generate: setup
	$(BIN)/python tools/generate.py

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: setup
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/mkdocs build --strict

demo: $(DEMO_VENV)/installed
	@$(DEMO_BIN)/python tools/demo.py $(DEMO)

# docs/releases.md says when to run these.
changelog: $(RELEASE_VENV)/installed
	@test -n "$(VERSION)" || { echo "which version? make changelog VERSION=0.2.0" >&2; exit 2; }
	$(RELEASE_BIN)/towncrier build --yes --version $(VERSION)

release-check: $(RELEASE_VENV)/installed
	$(RELEASE_BIN)/python -m tools.release_check $(RELEASE_CHECK)

clean:
	rm -rf $(VENV) $(DEMO_VENV) $(RELEASE_VENV) dist .coverage .hypothesis .import_linter_cache
	rm -rf .mypy_cache .pytest_cache .ruff_cache

# The stamps are made last, so that an installation that broke off is begun again.
# torch goes first and alone: whatever comes after finds it there and brings no other.
$(VENV)/installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing torch (once; this can take minutes)"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt torch==2.13.0
	@echo "installing devicelint and its checkers"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,guard,flake8]'
	@touch $@

$(DEMO_VENV)/installed: pyproject.toml
	@test -x $(DEMO_BIN)/python || $(PYTHON) -m venv $(DEMO_VENV)
	@echo "installing devicelint"
	@$(DEMO_BIN)/python -m pip install --quiet --editable .
	@touch $@

$(RELEASE_VENV)/installed: pyproject.toml constraints.txt
	@test -x $(RELEASE_BIN)/python || $(PYTHON) -m venv $(RELEASE_VENV)
	@$(RELEASE_BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[release]'
	@touch $@
