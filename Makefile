# `make` alone prints this list of targets. Everything a target needs is Go, git, make and curl;
# alternatives, conformance, interop, clients, auth-e2e, registration-e2e, keycloak-e2e, services-e2e, console-e2e, corpus, judges, sbom, paths, site and docs-check also need npm, and install what they use below out/; proxy-e2e and failover need nginx, alerts promtool, night nginx, redis-server and prometheus.

GO            ?= go
OUT           := out
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT        ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS       := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# The same sources give the same bytes, wherever they are and whatever git knows: Dockerfile has the same flags. Without the tag,
# grpc links html/template, and the program is a quarter larger (docs/contributing/adr/0062).
BUILDFLAGS    := -tags grpcnotrace -trimpath -buildvcs=false -ldflags '$(LDFLAGS)'
# When the sources were last changed: the time of everything in an image.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# The processors that an image is for; the first is what docker load takes where it knows only one.
IMAGE_ARCHS   ?= amd64 arm64

# Tools run as `go run pkg@version`, so that they never enter go.mod.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0
# The latest whose module tree is complete for the Go of go.mod; nfpm is the version in it, and makes the package that CI installs.
GORELEASER    := github.com/goreleaser/goreleaser/v2@v2.15.1
NFPM          := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
# The generator has the version of the library that its code calls.
TEMPL          = github.com/a-h/templ/cmd/templ@$(shell awk '$$1 == "github.com/a-h/templ" {print $$2}' go.mod)

# The folder of real OpenAPI documents that corpus, bench and clients read; what needs it skips without it. It is not handed to
# the other targets: with the race detector the corpus alone takes minutes.
OPENAPI_CORPUS ?= $(wildcard $(abspath ../shared/specs))

FUZZTIME      ?= 10s
# How long the tests of one package may take. What go test is called with otherwise has the same by default.
TEST_TIMEOUT  ?= 10m
ROUNDS        ?= 5
BENCH_FLAGS   ?=
DEMO_FLAGS    ?=
TOKENS_FLAGS  ?=
STREAMS_FLAGS ?=
VENDORS_FLAGS ?=
TASKS_FLAGS   ?=
REPLICAS_FLAGS ?=
NIGHT_FLAGS   ?=
MUTATE_FLAGS  ?=
PAIRS         ?= 100000
CHAOS_FLAGS   ?=
TTY_FLAGS     ?=
HOUSE_FLAGS   ?=
BINARY_FLAGS  ?=
CONSOLE_FLAGS ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/drawbridge, static and stripped
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -o bin/drawbridge ./cmd/drawbridge

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: platforms
platforms: ## the program has no error of types on the platforms of PLATFORMS; CI takes this, cross also generates code
	$(GO) run ./test/platforms $(PLATFORMS)

.PHONY: cross
cross: ## the program builds for each platform of PLATFORMS
	@for platform in $(PLATFORMS); do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -o /dev/null ./cmd/drawbridge || exit 1; echo "$$platform: ok"; \
	done

.PHONY: demo
demo: ## a sample legacy service and the gateway in front of it, until Ctrl-C (DEMO_FLAGS=--auth: with a login)
	@echo 'Go compiles the program: about two minutes the first time, seconds after that. Then it starts a sample service'
	@echo 'and the gateway in front of it, makes one call, says how to connect a client, and serves until Ctrl-C.'
	@CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -o bin/drawbridge ./cmd/drawbridge
	@bin/drawbridge demo $(DEMO_FLAGS)

.PHONY: test
test: ## go vet, then every test in random order: those of the program with the race detector, those of test/ without it
	$(GO) vet ./...
	$(GO) test -timeout $(TEST_TIMEOUT) -tags purego ./openapi/jsonscan
	$(GO) test -shuffle=on -timeout $(TEST_TIMEOUT) ./test/... -vet=off
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout $(TEST_TIMEOUT) $$($(GO) list ./... | grep -v '^drawbridge/test/') -vet=off

.PHONY: test-busy
test-busy: ## make test ROUNDS times (5) beside two busy loops, for tests that depend on load or hang
	.ci/busy $(ROUNDS)

.PHONY: lint
lint: ## formatting and linters (.golangci.yaml)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) run $(GOLANGCI_LINT) run ./...

.PHONY: generate
generate: ## the Go code of pages, *_templ.go, from *.templ
	@for folder in $$(git ls-files -co --exclude-standard '*.templ' | xargs -n1 dirname | sort -u); do $(GO) run $(TEMPL) generate -log-level warn -path $$folder || exit 1; done

