package fence

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "drawbridge"

// A room is what one package may import, besides the standard library.
type room struct {
	// arrows are the packages of this module, relative to it.
	arrows []string
	// modules are third-party import paths or prefixes of them, ended by "/" or by the end of the path.
	modules []string
}

// Free everywhere except in gateway/mcp: the vocabulary of telemetry and of concurrency, no mechanism.
var free = []string{
	"go.opentelemetry.io/otel",
	"github.com/prometheus/client_golang/prometheus",
	"golang.org/x/sync",
}

// The OpenTelemetry SDK and its exporters live below the API's path, and are not free.
var notFree = []string{
	"go.opentelemetry.io/otel/sdk",
	"go.opentelemetry.io/otel/exporters",
	"github.com/prometheus/client_golang/prometheus/promhttp",
}

// Every package may import the leaves, which stand on the standard library alone: openapi/jsonscan (docs/contributing/adr/0004), and what has to be
// decided alike everywhere.
var leaves = []string{"openapi/jsonscan", "openapi/origin", "openapi/otherformat", "openapi/text", "gateway/signal"}

// rooms is the table of docs/contributing/architecture.md. A package that is not listed may not exist.
var rooms = map[string]room{
	"config": {modules: []string{"go.yaml.in/yaml/v4", "github.com/fsnotify/fsnotify"}},

	"openapi":             {arrows: []string{"openapi/httpmethod", "openapi/schema", "openapi/wire", "openapi/tree", "openapi/pacing", "openapi/mediatype", "openapi/charset", "openapi/answer", "openapi/fetch", "openapi/overlay"}, modules: []string{"github.com/getkin/kin-openapi"}},
	"openapi/tree":        {arrows: []string{"openapi/pacing"}, modules: []string{"go.yaml.in/yaml/v4", "golang.org/x/text"}},
	"openapi/schema":      {arrows: []string{"openapi/tree", "openapi/pacing", "openapi/unseen", "openapi/schema/ecmaregexp"}, modules: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	"openapi/wire":        {arrows: []string{"openapi/mediatype"}},
	"openapi/jsonscan":    {},
	"openapi/otherformat": {},
	"openapi/origin":      {},
	"openapi/text":        {modules: []string{"github.com/mozillazg/go-pinyin", "github.com/mozillazg/go-unidecode", "golang.org/x/text"}},
	"gateway/signal":      {},
	"openapi/unseen":      {},
	"openapi/httpmethod":  {},
	"openapi/pacing":      {},

	"openapi/schema/ecmaregexp": {arrows: []string{"openapi/unseen"}},
	"openapi/mediatype":         {},
	"openapi/answer":            {arrows: []string{"openapi/schema", "openapi/unseen", "openapi/mediatype", "openapi/charset"}, modules: []string{"golang.org/x/net/html"}},
	"openapi/fetch":             {arrows: []string{"openapi/tree", "openapi/pacing", "openapi/mediatype", "openapi/charset"}, modules: []string{"golang.org/x/net/html", "golang.org/x/text"}},
	"openapi/overlay":           {arrows: []string{"openapi/overlay/jsonpath", "openapi/tree"}},
	"openapi/overlay/jsonpath":  {arrows: []string{"openapi/tree"}},
	"openapi/charset":           {arrows: []string{"openapi/mediatype"}, modules: []string{"golang.org/x/text"}},

	"auth":            {modules: []string{"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4", "cel.dev/cel-go"}},
	"auth/credential": {arrows: []string{"auth"}, modules: []string{"golang.org/x/oauth2", "github.com/go-jose/go-jose/v4", "github.com/aws/aws-sdk-go-v2"}},
	"auth/authtest":   {modules: []string{"github.com/go-jose/go-jose/v4"}},

	"gateway": {
		arrows: []string{"auth", "auth/credential", "config", "gateway/admin", "gateway/admission", "gateway/audit", "gateway/authguard", "gateway/cache", "gateway/call", "gateway/catalog", "gateway/clientip", "gateway/console", "gateway/discovery", "gateway/discovery/providers", "gateway/diskcache", "gateway/upstream", "gateway/embedding", "gateway/endpoint", "gateway/finder", "gateway/generation", "gateway/history", "gateway/job", "gateway/listener", "gateway/mcp", "gateway/plan", "gateway/prompt", "gateway/recovery", "gateway/reload", "gateway/report", "gateway/resource", "gateway/localfile", "gateway/source", "gateway/state", "gateway/task", "gateway/telemetry", "gateway/widening", "openapi", "openapi/answer", "openapi/fetch"},
	},
	"gateway/task":                    {arrows: []string{"auth", "config", "gateway/admission", "gateway/call", "gateway/catalog", "gateway/upstream", "gateway/job", "gateway/mcp", "gateway/plan", "gateway/signal", "gateway/source", "gateway/state", "gateway/telemetry"}, modules: []string{"github.com/go-chi/chi/v5"}},
	"gateway/resource":                {arrows: []string{"auth", "gateway/cache", "gateway/call", "gateway/mcp", "gateway/plan", "gateway/render", "gateway/source", "gateway/telemetry", "openapi", "openapi/answer"}},
	"gateway/prompt":                  {arrows: []string{"auth", "config", "gateway/call", "gateway/elicit", "gateway/mcp", "gateway/plan", "gateway/render", "gateway/resource", "gateway/telemetry", "gateway/tokenizer", "openapi", "openapi/answer"}},
	"gateway/endpoint":                {arrows: []string{"auth", "auth/credential", "config", "gateway/admission", "gateway/audit", "gateway/call", "gateway/catalog", "gateway/clientip", "gateway/embedding", "gateway/listener", "gateway/mcp", "gateway/plan", "gateway/prompt", "gateway/render", "gateway/resource", "gateway/state", "gateway/telemetry", "gateway/tokenizer", "gateway/toolsearch", "openapi"}, modules: []string{"github.com/go-chi/chi/v5"}},
	"gateway/report":                  {arrows: []string{"config", "gateway/admin", "gateway/catalog", "gateway/plan", "gateway/redact", "gateway/source", "gateway/telemetry", "openapi", "openapi/overlay"}},
	"gateway/toolsearch":              {arrows: []string{"gateway/catalog", "gateway/finder", "openapi"}},
	"gateway/tokenreport":             {arrows: []string{"gateway/catalog", "gateway/tokenizer", "openapi"}},
	"gateway/recovery":                {},
	"gateway/authguard":               {arrows: []string{"auth", "config", "gateway/admission", "gateway/call", "gateway/clientip", "gateway/localfile", "gateway/diskcache", "gateway/upstream", "gateway/source", "gateway/telemetry"}},
	"gateway/generation":              {arrows: []string{"auth", "auth/credential", "config", "gateway/admin", "gateway/admission", "gateway/authguard", "gateway/call", "gateway/catalog", "gateway/embedding", "gateway/endpoint", "gateway/job", "gateway/mcp", "gateway/plan", "gateway/prompt", "gateway/render", "gateway/report", "gateway/source", "gateway/task", "gateway/telemetry", "openapi", "openapi/fetch"}},
	"gateway/reload":                  {arrows: []string{"config", "gateway/admin", "gateway/discovery", "gateway/diskcache", "gateway/generation", "gateway/recovery", "gateway/redact", "gateway/signal", "gateway/source", "gateway/telemetry", "gateway/widening"}},
	"gateway/discovery":               {arrows: []string{"config", "gateway/localfile", "gateway/signal", "openapi/tree"}},
	"gateway/discovery/targetgroup":   {arrows: []string{"config", "gateway/discovery", "openapi/tree"}, modules: []string{"go.yaml.in/yaml/v4"}},
	"gateway/discovery/filesd":        {arrows: []string{"config", "gateway/discovery", "gateway/discovery/targetgroup", "gateway/localfile"}, modules: []string{"github.com/fsnotify/fsnotify"}},
	"gateway/discovery/httpsd":        {arrows: []string{"config", "gateway/discovery", "gateway/discovery/targetgroup"}},
	"gateway/discovery/providers":     {arrows: []string{"auth/credential", "config", "gateway/discovery", "gateway/discovery/apicatalog", "gateway/discovery/consul", "gateway/discovery/dns", "gateway/discovery/docker", "gateway/discovery/eureka", "gateway/discovery/filesd", "gateway/discovery/httpsd", "gateway/discovery/kubernetes", "gateway/discovery/nacos", "gateway/discovery/servicecenter", "gateway/discovery/targetgroup", "gateway/upstream"}},
	"gateway/upstream/balance":        {arrows: []string{}},
	"gateway/trailer":                 {modules: []string{"golang.org/x/net/http/httpguts"}},
	"gateway/discovery/consul":        {arrows: []string{"config", "gateway/discovery"}},
	"gateway/discovery/docker":        {arrows: []string{"config", "gateway/discovery", "gateway/signal"}},
	"gateway/console/signin":          {arrows: []string{"config", "gateway/state"}, modules: []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2"}},
	"gateway/console":                 {arrows: []string{"auth", "config", "gateway/admin", "gateway/call", "gateway/catalog", "gateway/console/signin", "gateway/discovery", "gateway/history", "gateway/mcp", "openapi", "openapi/unseen"}},
	"gateway/history":                 {},
	"gateway/discovery/eureka":        {arrows: []string{"config", "gateway/discovery"}},
	"gateway/discovery/apicatalog":    {arrows: []string{"config", "gateway/discovery"}},
	"gateway/discovery/dns":           {arrows: []string{"config", "gateway/discovery"}},
	"gateway/discovery/servicecenter": {arrows: []string{"config", "gateway/discovery", "openapi/tree"}, modules: []string{"go.yaml.in/yaml/v4"}},
	"gateway/discovery/nacos":         {arrows: []string{"config", "gateway/discovery"}},
	"gateway/mcp":                     {},
	"gateway/call":                    {arrows: []string{"auth", "auth/credential", "config", "gateway/admission", "gateway/audit", "gateway/cache", "gateway/catalog", "gateway/clientip", "gateway/elicit", "gateway/history", "gateway/job", "gateway/mcp", "gateway/plan", "gateway/projection", "gateway/redact", "gateway/render", "gateway/telemetry", "gateway/tokenizer", "gateway/upstream", "openapi", "openapi/answer", "openapi/mediatype"}},
	"gateway/plan":                    {arrows: []string{"config", "auth", "auth/credential", "openapi", "openapi/answer", "openapi/httpmethod", "gateway/admin", "gateway/admission", "gateway/cache", "gateway/catalog", "gateway/elicit", "gateway/job", "gateway/mcp", "gateway/projection", "gateway/redact", "gateway/render", "gateway/source", "gateway/telemetry", "gateway/upstream"}},
	"gateway/admission":               {arrows: []string{"auth", "config", "gateway/clientip", "gateway/mcp", "gateway/state", "gateway/telemetry", "openapi"}},
	"gateway/finder":                  {arrows: []string{"openapi", "gateway/catalog"}, modules: []string{"github.com/blevesearch/snowballstem"}},
	"gateway/projection":              {arrows: []string{"gateway/tokenizer"}, modules: []string{"github.com/itchyny/gojq"}},
	"gateway/embedding":               {arrows: []string{"config", "gateway/localfile", "gateway/catalog", "gateway/diskcache", "gateway/upstream", "gateway/finder", "gateway/signal"}},
	"gateway/catalog":                 {arrows: []string{"gateway/tokenizer", "openapi", "openapi/httpmethod"}},
	"gateway/listener":                {arrows: []string{"gateway/trailer"}, modules: []string{"golang.org/x/sys/unix"}},
	"gateway/upstream":                {arrows: []string{"config", "gateway/trailer", "gateway/upstream/balance", "openapi/httpmethod"}, modules: []string{"golang.org/x/net/http/httpguts", "golang.org/x/net/http/httpproxy", "golang.org/x/net/proxy", "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"}},
	"gateway/clientip":                {},
	"gateway/tokenizer":               {modules: []string{"github.com/tiktoken-go/tokenizer"}},
	"gateway/diskcache":               {arrows: []string{"gateway/localfile", "gateway/signal", "openapi", "openapi/fetch"}},
	"gateway/source":                  {arrows: []string{"auth", "auth/credential", "config", "gateway/admin", "gateway/admission", "gateway/catalog", "gateway/diskcache", "gateway/upstream", "gateway/elicit", "gateway/redact", "gateway/signal", "gateway/telemetry", "openapi", "openapi/fetch", "openapi/overlay"}},
	"gateway/localfile":               {},
	"gateway/telemetry":               {arrows: []string{"auth", "gateway/admin", "gateway/discovery", "gateway/listener", "gateway/mcp", "gateway/tokenizer", "gateway/upstream"}},
	"gateway/redact":                  {arrows: []string{"config", "openapi/answer"}, modules: []string{"golang.org/x/net/publicsuffix"}},
	"gateway/render":                  {arrows: []string{"config", "openapi", "openapi/answer", "gateway/job", "gateway/mcp", "gateway/redact", "gateway/upstream"}},
	"gateway/cache":                   {},
	"gateway/job":                     {arrows: []string{"config", "auth/credential", "openapi", "openapi/answer", "openapi/httpmethod", "gateway/elicit", "gateway/mcp", "gateway/redact"}},
	"gateway/elicit":                  {arrows: []string{"config", "openapi", "gateway/mcp"}},
	"gateway/state":                   {modules: []string{"github.com/redis/go-redis/v9"}},
	"gateway/audit":                   {},
	"gateway/widening":                {arrows: []string{"config", "gateway/localfile", "gateway/diskcache", "gateway/plan", "gateway/signal", "gateway/source", "openapi", "openapi/httpmethod"}},
	"gateway/admin":                   {arrows: []string{"gateway/discovery"}, modules: []string{"github.com/prometheus/client_golang/prometheus/promhttp"}},

	"gateway/discovery/kubernetes": {arrows: []string{"config", "gateway/discovery", "gateway/localfile"}, modules: []string{"go.yaml.in/yaml/v4"}},

	"cmd/drawbridge": {
		arrows:  []string{"config", "gateway", "gateway/audit", "gateway/upstream", "gateway/listener", "gateway/tokenreport", "auth/authtest", "cmd/drawbridge/demo", "cmd/drawbridge/terminal"},
		modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/KimMachineGun/automemlimit", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "github.com/prometheus/client_golang/prometheus/collectors"},
	},
	"cmd/drawbridge/demo": {},

	"cmd/drawbridge/terminal": {modules: []string{"golang.org/x/term", "golang.org/x/text", "golang.org/x/sys/windows"}},
}

// listed is the part of `go list -json` that the tests read.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	GoFiles    []string
}

func TestArrowsAndFences(t *testing.T) {
	for _, p := range list(t, "./...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == "test" || strings.HasPrefix(name, "test/") {
			continue // what runs the program from outside may import anything; see TestBinary
		}
		r, ok := rooms[name]
		if !ok {
			t.Errorf("package %q has no row in the table of packages: new packages are a design change", name)
			continue
		}
		for _, i := range p.Imports {
			if reason := r.refuses(name, i); reason != "" {
				t.Errorf("package %q imports %q: %s", name, i, reason)
			}
		}
	}
}

