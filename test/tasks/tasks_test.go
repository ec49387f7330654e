package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTasks holds each task against the form of a task: its queries are jq, its values are kept before they are used, its calls follow a
// search that finds their operation, and it says what holds afterwards.
func TestTasks(t *testing.T) {
	all, err := readTasks("testdata", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Errorf("there are %d tasks, fewer than 40", len(all))
	}
	chosen := 0
	for _, task := range all {
		if task.chosen() {
			chosen++
		}
		t.Run(task.name, func(t *testing.T) {
			kept := values{"n": 1}
			for _, r := range task.setup {
				held(t, kept, r.Path, r.Body)
				keeps(t, kept, r.Keep)
			}
			held(t, kept, task.text, nil)
			found := map[string]bool{}
			for _, s := range task.script {
				held(t, kept, s.Search+s.Answer, s.Arguments)
				keeps(t, kept, s.Keep)
				for _, operation := range s.Finds {
					found[operation] = true
				}
				if s.Call != "" && !found[s.Call] {
					t.Errorf("no search before finds %s", s.Call)
				}
				if s.Search != "" && len(s.Finds) == 0 {
					t.Errorf("the search %q says not what it has to find", s.Search)
				}
			}
			for _, c := range task.state {
				held(t, kept, c.Path, c.Is)
				if _, err := gojq.Parse(c.Query); err != nil {
					t.Errorf("%s: %v", c.Query, err)
				}
			}
			if last := task.script[len(task.script)-1].Answer; (last == "") != (len(task.answer) == 0) {
				t.Errorf("the answer of the script is %q, expected are %q", last, task.answer)
			}
		})
	}
	if chosen < 10 {
		t.Errorf("%d tasks are done through FastMCP, fewer than 10", chosen)
	}
}

// held fails if a text or a value uses what is not kept.
func held(t *testing.T, kept values, text string, value any) {
	t.Helper()
	if _, err := kept.text(text); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	if _, err := kept.expand(value); err != nil {
		t.Errorf("%s: %v", compact(value), err)
	}
}

func keeps(t *testing.T, kept values, queries map[string]string) {
	t.Helper()
	for name, query := range queries {
		if _, err := gojq.Parse(query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		kept[name] = "kept"
	}
}

// TestHits reads an answer of search_tools.
func TestHits(t *testing.T) {
	const answer = `create(name: string, "x-version"?: string, at: {day: "Monday (first)"|"Friday", …}) → {id, (odd)}
  Creates one
list(limit?: integer) → {result[]}
  read-only: Lists (all)
`
	got := hits(answer)
	want := []hit{
		{tool: "create", arguments: `name: string, "x-version"?: string, at: {day: "Monday (first)"|"Friday", …}`},
		{tool: "list", arguments: "limit?: integer"},
	}
	for i := range got {
		got[i].text = ""
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(hit{})); d != "" {
		t.Error(d)
	}
}

// TestHidden finds the arguments that a signature doesn't show, and leaves out members that are data.
func TestHidden(t *testing.T) {
	arguments := map[string]any{"name": "n", "tags": []any{map[string]any{"key": 1}}, "labels": map[string]any{"team": "x"}, "x-version": 1}
	for _, c := range []struct{ shown, missing string }{
		{`name: string, tags?: {key: string}[], labels?: object, "x-version"?: string`, ""},
		{`name: string, labels?: object, …+2`, "key tags x-version"},
		{`rename: string, tags-of: {key}, labels: object, x-version-2`, "name tags x-version"},
	} {
		if got := strings.Join(hidden(arguments, []string{"labels"}, c.shown), " "); got != c.missing {
			t.Errorf("%s: missing are %q, expected %q", c.shown, got, c.missing)
		}
	}
}

// TestValues replaces names in texts, keeps the type of a value that stands alone, and says which name is missing.
func TestValues(t *testing.T) {
	v := values{"id": "a1", "n": 3}
	if err := v.keep(map[string]string{"first": ".[0].id"}, `{"result": [{"id": "b2"}]}`); err != nil {
		t.Fatal(err)
	}
	got, err := v.expand(map[string]any{"id": "${id}", "count": "${n}", "list": []any{"run-${n} of ${first}"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]any{"id": "a1", "count": 3, "list": []any{"run-3 of b2"}}, got); d != "" {
		t.Error(d)
	}
	if _, err := v.text("${other}"); err == nil || err.Error() != "no step before has kept other" {
		t.Errorf("the error is %v", err)
	}
	if err := v.keep(map[string]string{"x": ".missing"}, "{}"); err == nil {
		t.Error("a query that finds nothing keeps something")
	}
}

// TestReport returns an error for a task that is not solved, and for each median over its goal.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		done   []outcome
		missed string
	}{
		{[]outcome{{task: "a", calls: 2, tokens: 400}, {task: "b", calls: 6, tokens: 1500}}, ""},
		{[]outcome{{task: "a", calls: 2, tokens: 400, faults: []string{"wrong"}}}, "1 of 1 tasks are not solved"},
		{[]outcome{{task: "a", calls: 7, tokens: 1501}}, "the median task takes 7 calls, more than 6\nthe answers of the median task have 1501 tokens, more than 1500"},
	} {
		var table strings.Builder
		missed := ""
		if err := report(&table, "script", c.done); err != nil {
			missed = err.Error()
		}
		if missed != c.missed {
			t.Errorf("missed is %q, expected %q", missed, c.missed)
		}
		for _, o := range c.done {
			if !strings.Contains(table.String(), "| "+o.task+" |") {
				t.Errorf("the table has no row of %s:\n%s", o.task, table.String())
			}
		}
	}
}