.PHONY: generated
generated: ## fail when the Go code of a page was not that of its *.templ; it is afterwards
	@digest() { git ls-files -co --exclude-standard '*_templ.go' | sort | xargs sha256sum; }; \
	before=$$(digest); $(MAKE) --no-print-directory generate; after=$$(digest); \
	if [ "$$before" != "$$after" ]; then echo "were not generated from their *.templ:"; printf '%s\n%s\n' "$$before" "$$after" | sort | uniq -u; exit 1; fi

.PHONY: house
house: ## files, lines, exported names, and files that need each other, by package (HOUSE_FLAGS='-set gateway/mcp': the files of a set)
	$(GO) run ./test/house $(HOUSE_FLAGS)

.PHONY: vuln
vuln: ## known vulnerabilities in what the binary reaches (needs vuln.go.dev)
	$(GO) run $(GOVULNCHECK) ./cmd/drawbridge

.PHONY: check
check: lint house test tidy generated ## what has to pass before a change is sent: lint, the limits of packages, test, a tidy go.mod, current generated code

.PHONY: tidy
tidy: ## fail when go.mod or go.sum are not tidy
	$(GO) mod tidy -diff

.PHONY: whole
whole: ## the tests that do less with the race detector, and the bounds of allocations, in full without it
	.ci/whole

.PHONY: binary-size
binary-size: ## what each module costs in the program, in kB (BINARY_FLAGS='-packages drawbridge': the packages of one)
	CGO_ENABLED=0 $(GO) build -tags grpcnotrace -trimpath -buildvcs=false -ldflags=-w -o $(OUT)/binary/drawbridge ./cmd/drawbridge
	$(GO) run ./test/binary $(BINARY_FLAGS) $(OUT)/binary/drawbridge

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s); make test runs their seeds
	.ci/fuzz $(FUZZTIME)

.PHONY: widening
widening: ## the properties of the comparison of access, over PAIRS (100000) generated configurations
	WIDENING_PAIRS=$(PAIRS) $(GO) test -count=1 -timeout 2h -run 'TestSameAccess|TestForgottenTag' -v ./gateway/widening

.PHONY: cve
cve: ## the regression tests of docs/contributing/advisories.md: id, test, status
	.ci/cve

.PHONY: mutate
mutate: ## would the tests of tokens, credentials, requests, the dial guard and connections notice a change? (MUTATE_FLAGS='-only guard')
	$(GO) run ./test/mutate $(MUTATE_FLAGS)

.PHONY: bombs
bombs: ## hostile documents under the caps of S3 (2 s, 256 MiB each), as a table; wants a quiet machine
	$(GO) test -count=1 -v -run '^TestBombCorpus$$' ./openapi -args -bombs
	$(GO) test -count=1 -v -run '^TestBombOverlays$$' ./openapi -args -bombs
	$(GO) test -count=1 -run '^TestBombs$$' ./openapi ./openapi/tree -args -bombs
	$(GO) test -count=1 -v -run '^TestHostileGrowth$$' ./openapi

.PHONY: corpus
corpus: ## the table of real documents in OPENAPI_CORPUS, then every tool's schema through ajv
	mkdir -p $(OUT)
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) TOOLS_DUMP=$(abspath $(OUT)/tools.jsonl) $(GO) test -timeout 30m -count=1 -v -run '^TestCorpus' ./openapi
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) $(GO) test -timeout 30m -count=1 -run '^TestCorpus' ./openapi/tree ./openapi/schema ./gateway/catalog
	test/ajv/run $(OUT)/tools.jsonl

JUDGE_FLAGS = $(if $(SAMPLE),-sample $(SAMPLE)) $(if $(SEED),-seed $(SEED)) $(if $(MARKDOWN),-markdown) $(if $(OVERLAYS),-overlays $(abspath $(OUT)/overlays))
PRISM_FLAGS = $(if $(GENERATED),-generated $(GENERATED)) $(if $(EACH),-each $(EACH)) $(if $(VERBOSE),-v)

.PHONY: readiness
readiness: ## the scores of the documents in OPENAPI_CORPUS before and after the overlay of score --fix, as a table (OVERLAYS_DUMP=DIR writes the overlays)
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) $(GO) test -timeout 30m -count=1 -v -run '^TestFixCorpus' ./openapi/readiness

.PHONY: judges judge-filter judge-swaggerclient judge-prism
judges: judge-filter judge-swaggerclient judge-prism ## other implementations on what is sent (SAMPLE=300 SEED=1 MARKDOWN=1; OVERLAYS=1: with the overlays of score --fix)

