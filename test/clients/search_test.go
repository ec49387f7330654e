package clients

import (
	"os"
	"path/filepath"
	"testing"

	"drawbridge/test/process"
)

// searchFeatures are the rows of the table of TestSearchMode.
var searchFeatures = []string{
	"instructions", "four tools", "search_tools", "describe_tools", "read_tool refuses", "call_tool", "call by name", "chosen tools", "agent loop",
}

// corpusVariable names the folder of real documents.
const corpusVariable = "OPENAPI_CORPUS"

// TestSearchMode fills in a table of the steps by which clients find and call a tool of GitHub's document, in every revision.
// All clients share a gateway, which has the default configuration: its list is too long to be shown.
func TestSearchMode(t *testing.T) {
	corpus := os.Getenv(corpusVariable)
	if corpus == "" {
		t.Skipf("%s is not set: without GitHub's document", corpusVariable)
	}
	w := newIssues(t, process.BuildGateway(t), filepath.Join(corpus, "big", "github.json"))
	tb := &table{rows: searchFeatures}
	fill := map[string]func(t *testing.T, column string){}
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		column := "Go " + revision
		tb.columns = append(tb.columns, column)
		fill[column] = func(t *testing.T, column string) { searchGoColumn(t, w, tb, column, revision) }
	}
	if folder := os.Getenv(folderVariable); folder == "" {
		t.Logf("%s is not set: without the clients of npm, which make clients installs", folderVariable)
	} else {
		for _, kind := range []string{"ts-v1", "ts-v2-legacy", "ts-v2-auto", "ts-v2-pinned"} {
			tb.columns = append(tb.columns, kind)
			fill[kind] = func(t *testing.T, column string) {
				typeScriptColumn(t, tb, folder, column, "search.mjs", w.endpoint, w.control, w.model)
			}
		}
	}
	t.Run("columns", func(t *testing.T) {
		for _, column := range tb.columns {
			t.Run(column, func(t *testing.T) {
				t.Parallel()
				fill[column](t, column)
			})
		}
	})
	if err := w.check(); err != nil {
		t.Error(err)
	}
	tb.print(t)
}
