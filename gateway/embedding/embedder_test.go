package embedding

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/gateway/finder"
)

// patience is a timeout of queries that no test reaches.
const patience = 30 * time.Second

var shop = []string{"List orders", "Cancel an order", "Show the stock of an article", "Create a customer"}

// first returns the summary of the best tool; "" if there is none.
func first(t *testing.T, f *Finder, text string) string {
	t.Helper()
	found := f.Find(t.Context(), finder.Query{Text: text, Limit: 3}).Hits
	if len(found) == 0 {
		return ""
	}
	return f.tools[found[0].Tool].Document.Summary
}

// TestFind checks that a query in other words finds its tool once there are vectors, which are made once for all
// finders.
func TestFind(t *testing.T) {
	s, e := newServer(t), newFixture(t, t.TempDir())
	f := e.NewFinder(settings(t, s.URL, "abc"), tools(shop...))
	if got := first(t, f, "acquisitions"); got != "" {
		t.Errorf("by words alone: %q", got)
	}
	if e.count("queries", "none") != 1 || e.count("tools", "embedded") != 0 {
		t.Error("the query is not counted as one by words alone")
	}
	if err := e.Fill(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if e.count("tools", "embedded") != 4 || e.count("tools", "missing") != 0 || e.count("batches", "ok") != 1 {
		t.Error("the tools are not counted")
	}
	if got := first(t, f, "acquisitions"); got != "List orders" {
		t.Errorf("%q", got)
	}
	if found := f.Find(t.Context(), finder.Query{Text: "acquisitions", Limit: 9, Allowed: func(tool int) bool { return tool > 1 }}).Hits; len(found) != 2 {
		t.Errorf("%v are found of the two that may be", found)
	}
	if e.count("queries", "ok") != 2 {
		t.Error("the queries are not counted")
	}
	if want := `POST /v1/embeddings {"model":"test","input":["acquisitions"],"encoding_format":"float"}`; s.bodies[1] != want || s.headers[1].Get("Authorization") != "Bearer abc" {
		t.Errorf("%s, %s", s.bodies[1], s.headers[1])
	}
	requests, _ := s.received()
	g := e.NewFinder(settings(t, s.URL, "abc"), tools(append(shop[1:], "List invoices")...))
	if err := e.Fill(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if now, _ := s.received(); now != requests+1 || g.Embedded() != 4 {
		t.Errorf("%d more requests, %d vectors", now-requests, g.Embedded())
	}
	if strings.Contains(e.log.String(), "acquisitions") || strings.Contains(e.log.String(), "abc") {
		t.Error("a query or the token is logged: " + e.log.String())
	}
}

// TestWordsAlone checks that the ranking is by words alone without an embeddings server, and until it has answered.
func TestWordsAlone(t *testing.T) {
	e := newFixture(t, "")
	for _, f := range []*Finder{e.NewFinder(nil, tools(shop...)), e.NewFinder(settings(t, "http://127.0.0.1:1", ""), tools(shop...))} {
		q := finder.Query{Text: "order of a customer", Limit: 3}
		if got, want := f.Find(t.Context(), q).Hits, f.Index().Search(q).Hits; fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 3 {
			t.Errorf("%v, want %v", got, want)
		}
		if f.model != nil {
			if err := e.Fill(t.Context(), f); err == nil || e.count("batches", "failed") != 1 {
				t.Errorf("nobody listens, and the error is %v", err)
			}
		} else if err := e.Fill(t.Context(), f); err != nil || f.FindByVectors(t.Context(), q) != nil {
			t.Error(err)
		}
	}
}

// TestStored checks that another process reads the vectors from disk; for another model, or if the file is damaged,
// they are made again.
func TestStored(t *testing.T) {
	dir, s := t.TempDir(), newServer(t)
	fill := func(url string) (requests int, log string) {
		e := newFixture(t, dir)
		f := e.NewFinder(settings(t, url, "secret-token"), tools(shop...))
		before, _ := s.received()
		if err := e.Fill(t.Context(), f); err != nil || f.Embedded() != 4 {
			t.Fatal(f.Embedded(), err)
		}
		after, _ := s.received()
		return after - before, e.log.String()
	}
	if n, _ := fill(s.URL); n != 1 {
		t.Errorf("%d requests at first", n)
	}
	if n, log := fill(s.URL); n != 0 || log != "" {
		t.Errorf("%d requests with what is on disk, %s", n, log)
	}
	if n, _ := fill(s.URL + "/v1/embeddings/"); n != 1 {
		t.Errorf("%d requests for another server", n)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "secret-token") || strings.Contains(string(text), "orders") {
			t.Errorf("%s has a secret or a text, %v", file, err)
		}
		if err := os.WriteFile(file, text[:len(text)-3], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, log := fill(s.URL); n != 1 || !strings.Contains(log, "damaged") {
		t.Errorf("%d requests with a damaged file, %s", n, log)
	}
	if n, _ := fill(s.URL); n != 0 {
		t.Error("the damaged file was not replaced")
	}
}

// TestRejectedText checks that rejected texts are isolated by halving the batch, and that the others have vectors.
func TestRejectedText(t *testing.T) {
	s, e := newServer(t), newFixture(t, "")
	s.answers(func(w http.ResponseWriter, _ *http.Request, texts []string) {
		for _, text := range texts {
			if strings.Contains(text, "zebra") {
				http.Error(w, "too long: "+text, http.StatusRequestEntityTooLarge)
				return
			}
		}
		writeVectors(w, texts, vectorOf)
	})
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("Thing number %d.", i))
	}
	many[7] = "Show a zebra"
	f := e.NewFinder(settings(t, s.URL, ""), tools(many...))
	if err := e.Fill(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if f.Embedded() != 39 || e.count("tools", "missing") != 1 || e.count("batches", "rejected") == 0 || strings.Contains(e.log.String(), "too long") {
		t.Errorf("%d vectors: %s", f.Embedded(), e.log)
	}
	if got := first(t, f, "zebra"); got != many[7] {
		t.Errorf("the tool without a vector: %q", got)
	}
	all := newServer(t)
	all.answers(func(w http.ResponseWriter, _ *http.Request, _ []string) { w.WriteHeader(http.StatusBadRequest) })
	g := e.NewFinder(settings(t, all.URL, ""), tools(many...))
	if err := e.Fill(t.Context(), g); err == nil {
		t.Error("a server that rejects everything is no error")
	}
	if n, _ := all.received(); n > 4*maxRejected {
		t.Errorf("%d requests to a server that rejects everything", n)
	}
}

// TestBadServer checks that for any faulty response, the ranking is by words.
func TestBadServer(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		writeVectors(w, []string{""}, vectorOf)
	}))
	defer other.Close()
	text := func(text string) func(http.ResponseWriter, *http.Request, []string) {
		return func(w http.ResponseWriter, _ *http.Request, _ []string) { _, _ = w.Write([]byte(text)) } // the client may have gone
	}
	for _, tt := range []struct {
		name    string
		answer  func(w http.ResponseWriter, r *http.Request, texts []string)
		outcome outcome
	}{
		{"wrong dimensions", func(w http.ResponseWriter, _ *http.Request, texts []string) {
			writeVectors(w, texts, func(string) []float32 { return []float32{1, 2, 3} })
		}, outcomeInvalid},
		{"zero", func(w http.ResponseWriter, _ *http.Request, texts []string) {
			writeVectors(w, texts, func(string) []float32 { return make([]float32, testDimensions) })
		}, outcomeInvalid},
		{"NaN", text(`{"data":[{"embedding":[NaN]}]}`), outcomeInvalid},
		{"HTML", text(`<html>`), outcomeInvalid},
		{"nothing", text(``), outcomeInvalid},
		{"huge", func(w http.ResponseWriter, _ *http.Request, _ []string) {
			_, _ = w.Write([]byte(`{"data":[{"embedding":[1` + strings.Repeat(",1", 1<<20))) // as above
		}, outcomeInvalid},
		{"500", func(w http.ResponseWriter, _ *http.Request, texts []string) {
			http.Error(w, texts[0], http.StatusInternalServerError)
		}, outcomeFailed},
		{"401", func(w http.ResponseWriter, _ *http.Request, _ []string) { w.WriteHeader(http.StatusUnauthorized) }, outcomeFailed},
		{"redirect to another origin", func(w http.ResponseWriter, r *http.Request, _ []string) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, outcomeFailed},
		{"closed connection", func(http.ResponseWriter, *http.Request, []string) { panic(http.ErrAbortHandler) }, outcomeFailed},
		{"a rejected query", func(w http.ResponseWriter, _ *http.Request, _ []string) { w.WriteHeader(http.StatusBadRequest) }, outcomeRejected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, e := newServer(t), newFixture(t, "")
			f := e.NewFinder(settings(t, s.URL, "abc"), tools(shop...))
			if err := e.Fill(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			s.answers(tt.answer)
			q := finder.Query{Text: "unheard-of order", Limit: 3}
			for range failuresToPause + 2 {
				if got, want := f.Find(t.Context(), q).Hits, f.Index().Search(q).Hits; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
			paused := float64(2)
			if tt.outcome == outcomeRejected {
				paused = 0
			}
			if n := e.count("queries", string(tt.outcome)); n != failuresToPause+2-paused || e.count("queries", "paused") != paused {
				t.Errorf("%v queries with the outcome %s, %v paused", n, tt.outcome, e.count("queries", "paused"))
			}
			g := e.NewFinder(settings(t, s.URL, "abc"), tools(append(shop, "Something new")...))
			err := e.Fill(t.Context(), g)
			if g.Embedded() != 4 || err == nil && tt.outcome != outcomeRejected {
				t.Errorf("%d vectors, %v", g.Embedded(), err)
			}
			if log := e.log.String() + fmt.Sprint(err); strings.Contains(log, "unheard") || strings.Contains(log, "abc") || strings.Contains(log, "new\n") {
				t.Error(log)
			}
		})
	}
	if elsewhere.Load() > 0 {
		t.Error("another origin was asked")
	}
}

