package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

var labelValues = regexp.MustCompile(`^label_values\(([a-z_]+)({.*})?, ([a-z]+)\)$`)

const (
	dashboardFile      = "../../deploy/grafana/drawbridge.json"
	chartDashboardFile = "../../deploy/helm/drawbridge/files/dashboard.json"
)

// dashboard is what the tests read of deploy/grafana/drawbridge.json.
type dashboard struct {
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ Expr string }
	}
	Templating struct {
		List []struct{ Name, Query string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	chart, err := os.ReadFile(chartDashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, chart) {
		t.Errorf("%s and %s differ", dashboardFile, chartDashboardFile)
	}
	return d
}

// TestDashboard holds the dashboard against the metrics that are registered: each name and label exists. Each panel has a description and at
// least one query, and the panels are in rows that do not overlap.
func TestDashboard(t *testing.T) {
	all, d := registered(t), readDashboard(t)
	ids, kinds, end := map[int]bool{}, map[string]int{}, 0
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s: id %d is there twice", p.Title, p.ID)
		}
		ids[p.ID] = true
		kinds[p.Type]++
		if p.GridPos.X == 0 && p.GridPos.Y != end || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: its place is %+v, and the panels above it end at %d", p.Title, p.GridPos, end)
		}
		end = max(end, p.GridPos.Y+p.GridPos.H)
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("%s: no description, or no query", p.Title)
		}
		for _, target := range p.Targets {
			for _, wrong := range checkExpression(all, target.Expr) {
				t.Errorf("%s: no %s in %s", p.Title, wrong, target.Expr)
			}
		}
	}
	if len(d.Panels) == 0 || d.Panels[0].Type != "row" || kinds["row"] < 3 || kinds["stat"] < 8 {
		t.Errorf("panels by type: %v", kinds)
	}
	var names []string
	for _, v := range d.Templating.List {
		names = append(names, v.Name)
		if m := labelValues.FindStringSubmatch(v.Query); m != nil {
			for _, wrong := range append(checkExpression(all, m[1]+m[2]), checkExpression(all, m[1]+"{"+m[3]+`="x"}`)...) {
				t.Errorf("%s: no %s", v.Name, wrong)
			}
		} else if v.Name != "datasource" {
			t.Errorf("%s: %q asks for no values of a label", v.Name, v.Query)
		}
	}
	if want := []string{"datasource", "namespace", "instance", "api"}; !slices.Equal(names, want) {
		t.Errorf("variables %q, want %q", names, want)
	}
}

// TestDashboardExpressions has promtool parse every expression of the dashboard, as rules. test/alerts/run calls it.
func TestDashboardExpressions(t *testing.T) {
	promtool := os.Getenv("PROMTOOL")
	if promtool == "" {
		t.Skip("PROMTOOL names no promtool: make alerts runs this test")
	}
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__range", "3h", "$namespace", ".*", "$instance", ".*", "$api", ".*")
	for _, p := range readDashboard(t).Panels {
		for n, target := range p.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel:%d:%d", p.ID, n), variables.Replace(target.Expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput()
	if err != nil || strings.Contains(string(text), "$") {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
	t.Logf("%d expressions of the dashboard: %s", len(rules), out)
}
