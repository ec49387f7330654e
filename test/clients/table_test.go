package clients

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/process"
)

// features are the rows of the table of TestClients.
var features = []string{
	"list", "call", "job", "argument in a header", "progress", "cancel", "question", "list changed", "list resources", "list templates", "read", "subscribe", "prompts", "completion",
	"agent loop",
}

// ok is the cell of a feature that works.
const ok = "ok"

// table is what came of all features in all clients. It is safe for concurrent use.
type table struct {
	rows    []string
	mu      sync.Mutex
	columns []string
	cells   map[string]map[string]string // column → feature → ok, "— " and the reason, or "FAIL " and what
}

// set fills in a cell.
func (tb *table) set(t *testing.T, column, feature, cell string) {
	t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.cells == nil {
		tb.cells = map[string]map[string]string{}
	}
	if tb.cells[column] == nil {
		tb.cells[column] = map[string]string{}
	}
	if !slices.Contains(tb.rows, feature) {
		t.Errorf("%s: %q is no row of the table", column, feature)
	}
	tb.cells[column][feature] = cell
	if strings.HasPrefix(cell, "FAIL") {
		t.Errorf("%s: %s: %s", column, feature, cell)
	}
}

// try fills in a cell with what an attempt to use the feature returns.
func (tb *table) try(t *testing.T, column, feature string, attempt func() error) {
	t.Helper()
	cell := ok
	if err := attempt(); err != nil {
		cell = "FAIL " + err.Error()
		var m missing
		if errors.As(err, &m) {
			cell = "— " + m.why
		}
	}
	tb.set(t, column, feature, cell)
}

// print writes the table, with reasons as numbered notes, and fails for cells that are empty.
func (tb *table) print(t *testing.T) {
	var text strings.Builder
	var notes []string
	wide := len(slices.MaxFunc(tb.rows, func(a, b string) int { return len(a) - len(b) }))
	fmt.Fprintf(&text, "\n%-*s", wide, "")
	for _, column := range tb.columns {
		fmt.Fprintf(&text, "  %s", column)
	}
	for _, feature := range tb.rows {
		fmt.Fprintf(&text, "\n%-*s", wide, feature)
		for _, column := range tb.columns {
			cell, found := tb.cells[column][feature]
			switch {
			case !found:
				t.Errorf("%s: %s: was not looked at", column, feature)
				cell = "?"
			case cell != ok:
				mark, reason, _ := strings.Cut(cell, " ")
				i := slices.Index(notes, reason)
				if i < 0 {
					i = len(notes)
					notes = append(notes, reason)
				}
				cell = fmt.Sprintf("%s (%d)", mark, i+1)
			}
			// The dash takes three bytes and one place.
			fmt.Fprintf(&text, "  %-*s", len(column)+len(cell)-len([]rune(cell)), cell)
		}
	}
	for i, note := range notes {
		fmt.Fprintf(&text, "\n(%d) %s", i+1, note)
	}
	t.Log(text.String())
}

// folderVariable names the folder into which make clients has installed the clients of npm; see the script run.
const folderVariable = "CLIENTS"

// TestClients fills in the table, with a gateway and a service for each column: clients change the document.
func TestClients(t *testing.T) {
	program := process.BuildGateway(t)
	type column struct {
		name string
		fill func(t *testing.T, w *world, tb *table, name string)
	}
	var columns []column
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		columns = append(columns, column{"Go " + revision, goSDK(revision)})
	}
	if folder := os.Getenv(folderVariable); folder == "" {
		t.Logf("%s is not set: without the clients of npm, which make clients installs", folderVariable)
	} else {
		for _, kind := range []string{"ts-v1", "ts-v2-legacy", "ts-v2-auto", "ts-v2-pinned"} {
			columns = append(columns, column{kind, typeScript(folder)})
		}
		for _, era := range []string{"legacy", "modern"} {
			columns = append(columns, column{"Inspector " + era, inspector(folder, era)})
		}
	}
	tb := &table{rows: features}
	for _, c := range columns {
		tb.columns = append(tb.columns, c.name)
	}
	t.Run("columns", func(t *testing.T) {
		for _, c := range columns {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.fill(t, newWorld(t, program), tb, c.name)
			})
		}
	})
	tb.print(t)
}
