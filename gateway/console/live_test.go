package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/history"
)

// newLiveConsole returns a console with a history.
func newLiveConsole(t *testing.T) (*Console, *history.Recorder) {
	t.Helper()
	yes, no := func() bool { return true }, func() bool { return false }
	h := history.New(history.Options{On: yes, Bodies: no})
	return newTestConsole(t, func(o *Options) {
		o.History = h
		o.Tokens = func() (tokens, bytes int64) { return 100, 400 }
	}), h
}

// poll asks for the rows newer than a number, as the page does.
func (b *browser) poll(target string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("HX-Request", "true")
	r.Header.Set("HX-Target", "rows")
	return b.send(r)
}

// next returns the URL at which a page asks for newer calls.
func next(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `hx-get="`)
	target, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("the page asks for nothing:\n%s", page)
	}
	return strings.ReplaceAll(target, "&amp;", "&")
}

// TestLivePolls holds that a page gets rows alone, nothing while no call is newer, and the page to sign in after its session.
func TestLivePolls(t *testing.T) {
	c, h := newLiveConsole(t)
	b := signedIn(t, c, viewToken)
	target := next(t, b.get("/console/live?api=orders&outcome=failed").Body.String())
	if w := b.poll(target); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Errorf("no call: %d %s", w.Code, w.Body)
	}
	h.Add(&history.Call{API: "orders", Tool: "list", RPC: "tools/call", Outcome: "server_error", Status: 503})
	w := b.poll(target)
	rows := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(rows, "server_error") || strings.Contains(rows, "<html") {
		t.Errorf("a call: %d %s", w.Code, rows)
	}
	target = next(t, rows)
	h.Add(&history.Call{API: "orders", Tool: "list", Outcome: "ok", OK: true})
	h.Add(&history.Call{API: "users", Tool: "list", Outcome: "server_error"})
	if w := b.poll(target); w.Code != http.StatusNoContent {
		t.Errorf("calls that don't fit the filter: %d %s", w.Code, w.Body)
	}
	if w := b.get(target); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<html") {
		t.Errorf("without JavaScript: %d %s", w.Code, w.Body)
	}
	if page := b.get("/console/live?paused=1").Body.String(); strings.Contains(page, "hx-get") || strings.Count(page, `scope="row"`) != 3 {
		t.Errorf("paused: %s", page)
	}
	if page := b.get("/console/live?tool=none").Body.String(); !strings.Contains(page, "None of the last calls fits") {
		t.Errorf("no call fits: %s", page)
	}
	b.cookie = nil
	if w := b.poll(target); w.Code != http.StatusUnauthorized || !strings.HasPrefix(w.Header().Get("HX-Redirect"), "/console/signin") {
		t.Errorf("signed out: %d %v", w.Code, w.Header())
	}
}

// TestCharts holds what the overview shows of the last hour, in charts and as a table.
func TestCharts(t *testing.T) {
	c, h := newLiveConsole(t)
	b := signedIn(t, c, viewToken)
	if page := b.get("/console").Body.String(); strings.Count(page, "<svg") != 4 || strings.Contains(page, "NaN") || strings.Contains(page, "as a table") {
		t.Errorf("without calls: %s", page)
	}
	for i := range 1000 {
		h.Add(&history.Call{API: "orders", OK: i%4 > 0, Duration: 100 * time.Millisecond, Result: 8})
	}
	page := b.get("/console").Body.String()
	for _, want := range []string{"Calls: <strong>1,000</strong>", "Errors: <strong>250 (25.0 %)</strong>", "Tokens of results, estimated: <strong>2,000</strong>", `role="img" aria-label="Calls, a chart of the last 60 minutes: 1,000 in all, peak 1,000/min`, ", 1,000/min</title>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in %s", want, page)
		}
	}
	if n := strings.Count(page, "as a table"); n != 1 || strings.Contains(page, "NaN") {
		t.Errorf("%d tables: %s", n, page)
	}
}

// TestPoints holds that a line is within its chart.
func TestPoints(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{0}, "0.0,63.0"},
		{[]float64{0, 5, 10}, "0.0,63.0 120.0,32.0 240.0,1.0"},
	} {
		if got := points(tt.values, 10); got != tt.want {
			t.Errorf("points(%v) = %q, want %q", tt.values, got, tt.want)
		}
	}
	if got := points([]float64{0, 0}, 0); got != "0.0,63.0 240.0,63.0" {
		t.Errorf("all zero: %q", got)
	}
}