// TestBadFirstAnswer checks that an invalid first response has no later effect.
func TestBadFirstAnswer(t *testing.T) {
	s, e := newServer(t), newFixture(t, t.TempDir())
	s.answers(func(w http.ResponseWriter, _ *http.Request, texts []string) {
		writeVectors(w, texts[1:], func(string) []float32 { return []float32{1, 2} })
	})
	f := e.NewFinder(settings(t, s.URL, ""), tools(shop...))
	if err := e.Fill(t.Context(), f); err == nil || f.Embedded() != 0 || e.count("batches", "invalid") != 1 {
		t.Errorf("%d vectors, %v", f.Embedded(), err)
	}
	s.answers(nil)
	if err := e.Fill(t.Context(), f); err != nil || f.Embedded() != 4 {
		t.Errorf("%d vectors, %v", f.Embedded(), err)
	}
}

// TestDimensions checks that configured dimensions are requested and required.
func TestDimensions(t *testing.T) {
	s, e := newServer(t), newFixture(t, "")
	for n, good := range map[int]bool{testDimensions: true, 8: false} {
		c := settings(t, s.URL, "")
		c.Dimensions = n
		if err := e.Fill(t.Context(), e.NewFinder(c, tools(shop...))); (err == nil) != good {
			t.Errorf("%d dimensions: %v", n, err)
		}
		if want := fmt.Sprintf(`"dimensions":%d}`, n); !strings.HasSuffix(s.bodies[len(s.bodies)-1], want) {
			t.Errorf("%s is not in %s", want, s.bodies[len(s.bodies)-1])
		}
	}
}