// refuses says why the room of that name may not import path, or "".
func (r room) refuses(name, path string) string {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		if slices.Contains(leaves, own) || slices.Contains(r.arrows, own) {
			return ""
		}
		return "the table of packages has no such arrow"
	}
	if !strings.Contains(strings.SplitN(path, "/", 2)[0], ".") {
		return "" // standard library
	}
	if within(path, r.modules) {
		return ""
	}
	if name != "gateway/mcp" && !slices.Contains(leaves, name) && within(path, free) && !within(path, notFree) {
		return ""
	}
	return "the table of packages does not give it this third-party module"
}

// within reports whether path is one of the prefixes or stands below one.
func within(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}

// The official SDKs are our judges in tests and nothing else (docs/contributing/adr/0001).
func TestBinary(t *testing.T) {
	sdks := []string{"github.com/modelcontextprotocol", "github.com/mark3labs/mcp-go", "github.com/metoro-io/mcp-golang"}
	judges := []string{"github.com/getkin/kin-openapi/openapi3filter", "github.com/google/go-cmp", "go.uber.org/goleak", "github.com/rogpeppe/go-internal", "golang.org/x/tools", "testing"}
	seen := 0
	for _, p := range list(t, "-deps", "./cmd/drawbridge") {
		seen++
		if within(p.ImportPath, sdks) {
			t.Errorf("the binary contains %q: an MCP SDK may be imported by tests only", p.ImportPath)
		}
		if within(p.ImportPath, judges) {
			t.Errorf("the binary contains %q, which belongs to tests", p.ImportPath)
		}
	}
	if seen == 0 {
		t.Fatal("go list -deps ./cmd/drawbridge printed nothing")
	}
}

// Every row of the table is a real package, so that the table can't rot.
func TestTableIsTrue(t *testing.T) {
	var have []string
	for _, p := range list(t, "./...") {
		have = append(have, strings.TrimPrefix(p.ImportPath, module+"/"))
	}
	for name := range rooms {
		if !slices.Contains(have, name) {
			t.Errorf("the table has a row for %q, which does not exist", name)
		}
	}
}

// A file holds one concept. At 600 lines there is a second one in it.
func TestNoLongFiles(t *testing.T) {
	const most = 600
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, more than %d: look for the second concept in it", file, n, most)
		}
	}
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	var packages []listed
	d := json.NewDecoder(bytes.NewReader(run(t, "go", append([]string{"list", "-json=ImportPath,Dir,Standard,Imports,GoFiles"}, args...)...)))
	for {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// sources lists the Go files of the repository, wherever git or a source archive put it.
func sources(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "out", "node_modules"}, d.Name())) {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk the repository: %v", err)
	}
	return files
}

// run runs a command in the root of the repository and returns what it printed.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out
}