ifdef OVERLAYS
judge-swaggerclient judge-prism: score-overlays
endif
.PHONY: score-overlays
score-overlays: # an overlay of score --fix for each document of OPENAPI_CORPUS that has changes
	mkdir -p $(OUT)/overlays
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) OVERLAYS_DUMP=$(abspath $(OUT)/overlays) $(GO) test -timeout 30m -count=1 -run '^TestFixCorpus$$' ./openapi/readiness

judge-filter: ## openapi3filter decodes 10,000 calls of generated documents
	$(GO) test -count=1 -v -run '^Test(Judge|Rules)$$' ./test/judges/filter -cases 10000 -seed $(or $(SEED),0) $(if $(MARKDOWN),-markdown)

judge-swaggerclient: ## the reference JavaScript client builds the same requests (SAMPLE operations, or all)
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) test/judges/swaggerclient/run $(JUDGE_FLAGS)

judge-prism: ## Prism accepts the requests, and its answers become results (SAMPLE operations, or all; GENERATED=5 calls of each with generated arguments, SPECS=DIR: other documents, EACH=40 operations of each, VERBOSE=1)
	OPENAPI_CORPUS=$(if $(SPECS),$(abspath $(SPECS)),$(OPENAPI_CORPUS)) test/judges/prism/run $(JUDGE_FLAGS) $(PRISM_FLAGS)

FINDING ?= $(wildcard $(abspath ../shared/finding))
.PHONY: finding
finding: ## how well tools are found by words, on public query sets (FINDING=DIR, FINDING_FLAGS=-all: all documents at once, -across, -people, -misses SET, -weak SET, -embeddings URL)
	$(GO) run ./test/finding $(FINDING_FLAGS) $(FINDING)

.PHONY: workflows
workflows: ## runs public workflows (Arazzo) against services that answer only as documented (FINDING=DIR, WORKFLOWS_FLAGS=-v: faults and reasons); a missed goal is an error
	$(GO) run ./test/workflows $(WORKFLOWS_FLAGS) $(FINDING)

.PHONY: embeddings-server
embeddings-server: ## serves a small sentence model at 127.0.0.1:8089 for FINDING_FLAGS='-embeddings http://127.0.0.1:8089' (EMBEDDINGS_FLAGS='--table FILE')
	test/embeddings/install out/embeddings-venv
	out/embeddings-venv/bin/python test/embeddings/server.py $(EMBEDDINGS_FLAGS)

.PHONY: tool-lists
tool-lists: build ## what lists of tools and answers of search_tools cost in tokens, and the index of 10,000 tools (FINDING=DIR); a missed goal is an error
	$(GO) run ./test/toollists -gateway bin/drawbridge -corpus $(OPENAPI_CORPUS) -finding $(FINDING)

.PHONY: projection
projection: ## the tokens that projections save on recorded answers (PROJECTION_FLAGS='-goal 95')
	$(GO) run ./test/projection $(PROJECTION_FLAGS)

.PHONY: bench
bench: build ## gateway against a plain reverse proxy; a missed goal is an error, except with BENCH_FLAGS=-short (-h lists the flags)
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) $(GO) run ./test/bench -gateway bin/drawbridge $(BENCH_FLAGS)

.PHONY: files-bench
files-bench: build ## a file of a gigabyte: uploaded, stored, downloaded and passed on, with the memory of the process (FILES_FLAGS=-h)
	$(GO) run ./test/files -gateway bin/drawbridge $(FILES_FLAGS)

.PHONY: tokens
tokens: build ## rotation, unknown key ids and outages under load (TOKENS_FLAGS='-phase 10m -rotate 30s': in full)
	$(GO) run ./test/tokens -gateway bin/drawbridge $(TOKENS_FLAGS)

.PHONY: streams
streams: build ## 10,000 open streams: memory, time to tell them of a change, and 1,000 changes under load (STREAMS_FLAGS=-h)
	$(GO) run ./test/streams -gateway bin/drawbridge $(STREAMS_FLAGS)

.PHONY: chaos chaos-full
chaos: build ## what fails in front of callers, as the table of docs/contributing/chaos.md (CHAOS_FLAGS='-figures 2,9', -short, -list)
	test/chaos/run $(CHAOS_FLAGS)

chaos-full: build ## one of its figures as a whole, up to an hour (FIGURE=9)
	test/chaos/run -full -figures $(or $(FIGURE),$(error which one? FIGURE=9)) $(CHAOS_FLAGS)

.PHONY: replicas
replicas: build ## three gateways and a Redis that is killed under load, as a table (needs redis-server; REPLICAS_FLAGS=-h)
	$(GO) run ./test/replicas -gateway bin/drawbridge $(REPLICAS_FLAGS)

