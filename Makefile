# make demo: try it on an emulated rack    make test: before each commit    make test-all: everything
# make install: just .venv/bin/exacell
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3; do \
	if command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)
VENV := .venv
PIP_QUIET := --quiet --disable-pip-version-check
ARGS ?=

# What is compiled is kept beside it. Without that each of the processes that tests start, thousands, would compile exacell anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test test-rest test-all test-real faults races soak mutants fuzz fuzz-readers lint man docs dist clean

install: $(VENV)/.installed

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "exacell needs Python 3.11 or newer and finds none: install python3.11 (Debian, Ubuntu: with python3.11-venv), or say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); sh .ci/install-os-packages venv $(PYTHON) && $(PYTHON) -m venv $(VENV); }

$(VENV)/.installed: $(VENV)/bin/python setup.cfg pyproject.toml
	@echo "installing exacell into $(VENV) ..." >&2
	@$(VENV)/bin/python -m pip install $(PIP_QUIET) --editable .
	@$(VENV)/bin/python -m compileall -q exacell
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	@echo "installing what the tests need ..." >&2
	@$(VENV)/bin/python -m pip install $(PIP_QUIET) --editable '.[test,dev]'
	@echo "compiling the tests ..." >&2
	@$(VENV)/bin/python -m pytest -n 0 -qq --collect-only tests >/dev/null || true
	@touch $@

demo: $(VENV)/.installed
	@$(VENV)/bin/exacell demo $(ARGS)

# worksteal keeps the tests of a module together, so that its emulated rack is started once and not in every worker;
# how many workers auto means, and what they begin with, tests/conftest.py says.
PYTEST = $(VENV)/bin/python -m pytest -n auto --dist worksteal

# What make test leaves out, and only make test-all does; the folders of make test are testpaths in setup.cfg.
REST := tests/e2e tests/faults tests/referees

# Before each commit: everything that needs no running rack, and the main job on emulated racks. The modules' own folders are
# named in setup.cfg, so that what is not run is not collected.
test: $(VENV)/.tested
	@sh .ci/install-os-packages tests
	@echo "make test: the modules and the main job on emulated racks; on two quiet cores some 4 minutes. make test-all runs everything" >&2
	@$(PYTEST) $(ARGS)

test-rest: $(VENV)/.tested
	@sh .ci/install-os-packages tests
	@echo "make test-rest: what make test leaves out: $(REST); on two quiet cores some 20 minutes" >&2
	@$(PYTEST) $(REST) $(ARGS)

test-all: $(VENV)/.tested
	@sh .ci/install-os-packages tests
	@echo "make test-all: every test; on two quiet cores some 30 minutes" >&2
	@$(PYTEST) tests $(ARGS)

# What is compared with what only some machines have: R and scipy (docs/measuring.md), a browser for reports (docs/reports.md),
# and two Linux guests in QEMU whose kernels are set (docs/hosts.md). What is not there is skipped by name.
test-real: $(VENV)/.tested
	@sh .ci/install-os-packages real
	@$(VENV)/bin/python -m pip install $(PIP_QUIET) --no-deps axe-playwright-python==0.1.8 || echo "not installed: axe-core, without which pages are not checked for accessibility" >&2
	@$(VENV)/bin/python -m pip install $(PIP_QUIET) scipy || echo "not installed: scipy, with which verdicts are compared" >&2
	@TEST_REAL=1 $(VENV)/bin/python -m pytest -n 0 -p no:randomly -rs tests/measure tests/real tests/e2e/test_e2e_recipes_on_racks.py $(ARGS)

# Every case of the fault matrix, and every mutant of the guards (docs/reliability.md); minutes each.
faults: $(VENV)/.tested
	@$(VENV)/bin/python benchmarks/fault_matrix.py $(ARGS)

# Everything that can come between the last look at a cell and the statement that loses data; some minutes.
races: $(VENV)/.tested
	@$(VENV)/bin/python benchmarks/races.py $(ARGS)

# Two operators at work on fourteen cells through held connections while all kinds of things go wrong; twenty minutes, or ARGS=--minutes=N.
soak: $(VENV)/.tested
	@$(VENV)/bin/python benchmarks/soak.py $(ARGS)

mutants: $(VENV)/.tested
	@$(VENV)/bin/python benchmarks/mutate_guards.py $(ARGS)

# 200,000 generated shell texts, run in six shells in a sandbox (docs/reliability.md); half an hour.
fuzz: $(VENV)/.tested
	@sh .ci/install-os-packages tests
	@$(VENV)/bin/python benchmarks/fuzz_shell.py $(ARGS)

# Each reader of what others wrote, a minute under a fuzzer that follows its lines (docs/reliability.md); half an hour. The fuzzer has
# wheels for Linux on x86-64 and CPython 3.11 to 3.13.
fuzz-readers: $(VENV)/.tested
	@$(VENV)/bin/python -m pip install $(PIP_QUIET) --only-binary :all: atheris==3.0.0
	@$(VENV)/bin/python benchmarks/fuzz_readers.py $(ARGS)

lint: $(VENV)/.tested
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

man: $(VENV)/.installed
	@mkdir -p docs/man
	@$(VENV)/bin/python -c 'from exacell.commands.help import manual; print(manual(), end="")' > docs/man/exacell.1

# docs/ as one site, build/site/index.html: searchable without a network, and a link that leads nowhere is an error.
SITE := build/docs-tools
docs: $(VENV)/bin/python
	@test -x $(SITE)/bin/sphinx-build || { $(VENV)/bin/python -m venv $(SITE) && $(SITE)/bin/python -m pip install $(PIP_QUIET) sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19; }
	@rm -rf build/site
	@$(SITE)/bin/sphinx-build -q -W --keep-going -c .ci/packaging/site docs build/site
	@echo "build/site/index.html"

# What is handed out, into dist/: one executable for Linux, an RPM, source, wheel, all libraries for machines without internet, SBOM, sums;
# the same commit gives the same bytes. It needs Debian or Ubuntu, and a package index; some minutes.
dist: $(VENV)/.installed
	@sh .ci/install-os-packages dist
	@$(VENV)/bin/python .ci/dist $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
