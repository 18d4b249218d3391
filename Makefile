# What CI runs, and nothing else. Every target makes the environment it needs, so a
# fresh clone with Python 3.11 or newer and PyPI in reach can run any of them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# A run that may wait for the sleeps of LangGraph's TTL tests in parallel.
CONTRACT_WORKERS ?= 4
UNIT_WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help upstream test unit contract integration notebooks lint format type docs bench demo clean

help: ## Show the targets.
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"

# One stamp per dependency group; a changed pyproject.toml installs again.
$(VENV)/.group-%: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install -q --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -q -e ".[cli,notebook]" --group $*
	@touch $@

upstream: $(VENV)/.group-test # LangGraph's store tests, for what is installed
	@$(BIN)/python scripts/fetch_upstream_tests.py

test: upstream ## All tests that need no server.
	@mkdir -p .test-results && rm -f .test-results/*.xml
	@status=0; \
	$(BIN)/python -m pytest tests/unit_tests $(wildcard tests/integration_tests) \
	  -n $(UNIT_WORKERS) --dist worksteal \
	  $(if $(wildcard notebooks/*.ipynb),--nbmake --nbmake-timeout=120 notebooks) \
	  --junitxml=.test-results/unit.xml || status=1; \
	$(BIN)/python -m pytest tests/contract -n $(CONTRACT_WORKERS) --dist worksteal \
	  --junitxml=.test-results/contract.xml || status=1; \
	$(BIN)/python scripts/summarize_tests.py .test-results/unit.xml .test-results/contract.xml; \
	exit $$status

unit: $(VENV)/.group-test ## Unit tests only: no network, no server, no sleeps.
	$(BIN)/python -m pytest tests/unit_tests

contract: upstream ## LangGraph's own store tests, and ours.
	$(BIN)/python -m pytest tests/contract -n $(CONTRACT_WORKERS) --dist worksteal

integration: $(VENV)/.group-test ## Tests against real engines and processes.
	$(BIN)/python -m pytest tests/integration_tests

notebooks: $(VENV)/.group-test ## Execute the notebooks.
	$(BIN)/python -m pytest --force-enable-socket --nbmake --nbmake-timeout=120 notebooks

lint: $(VENV)/.group-lint ## Style, formatting and the direction of imports.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

format: $(VENV)/.group-lint ## Fix what can be fixed mechanically.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

type: $(VENV)/.group-typing ## mypy --strict.
	$(BIN)/mypy

docs: $(VENV)/.group-docs ## Build the documentation; a warning is a failure.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.group-bench ## Measure against LangGraph's stores; writes docs/performance.md.
	$(BIN)/python -m benchmarks

demo: | $(BIN)/python ## A scripted conversation over two threads, without a key.
	@$(BIN)/python -m pip install -q -e ".[cli]"
	$(BIN)/langchain-agentmemory demo

clean: ## Remove what the targets made.
	rm -rf $(VENV) .upstream .test-results .*_cache .hypothesis site dist build
