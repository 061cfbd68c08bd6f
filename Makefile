# The daily verbs. `make` alone prints them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Where nobody may keep bytecode, each of the thousand processes that the tests start would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

# MCP clients of other makers, for the tests: docs/decisions/0017-real-clients-in-the-tests.md
NODE := tests/node
NODE_STAMP := $(NODE)/node_modules/.installed

# Modules that write files kept in the tree. `make fix` runs each as `python -m MODULE`, and `make check` as
# `python -m MODULE --check`, which must fail when the file on disk is not what the module would write.
GENERATORS := pdpp_server.mcp.generate pdpp_server.console.language

# Pages with blocks that are printed from the code.
PAGES := $(shell grep -rl --include='*.md' '\[\[\[cog' README.md AGENTS.md docs 2>/dev/null)

# What is looked at before a test runs. The promises are tests too, so `make test` has them among the others.
CHECKS := style types imports generated

# Each check is one process on one core; what they print stays together where make knows how.
SIDE_BY_SIDE := --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.DEFAULT_GOAL := help
.PHONY: bench-postgres help setup clients browser servers pages demo test test-postgres quick check style types types-windows imports generated promised bench soak mutants map slice walk promises fix shape wheel mcpb requirements

help:
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{printf "make %-16s%s\n", $$1, $$2}'

setup: $(STAMP)  ## make .venv and install every pinned version; instant when nothing changed

$(STAMP): pyproject.toml requirements/dev.txt requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/it" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@test -x $(BIN)/uv || $(PYTHON) -m pip -qq --python $(BIN)/python install --require-hashes -r requirements/uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt \
		|| $(PYTHON) -m pip -qq --python $(BIN)/python install --require-hashes -r requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --offline --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

clients: setup $(NODE_STAMP)  ## install the pinned MCP clients of other makers, which the tests run; needs Node

$(NODE_STAMP): $(NODE)/package.json $(NODE)/package-lock.json $(NODE)/.npmrc requirements/sdk1.txt
	@for program in node npm; do command -v $$program >/dev/null || { \
		echo "$$program is not on the PATH: the tests need Node 20 or newer with npm; install it and try again." >&2; exit 1; }; done
	@cd $(NODE) && npm ci
	@$(BIN)/uv pip install --quiet --target $(VENV)/sdk1 --require-hashes -r requirements/sdk1.txt
	@touch $(NODE_STAMP)

browser:  ## install Debian's chromium, which the tests of the pages drive, where that can be done; elsewhere say how
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null; } \
		|| echo "The tests of the pages need a browser called chromium on the PATH: sudo apt-get install chromium" >&2

servers:  ## install Debian's dovecot and radicale, which the tests of live sources ask, without starting them; elsewhere say how
	@{ test -x /usr/sbin/dovecot && command -v radicale >/dev/null; } || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& { test -e /usr/sbin/policy-rc.d || { printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d; }; } \
		&& apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends dovecot-imapd radicale >/dev/null; } \
		|| echo "The tests of live sources need dovecot and radicale: sudo apt-get install dovecot-imapd radicale" >&2

pages: setup clients browser  ## every page of the owner's in every state, as pictures to look at: make pages only=consent
	@$(BIN)/python -m tools.pages $(only)

demo: setup  ## set up, load a sample life, serve it, and show one agent journey
	@$(BIN)/pdpp demo

test: setup clients browser servers  ## set up and run every check, the wheel and every test
	@$(MAKE) --no-print-directory $(SIDE_BY_SIDE) $(CHECKS) types-windows wheel
	$(BIN)/pytest -n 2 --dist worksteal

test-postgres: setup clients browser servers  ## every test on PostgreSQL, but those about the files of a home: only=tests/scenarios/mcp
	$(BIN)/pytest -n 2 --dist worksteal --engine postgres $(if $(programs),--postgres-bin $(programs)) $(only)

quick: setup  ## the tests that a change can have broken, nearest first, about a minute: make quick base=main
	@$(BIN)/python -m tools.quick $(base)

check: $(CHECKS) promised  ## format, lint, types, import contracts, generated files, promises, words

style: setup
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet

types: setup
	$(BIN)/basedpyright --level error

types-windows: setup
	$(BIN)/basedpyright --level error --pythonplatform Windows src

imports: setup
	$(BIN)/lint-imports --no-logo

generated: setup
	@for module in $(GENERATORS); do echo "python -m $$module --check"; $(BIN)/python -m $$module --check || exit 1; done
	$(BIN)/cog -I . --check --check-fail-msg "A page is out of date: run make fix." $(PAGES)

promised: setup
	$(BIN)/pytest -q tests/contracts/test_promises.py tests/contracts/test_words.py

bench: setup  ## the measured numbers, as ratios, into bench/latest.json
	PYTHONPATH=. $(BIN)/python -m bench

bench-postgres: setup  ## PostgreSQL beside SQLite, with owners beside it, and grown: make bench-postgres records="10000 100000" owners="100 1000" grown="10 100"
	PYTHONPATH=. $(BIN)/python -m bench.postgres $(if $(records),--records $(records)) $(if $(owners),--owners $(owners)) $(if $(grown),--grown $(grown))

soak: setup  ## the long tests that make test leaves out
	$(BIN)/pytest -m soak

mutants: setup  ## small changes of what decides, each of which a test must notice: make mutants only="--module permit.py"
	@$(BIN)/python -m tools.mutants $(only)

map: setup  ## the package in call order, from the first line of each module
	@$(BIN)/python -m tools.map

promises: setup  ## every promise, where it comes from, and the tests that keep it
	@$(BIN)/python -m tools.promises

slice: setup  ## one operation through every layer: make slice op=search
	@$(BIN)/python -m tools.slice $(op)

walk: setup  ## the files that one hosted search, or one import, visits: make walk of=search
	@$(BIN)/python -m tools.walk $(of)

fix: setup  ## format, repair what lint can repair, print generated files again
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format
	@for module in $(GENERATORS); do echo "python -m $$module"; $(BIN)/python -m $$module || exit 1; done
	$(BIN)/cog -I . -r $(PAGES)

shape: setup  ## a mirror: median, p90, the five largest files and functions, the ten densest functions
	@$(BIN)/python -m tools.shape

mcpb: setup clients  ## pack the bundle for Claude Desktop into dist/
	$(BIN)/python -m tools.mcpb

wheel: setup  ## build the wheel into dist/, tried in a clean environment outside the tree
	$(BIN)/python -m tools.wheel

requirements:  ## pin every version again (add U=--upgrade to move them)
	$(BIN)/uv pip compile $(PIN) requirements/uv.in --output-file requirements/uv.txt
	$(BIN)/uv pip compile $(PIN) pyproject.toml --extra postgres --extra semantic requirements/dev.in -c requirements/uv.txt --output-file requirements/dev.txt
	$(BIN)/uv pip compile $(PIN) pyproject.toml -c requirements/dev.txt --output-file requirements/run.txt
	$(BIN)/uv pip compile $(PIN) pyproject.toml --extra postgres -c requirements/dev.txt --output-file requirements/postgres.txt
	$(BIN)/uv pip compile $(PIN) requirements/sdk1.in --output-file requirements/sdk1.txt
	cd $(NODE) && npm install --package-lock-only && node lock.mjs

PIN := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url $(U)