.PHONY: failover
failover: build ## two gateways behind nginx: restarts while the identity provider hangs, a full audit disk; failed calls, as a table (FAILOVER_FLAGS=-h)
	test/failover/run $(FAILOVER_FLAGS)

.PHONY: night
night: build ## ten faults on two gateways behind nginx, each until its alert of deploy/prometheus fires, docs/operations.md has mended it and the alert ends; a table, in four minutes (NIGHT_FLAGS='-only Audit')
	test/night/run $(NIGHT_FLAGS)

.PHONY: interop
interop: ## the official Go and TypeScript clients against the gateway
	test/interop/run

.PHONY: clients
clients: ## tables of features and of search mode, by official clients and revisions, with a loop as hosts have it
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) test/clients/run

.PHONY: vendors
vendors: build ## clients and converters of model vendors on the tools of real documents, as a table (VENDORS_FLAGS='-every 6 -calls 3')
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) test/vendors/run $(VENDORS_FLAGS)

.PHONY: tasks
tasks: build ## tasks on four real services through the gateway, by scripts, as a table; a task that is not solved is an error (TASKS_FLAGS='-model URL', -serve for any model with a client, -fastmcp, -v, -only NAME; needs python3)
	test/tasks/run $(TASKS_FLAGS)

.PHONY: auth-e2e
auth-e2e: ## official clients log in at oidc-provider, at the demo's server, and at the gateway in front of providers without registration (BROWSER=1: also with chromium; needs python3)
	test/authe2e/run

.PHONY: registration-e2e
registration-e2e: ## the part of auth-e2e on auth.registration: six clients, a restart and a replica (needs python3)
	AUTH_E2E_RUN=TestAuth/registration test/authe2e/run

.PHONY: accounts-e2e
accounts-e2e: ## the part of auth-e2e on credentials of type authorization_code: two users, 1,000 calls, a replica that dies, a revocation (needs python3 and redis-server)
	AUTH_E2E_RUN=TestAuth/accounts test/authe2e/run

.PHONY: keycloak-e2e
keycloak-e2e: ## docs/start/keycloak.md with a real Keycloak and the official TypeScript clients, as a table; installs Java and Keycloak
	test/authe2e/keycloak

.PHONY: services-e2e
services-e2e: ## calls of Node-RED, which has a login, and of Apache httpd and lighttpd with digests; installs all three
	test/services/run

.PHONY: proxy-e2e
proxy-e2e: ## the gateway behind nginx with deploy/nginx; installs nginx by apt-get
	test/e2e/proxy

.PHONY: proxy-egress
proxy-egress: ## the gateway behind squid, tinyproxy and microsocks, which it installs by apt-get, in a network namespace (root)
	test/egress/run

.PHONY: conformance
conformance: build conformance-auth ## the official MCP conformance suite against the gateway, and conformance-auth
	test/conformance/run

.PHONY: conformance-auth
conformance-auth: build ## its scenarios for authorization servers against that of demo --auth
	test/conformance/authorization

.PHONY: image image-binaries reproducible
image: image-binaries ## write an OCI archive of the gateway to bin/, no daemon or registry needed (IMAGE_ARCHS='amd64 arm64')
	$(GO) run ./test/image $(foreach arch,$(IMAGE_ARCHS),-binary bin/$(arch)/drawbridge) -version '$(VERSION)' -revision '$(COMMIT)' -out bin/drawbridge-image.tar

image-binaries:
	@for arch in $(IMAGE_ARCHS); do CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build $(BUILDFLAGS) -o bin/$$arch/drawbridge ./cmd/drawbridge || exit; done

reproducible: ## make image twice, at two places, and compare the bytes (CLEAN=1: the second time with an empty build cache)
	test/image/reproducible

.PHONY: sbom
sbom: image ## what the image is made of (CycloneDX) and how it was made (SLSA provenance), validated, in bin/
	test/sbom/run '$(VERSION)' '$(COMMIT)' $(foreach arch,$(IMAGE_ARCHS),bin/$(arch)/drawbridge)

