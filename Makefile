# Every target that people and CI use. `make` alone lists them.
export GOTOOLCHAIN := go1.27.3+auto
# The command line library's documentation generator costs every start time, and is not used;
# nor are extensions of SQLite. What is built, tested and checked here has the same flags, as
# everything, and SQLite's C code above all, is compiled once for each set of them.
TAGS    := urfave_cli_no_docs,sqlite_omit_load_extension
export GOFLAGS := -trimpath -tags=$(TAGS)
# SQLite for the tests with the race detector, which it does not look into: -O2 -g takes three
# times as long to compile. What is shipped or measured is never built with this.
RACE_CFLAGS := -O1
GO      ?= go
BIN     := bin/simplex
TIMEOUT ?= 9m
FUZZTIME ?= 1s
PREFIX  ?= /usr/local
# The image: what it is based on, and its name.
BASE    ?= scratch
IMAGE   ?= simplex-target
SOURCES := $(shell find . -name '*.go' -o -name '*.yaml' -o -name '*.json' | grep -v '^./bin/') go.mod go.sum VERSION

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build bin/simplex

$(BIN): $(SOURCES)
	$(GO) build -o $@ ./cmd/simplex

static: ## build bin/simplex-static, which needs no library of the system
	CGO_ENABLED=1 $(GO) build -trimpath -tags '$(TAGS),netgo,osusergo' \
		-ldflags '-s -w -extldflags=-static' -o bin/simplex-static ./cmd/simplex
	@! ldd bin/simplex-static >/dev/null 2>&1 || { echo 'bin/simplex-static is linked dynamically' >&2; exit 1; }

image: static ## build the image of a worker container on the local Docker engine
	@mkdir -p bin/image
	docker/rootfs.sh bin/simplex-static bin/image/rootfs.tar
	docker build -q -t $(IMAGE) --build-arg BASE=$(BASE) -f docker/Dockerfile bin/image

demo: build ## watch an offline agent run a real command
	@scripts/demo.sh $(BIN)

test: check race fuzz ## everything that must pass: checks, tests with the race detector, short fuzzing

check: ## format, vet, staticcheck, generated files
	@out=$$($(GO) tool gofumpt -l .); [ -z "$$out" ] || { echo "gofumpt: $$out" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@scripts/generated.sh

race: ## all tests with the race detector
	CGO_CFLAGS=$(RACE_CFLAGS) $(GO) test -race -vet=off -timeout $(TIMEOUT) ./...

fuzz: ## each fuzz target for FUZZTIME (default 1s)
	@scripts/fuzz.sh $(FUZZTIME)

crash: ## the crash harness on the real binary: kills, faults and power cuts (needs root)
	$(GO) test -tags crash,$(TAGS) -timeout 60m -count=1 -v ./test/crash ./test/crashworker

soak: ## the long tests: kills, bad links, many workers (needs root and iproute2)
	@scripts/soak.sh

peers: ## drive mock servers that others wrote (installs them from npm into a temporary folder)
	SIMPLEX_PEERS=1 $(GO) test -count=1 ./llm/peers ./tools/mcp

bench: build ## measure against the floor programs (PERF=path of their folder)
	@scripts/bench.sh $(BIN)

install: build ## install the binary, the prompts, man page and completions below PREFIX
	install -D -m 0755 $(BIN) $(DESTDIR)$(PREFIX)/bin/simplex
	for f in $$(cd prompts && find . -name '*.yaml'); do install -D -m 0644 prompts/$$f $(DESTDIR)$(PREFIX)/bin/prompts/$$f; done
	cd $(DESTDIR)$(PREFIX) && mkdir -p share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d
	$(BIN) generate man > $(DESTDIR)$(PREFIX)/share/man/man1/simplex.1
	$(BIN) generate bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/simplex
	$(BIN) generate zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_simplex
	$(BIN) generate fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/simplex.fish

clean: ## remove what was built
	rm -rf bin

.PHONY: help build static image demo test check race fuzz crash soak peers bench install clean
