package fence

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// floors are the oldest versions of modules without an advisory that concerns us. An update goes up alone; this is against
// a step back, by hand or by another module's demand being dropped.
var floors = map[string]string{
	"github.com/go-chi/chi/v5":                                        "v5.3.0",
	"github.com/go-jose/go-jose/v4":                                   "v4.1.4",
	"github.com/getkin/kin-openapi":                                   "v0.144.0",
	"golang.org/x/oauth2":                                             "v0.27.0",
	"go.opentelemetry.io/otel":                                        "v1.44.0",
	"go.opentelemetry.io/otel/sdk":                                    "v1.40.0",
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp": "v1.43.0",
	"github.com/redis/go-redis/v9":                                    "v9.7.3",
}

// TestFloors holds the modules that are linked against the floors (security requirement: dependency floors).
func TestFloors(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", "../../cmd/drawbridge").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			linked[path] = version
		}
	}
	if len(linked) < 10 {
		t.Fatalf("go list printed %d modules", len(linked))
	}
	for path, floor := range floors {
		if version, ok := linked[path]; ok && older(version, floor) {
			t.Errorf("%s %s is linked: at least %s", path, version, floor)
		}
	}
	if !older("v1.9.9", "v1.10.0") || older("v2.0.0", "v1.10.0") || older("v1.10.0", "v1.10.0") {
		t.Error("versions are not compared by their numbers")
	}
}

// older compares released versions; a pre-release counts as its release.
func older(version, floor string) bool {
	a, b := numbers(version), numbers(floor)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func numbers(version string) (n [3]int) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		n[i], _ = strconv.Atoi(part)
	}
	return n
}
