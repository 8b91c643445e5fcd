# Nexus: `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCAL := libs/contracts libs/runtime services/gateway services/agent services/tool-executor services/memory services/market-adapter cli
PROJECTS := pyproject.toml $(addsuffix /pyproject.toml,$(LOCAL))
STAMP := $(VENV)/.installed

.PHONY: help setup lock up test check
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## install everything into .venv

$(STAMP): requirements.lock deploy/bootstrap.lock $(PROJECTS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r deploy/bootstrap.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation $(addprefix -e ,$(addprefix ./,$(LOCAL)))
	touch $@

lock: ## compile requirements.lock anew (needs a package index)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-header --no-annotate --no-emit-package nexus-contracts --no-emit-package nexus-runtime \
		--no-emit-package nexus-gateway --no-emit-package nexus-agent --no-emit-package nexus-tool-executor \
		--no-emit-package nexus-memory --no-emit-package nexus-market-adapter --no-emit-package nexus-cli \
		--group dev pyproject.toml -o requirements.lock
