package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// typeScript fills in the column of a TypeScript client, which has its name.
func typeScript(folder string) func(t *testing.T, w *world, tb *table, kind string) {
	return func(t *testing.T, w *world, tb *table, kind string) {
		typeScriptColumn(t, tb, folder, kind, "features.mjs", w.endpoint, w.control, w.model)
	}
}

// typeScriptColumn fills in the column with what a script reports.
func typeScriptColumn(t *testing.T, tb *table, folder, kind, script, endpoint, control string, m *model) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, nodeIn(folder), filepath.Join(folder, script), endpoint, control, m.URL, kind)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s%s", kind, err, out, stderr.String())
		return
	}
	var report struct {
		Revision string
		Cells    map[string]string
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Errorf("%s: %v: %s", kind, err, out)
		return
	}
	want := map[string]string{"ts-v1": "2025-11-25", "ts-v2-legacy": "2025-11-25", "ts-v2-auto": "2026-07-28", "ts-v2-pinned": "2026-07-28"}[kind]
	if report.Revision != want {
		t.Errorf("%s: agreed on %q, want %q", kind, report.Revision, want)
	}
	for feature, cell := range report.Cells {
		tb.set(t, kind, feature, cell)
	}
}

// nodeIn is the Node that was installed with the clients: that of the system may be too old for the Inspector.
func nodeIn(folder string) string {
	return filepath.Join(folder, "node_modules", "node", "bin", "node")
}