# Where the files of a release are published, for the Homebrew formula and install.sh.
RELEASE_URL ?= https://downloads.example.com/drawbridge
# The names of the packages at npm, where those of platforms begin with the same, and at PyPI.
NPM_NAME    ?= drawbridge
PYPI_NAME   ?= drawbridge
.PHONY: release release-reproducible release-rehearsal package
release: ## archives, packages (deb, rpm, apk, npm, PyPI, Homebrew), install.sh, bills of materials and checksums in out/release (RELEASE_URL=https://… RELEASE_KEY=FILE NPM_NAME=… PYPI_NAME=…)
	GORELEASER='$(GORELEASER)' RELEASE_URL='$(RELEASE_URL)' NPM_NAME='$(NPM_NAME)' PYPI_NAME='$(PYPI_NAME)' RELEASE_KEY='$(RELEASE_KEY)' deploy/package/release '$(VERSION)' '$(COMMIT)'
	test/package/archives

release-reproducible: ## make release twice, at two places, and compare the bytes
	test/package/reproducible

release-rehearsal: ## install each kind of out/release in a clean root, from a server on loopback, and run its demo, as a table (after make release)
	$(GO) run ./test/rehearsal -npm '$(NPM_NAME)' -pypi '$(PYPI_NAME)' -version "$$(deploy/package/version)" out/release

package: ## install the deb of this machine, start the program as its user, and remove it (as root; else its files alone)
	VERSION='$(VERSION)' COMMIT='$(COMMIT)' test/package/run

.PHONY: limits
limits: image ## run the image's program as its user, on a read-only root, with 100 MiB: memory and writes
	test/limits/run

.PHONY: paths
paths: ## hostile path, query and header arguments to nginx, Apache, Tomcat, Node, Go and Python; installs them
	test/paths/run

.PHONY: helm
helm: ## lint and render deploy/helm, validate the manifests and load their configuration
	test/deploy/helm

.PHONY: alerts
alerts: ## check deploy/prometheus and play its cases with promtool, which it downloads by apt-get if it is not there
	test/alerts/run

.PHONY: compose
compose: ## hold deploy/compose and deploy/haproxy against their readers and the gateway's loader
	test/deploy/compose

.PHONY: site site-preview site-check
site: ## the documentation as a site in out/site (DOCS_BASE=/path/, DOCS_SOURCE=URL that paths of source files are appended to)
	docs/.vitepress/build

site-preview: site ## serve it on http://127.0.0.1:4173
	out/_npm/.vitepress/node_modules/.bin/vite preview --outDir $(abspath $(OUT)/site) --host 127.0.0.1 --port 4173

site-check: site ## read the site with chromium: every page, the search, nothing from another host; screenshots in out/site-screenshots
	test/site/run

.PHONY: console-e2e
console-e2e: build ## the console in chromium: times, accessibility, logins and attacks, as a table; a missed goal is an error (CONSOLE_FLAGS='-only looks -screenshots docs/console')
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) test/console/run $(CONSOLE_FLAGS)

.PHONY: docs-check spelling
docs-check: spelling ## links, anchors, spelling, length of sentences, and every block of code of the documentation
	$(GO) test -count=1 -v ./test/docs -run '^Test(Links|Index|MakeTargets|Sentences|ConfigurationBlocks|StartBlocks)$$'
	$(GO) test -count=1 -v ./cmd/drawbridge -run '^Test(PageCommands|Readme|StartGuide|CurlPage)$$'

spelling: ## the spelling of all pages
	test/spelling/run

.PHONY: start-guide demo-cold
demo-cold: ## make demo in a fresh clone with empty caches, with the time of each line; it downloads modules
	test/stopwatch/demo

start-guide: ## do the Start guide by its own commands in a fresh clone, and print the time of each step
	test/stopwatch/run

.PHONY: alternatives
alternatives: build ## the gateway and five other servers, by the same documents, calls, service and client (needs python3 and npm; ALTERNATIVES_FLAGS='-only requests')
	OPENAPI_CORPUS=$(OPENAPI_CORPUS) test/alternatives/run $(ALTERNATIVES_FLAGS)

.PHONY: tty
tty: ## the program in terminals (tmux), screen by screen (TTY_FLAGS=-update accepts what is seen; -only init)
	test/tty/run $(TTY_FLAGS)

.PHONY: discovery-e2e
REGISTRIES = file http consul kubernetes eureka nacos service_center api_catalog dns spring_boot
discovery-e2e: build ## how soon discovered services are followed, what an outage of the registry costs, and many services (REGISTRIES=consul DISCOVERY_FLAGS='-outage 5s -services 50'); it builds the registries, and kubernetes needs root
	test/discovery/run "$(REGISTRIES)" $(DISCOVERY_FLAGS)

.PHONY: discovery-docker
discovery-docker: ## start containers at a Docker daemon of Debian, and print how soon their tools can be called; it needs root
	test/discovery/docker

.PHONY: clean
clean: ## remove bin/ and out/
	rm -rf bin $(OUT)
