package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"drawbridge/config"
	"drawbridge/gateway"
)

const (
	observabilityPage = "../../docs/observability.md"
	operationsPage    = "../../docs/operations.md"
	alertsFile        = "../../deploy/prometheus/alerts.yaml"
	chartAlertsFile   = "../../deploy/helm/drawbridge/files/alerts.yaml"
)

// measured is a metric as it is registered.
type measured struct {
	help   string
	labels []string
}

// registered returns all that the program registers when everything is configured, by name.
func registered(t *testing.T) map[string]measured {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "drawbridge.yaml")
	text := "apis: [{spec: none.yaml, name: none}]\naudit: {file: audit.jsonl}\nstate: {redis: {url: \"redis://127.0.0.1:1\"}}\n" +
		"server: {seal_keys: [0123456789abcdef0123456789abcdef], public_url: http://localhost:8080, state_dir: state}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(path, func(string) string { return "" })
	if cfg == nil {
		t.Fatal(problems)
	}
	log, r := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	audits, err := newAudit(cfg, io.Discard, log, r)
	if err != nil {
		t.Fatal(err)
	}
	defer audits.end(log)
	if _, err := gateway.New(gateway.Options{Config: cfg, Logger: log, Metrics: r, Audit: audits.log}); err != nil {
		t.Fatal(err)
	}
	expiry, reloads := certificateMetrics()
	r.MustRegister(expiry, reloads)
	all := map[string]measured{}
	descs := make(chan *prometheus.Desc)
	go func() { r.Describe(descs); close(descs) }()
	form := regexp.MustCompile(`^Desc{fqName: "([^"]+)", help: "(.*)", unit: "[^"]*", constLabels: {([^}]*)}, variableLabels: {([^}]*)}}$`)
	for d := range descs {
		m := form.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("%s", d)
		}
		var labels []string
		for _, label := range append(strings.Split(m[3], ","), strings.Split(m[4], ",")...) {
			if name, _, _ := strings.Cut(label, "="); name != "" {
				labels = append(labels, name)
			}
		}
		all[m[1]] = measured{m[2], labels}
	}
	return all
}

// TestMetricsTable holds the table of metrics of the page against what is registered.
func TestMetricsTable(t *testing.T) {
	page, err := os.ReadFile(observabilityPage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- metrics: written by go test ./cmd/drawbridge -run MetricsTable -update -->\n", "<!-- end of metrics -->"
	before, rest, ok1 := bytes.Cut(page, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the metrics", observabilityPage)
	}
	table := "| metric | labels | tells |\n|---|---|---|\n"
	all := registered(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if m := all[name]; strings.HasPrefix(name, "drawbridge_") {
			labels := "–"
			if len(m.labels) > 0 {
				labels = "`" + strings.Join(m.labels, "`, `") + "`"
			}
			table += fmt.Sprintf("| `%s` | %s | %s |\n", name, labels, m.help)
		}
	}
	want := slices.Concat(before, []byte(begin), []byte(table), []byte(end), after)
	if *accept {
		if err := os.WriteFile(observabilityPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(page, want) {
		t.Errorf("%s is stale; accept what is registered with: go test ./cmd/drawbridge -run MetricsTable -update", observabilityPage)
	}
}

// metricNames finds the names of metrics in an expression, with the labels of the selector behind each.
var metricNames = regexp.MustCompile(`\b((?:drawbridge|go|process)_[a-z0-9_]+)(?:\{([^}]*)\})?`)

// fromOutside are labels that Prometheus adds, and le, which is that of histograms.
var fromOutside = []string{"namespace", "job", "instance", "le"}

// checkExpression tells which metrics and labels of an expression do not exist.
func checkExpression(all map[string]measured, expression string) (wrong []string) {
	known := slices.Clone(fromOutside)
	for _, m := range metricNames.FindAllStringSubmatch(expression, -1) {
		name := m[1]
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && all[base].help != "" {
				name = base
			}
		}
		metric, ok := all[name]
		if !ok {
			wrong = append(wrong, "metric "+name)
			continue
		}
		known = append(known, metric.labels...)
		for _, matcher := range regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`).FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(metric.labels, matcher[1]) && !slices.Contains(fromOutside, matcher[1]) {
				wrong = append(wrong, "label "+matcher[1]+" of "+name)
			}
		}
	}
	for _, by := range regexp.MustCompile(`\b(?:by|without|on)\s*\(([^)]*)\)`).FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(by[1], ",") {
			if !slices.Contains(known, strings.TrimSpace(label)) {
				wrong = append(wrong, "label "+label)
			}
		}
	}
	if len(known) == len(fromOutside) && !strings.Contains(expression, "drawbridge") && len(metricNames.FindAllString(expression, -1)) == 0 {
		wrong = append(wrong, "no metric")
	}
	return wrong
}

// TestAlerts holds the alerts against what is registered, against the page on operations, which says of each what to do, and against the chart,
// which has the same. test/alerts/run plays them.
func TestAlerts(t *testing.T) {
	all := registered(t)
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := os.ReadFile(chartAlertsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, chart) {
		t.Errorf("%s and %s differ", alertsFile, chartAlertsFile)
	}
	page, err := os.ReadFile(operationsPage)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile("../../test/alerts/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			for _, wrong := range checkExpression(all, r.Expr) {
				t.Errorf("%s: no %s", r.Alert, wrong)
			}
			_, section, ok := bytes.Cut(page, []byte("\n### "+r.Alert+"\n"))
			section, _, _ = bytes.Cut(section, []byte("\n#"))
			if !ok || !bytes.Contains(section, []byte("**Means:**")) || !bytes.Contains(section, []byte("o:**")) {
				t.Errorf("%s: the page does not say what it means and what to do", r.Alert)
			}
			if want := "docs/operations.md#" + strings.ToLower(r.Alert); r.Annotations["runbook"] != want {
				t.Errorf("%s: runbook is %q, want %q", r.Alert, r.Annotations["runbook"], want)
			}
			if url, ok := r.Annotations["runbook_url"]; ok { // the project has no public URL, and a relative one leads nowhere
				t.Errorf("%s: runbook_url is %q", r.Alert, url)
			}
			known[r.Alert] = true
			if !bytes.Contains(cases, []byte("alertname: "+r.Alert)) {
				t.Errorf("%s: no case plays it", r.Alert)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Drawbridge.*)$`).FindAllSubmatch(page, -1) {
		if !known[string(m[1])] {
			t.Errorf("%s: the page has a section of it, and there is no such alert", m[1])
		}
	}
}

// TestCheckExpression holds that the check can fail.
func TestCheckExpression(t *testing.T) {
	all := map[string]measured{"drawbridge_a_total": {"h", []string{"api"}}, "drawbridge_b_seconds": {"h", nil}}
	for expression, want := range map[string]string{
		`rate(drawbridge_a_total{api="x",namespace="n"}[5m])`:               "",
		`histogram_quantile(.9, sum by (le) (drawbridge_b_seconds_bucket))`: "",
		`drawbridge_c_total`:                                         "metric drawbridge_c_total",
		`drawbridge_a_total{tool=~"x"}`:                              "label tool of drawbridge_a_total",
		`sum by (api, tool) (drawbridge_a_total)`:                    "label  tool",
		`max without (outcome) (drawbridge_b_seconds_sum{api!="x"})`: "label api of drawbridge_b_seconds, label outcome",
		`1`: "no metric",
	} {
		if got := strings.Join(checkExpression(all, expression), ", "); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