// TestNewer checks that a newer finder stops the work for an older one, and reuses its vectors.
func TestNewer(t *testing.T) {
	s, e := newServer(t), newFixture(t, "")
	var many []string
	for i := range 5 * batchSize {
		many = append(many, fmt.Sprintf("Thing number %d.", i))
	}
	c := settings(t, s.URL, "")
	f := e.NewFinder(c, tools(many...))
	var g *Finder
	s.answers(func(w http.ResponseWriter, _ *http.Request, texts []string) {
		if g == nil {
			g = e.NewFinder(c, tools(many...))
		}
		writeVectors(w, texts, vectorOf)
	})
	if err := e.Fill(t.Context(), f); err != nil || f.Embedded() != batchSize {
		t.Errorf("%d vectors, %v", f.Embedded(), err)
	}
	if err := e.Fill(t.Context(), g); err != nil || g.Embedded() != len(many) {
		t.Errorf("%d vectors, %v", g.Embedded(), err)
	}
	if _, texts := s.received(); texts != len(many) {
		t.Errorf("%d texts are sent, %d tools", texts, len(many))
	}
}

// TestCanceled checks that the end of the caller's request does not count as a failure of the server.
func TestCanceled(t *testing.T) {
	s, e := newServer(t), newFixture(t, "")
	f := e.NewFinder(settings(t, s.URL, ""), tools(shop...))
	if err := e.Fill(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.answers(func(_ http.ResponseWriter, r *http.Request, _ []string) { cancel(); <-r.Context().Done() })
	for range failuresToPause + 1 {
		f.Find(ctx, query("order", 3))
	}
	if s.answers(nil); e.count("queries", "canceled") != failuresToPause+1 || first(t, f, "acquisitions") != "List orders" {
		t.Error("the server is not asked any more")
	}
}

// TestIndexIsReady checks that the index of words of changed tools is there before they are served if tools were searched
// before, and is not built if they were not.
func TestIndexIsReady(t *testing.T) {
	e := newFixture(t, t.TempDir())
	first, second := e.NewFinder(nil, tools(shop...)), e.NewFinder(nil, tools(shop...))
	if first.used.Load() || second.used.Load() {
		t.Error("an index was built, though nothing was searched")
	}
	second.Find(t.Context(), query("order", 3))
	if third := e.NewFinder(nil, tools(shop...)); !third.used.Load() {
		t.Error("the index is not built")
	}
}
