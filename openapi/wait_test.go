package openapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/openapi/pacing"
)

// slowWeb answers each URL after a delay.
type slowWeb map[string]struct {
	body  string
	after time.Duration
}

func (w slowWeb) RoundTrip(req *http.Request) (*http.Response, error) {
	page := w[req.URL.String()]
	select {
	case <-time.After(page.after):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Request: req, Body: io.NopCloser(strings.NewReader(page.body))}, nil
}

// TestWaitsOfOthers has two documents wait for files that they refer to, without blocking the turn; the time that a
// document waits for its turn does not count against the timeout of its files, and a file that comes too late is not
// left out.
func TestWaitsOfOthers(t *testing.T) {
	const plain = `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/a":{"get":{"responses":{}}}}}`
	for _, tt := range []struct {
		name      string
		wait      time.Duration // of each referring document for its file
		wantsLate bool
	}{
		{name: "in time", wait: 8 * time.Second},
		{name: "too late", wait: time.Hour, wantsLate: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := slowWeb{
					"https://a.example/spec": {body: referring("p.json"), after: time.Second}, "https://a.example/p.json": {body: parameterFile, after: tt.wait},
					"https://b.example/spec": {body: referring("p.json"), after: time.Second}, "https://b.example/p.json": {body: parameterFile, after: tt.wait},
					"https://c.example/spec": {body: plain, after: 2 * time.Second},
				}
				pace := pacing.New(func() bool { return true }, func() bool { return true })
				load := func(location string) (*Document, time.Duration, error) {
					begin := time.Now()
					d, err := Load(t.Context(), location, LoadOptions{Client: &http.Client{Transport: w}, Timeout: 10 * time.Second, Limits: Limits{Pace: pace}})
					return d, time.Since(begin), err
				}
				for _, location := range []string{"https://a.example/spec", "https://b.example/spec"} {
					go func() {
						d, took, err := load(location)
						switch {
						case tt.wantsLate:
							if want := `document "` + location + `": context deadline exceeded`; err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
								t.Errorf("after %v %v, want %q after 10 s", took, err, want)
							}
						case err != nil || len(d.problems) > 0:
							t.Errorf("%v, %v", err, d)
						}
					}()
				}
				if _, took, err := load("https://c.example/spec"); err != nil || took > 3*time.Second {
					t.Errorf("the document that needs no file: %v after %v, want it after 2 s", err, took)
				}
				time.Sleep(time.Minute)
				// No document has kept a turn.
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					if err := pace.Take(ctx); err != nil {
						t.Error("a turn was not given back: ", err)
					}
				}
			})
		})
	}
}

// TestWaitsForTurn has a document wait for its turn longer than the timeout of its files.
func TestWaitsForTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := pacing.New(func() bool { return true }, func() bool { return false })
		for range 2 {
			if err := pace.Take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(time.Minute, pace.Give)
		w := slowWeb{"https://a.example/spec": {body: referring("p.json"), after: time.Second}, "https://a.example/p.json": {body: parameterFile, after: time.Second}}
		d, err := Load(t.Context(), "https://a.example/spec", LoadOptions{Client: &http.Client{Transport: w}, Timeout: 3 * time.Second, Limits: Limits{Pace: pace}})
		if err != nil || len(d.problems) > 0 {
			t.Errorf("%v, %v", err, d)
		}
	})
}
