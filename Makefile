# Everything here works on a fresh clone: whatever a target needs, it sets up first, once.

VENV  := .venv
PEERS := .peers
BIN   := $(VENV)/bin
CHECKED := crawler scripts bench tests
# The first interpreter that is new enough; name another with `make PYTHON=python3.13 …`.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(p) -c 'import sys; sys.version_info >= (3, 11) and print("$(p)")' 2>/dev/null)))
# Tests wait for much of their time, so two cores can do with more processes; for a debugger, `make test ARGS=-n0`.
WORKERS ?= 4
# A file stays with one process, which makes what its tests share once.
SIDE_BY_SIDE = -n $(WORKERS) --dist loadfile
# Where none is written, each of the many processes of a run compiles all of it for itself.
unexport PYTHONDONTWRITEBYTECODE
# Each of these has processes of its own by the handful.
SOAKERS ?= 3
UV := $(shell command -v uv 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help install install-dev demo test coverage lint typecheck format reference bench peers soak lock clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "error: Vitrine needs Python 3.11 or newer on the PATH"; exit 2; }
ifneq ($(UV),)
	@$(UV) venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
endif

# $(1): runtime or dev. The project itself goes in without its dependencies, which the lock file has just pinned.
ifneq ($(UV),)
define install_locked
@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --compile-bytecode --require-hashes -r requirements/$(1).txt
@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --no-deps --no-build-isolation -e .
endef
else
define install_locked
@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$(1).txt
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endef
endif

$(VENV)/.installed: requirements/runtime.txt pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV) (once, about a minute) …" >&2
	$(call install_locked,runtime)
	@touch $@

$(VENV)/.installed-dev: requirements/dev.txt pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV) with the development tools (once, a minute or two) …" >&2
	$(call install_locked,dev)
	@$(BIN)/python -m scripts.chromium >/dev/null || test -z "$$CI"
	@touch $@ $(VENV)/.installed

install: $(VENV)/.installed  ## what a crawl needs, into .venv

install-dev: $(VENV)/.installed-dev  ## the same, and the tools for tests and checks

demo: install  ## crawl the bundled shops, offline, and show what came out; ARGS=--keep: in a browser, too
	@$(BIN)/vitrine demo $(ARGS)

test: install-dev  ## the whole test suite, with its own Redis and PostgreSQL
	@$(BIN)/python -m compileall -q crawler
	@$(BIN)/python -m pytest $(if $(findstring no:xdist,$(ARGS)),,$(SIDE_BY_SIDE)) $(ARGS)

coverage: install-dev  ## the whole test suite, and which lines of crawler/ it runs (in .coverage/html, too)
	@rm -rf .coverage && mkdir .coverage
	-@$(BIN)/coverage run -m pytest $(SIDE_BY_SIDE) $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage html --quiet
	@$(BIN)/coverage report --sort=cover --skip-covered

lint: install-dev  ## ruff, import layers, dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/deptry . --no-ansi

typecheck: install-dev  ## mypy, strict
	@$(BIN)/mypy $(CHECKED)

format: install-dev  ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

reference: install-dev  ## write the tables of docs/ anew, from the code
	@$(BIN)/python -m scripts.reference

bench: install-dev peers  ## each figure beside a peer or a limit, measured now
	@$(BIN)/python -m bench $(ARGS)

$(PEERS)/.installed: requirements/peers.txt | $(VENV)/bin/python
	@echo "setting up $(PEERS) with other people's programs for WARC files (once, a minute) …" >&2
ifneq ($(UV),)
	@$(UV) venv --quiet --allow-existing --python "$$($(BIN)/python -c 'import sys; print(sys._base_executable)')" $(PEERS)
	@VIRTUAL_ENV=$(PEERS) $(UV) pip install --quiet --require-hashes -r requirements/peers.txt
else
	@$$($(BIN)/python -c 'import sys; print(sys._base_executable)') -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/peers.txt
endif
	@touch $@

peers: $(PEERS)/.installed  ## pywb, warcio and cdxj-indexer, into .peers, for tests and measures beside them

soak: install-dev peers  ## the torture tests that take longer than make test may, three at a time
	@$(BIN)/python -m pytest -m soak $(if $(findstring -n,$(ARGS)),,-n $(SOAKERS) --dist worksteal) $(ARGS)

lock:  ## renew the lock files (needs uv)
	@for set in runtime dev; do \
	  extra=$$(test $$set = dev && echo --extra=dev); \
	  $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url pyproject.toml requirements/build.in $$extra -o requirements/$$set.txt || exit 1; \
	done
	@awk '/^[^ ]/ { ours = /^scrapyd==/ } ours' requirements/dev.txt > requirements/scrapyd.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url requirements/peers.in -o requirements/peers.txt

clean:  ## remove what the targets made, but not var/
	@rm -rf $(VENV) $(PEERS) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache \
	  .coverage
