package driftcount

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/openapi/drift"
	"drawbridge/test/timebox"
)

// newTest returns a recorder whose clock stands still.
func newTest() (*Recorder, *int) {
	counted := new(int)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return New(func(string, drift.Kind) { *counted++ }, func() time.Time { return now }), counted
}

// TestBounds: arguments of callers take half of the places, whatever they are, and answers the other half. All further ones are counted
// together, and those that are known go on being counted.
func TestBounds(t *testing.T) {
	r, counted := newTest()
	r.Retain(map[string]string{"a": "1"})
	known := drift.Difference{Kind: drift.ArgumentType, Pointer: "/known", Declared: "string", Got: "object"}
	r.Add("a", "GET", "/", known)
	for i := range 3 * MaxDifferences {
		r.Add("a", "GET", "/"+strings.Repeat("x", 10*i), drift.Difference{Kind: drift.ArgumentValue, Pointer: fmt.Sprint("/", i)})
	}
	r.Add("a", "GET", "/", known)
	r.Add("a", "GET", "/", drift.Difference{Kind: drift.AnswerStatus, Got: "202"})
	d := r.Report("a")
	if total := 3*MaxDifferences + 3; d.Total != int64(total) || *counted != total || d.Places != MaxDifferences/2+1 || len(d.Differences) != d.Places {
		t.Errorf("%d of %d counted, %d places", d.Total, *counted, d.Places)
	}
	sum := d.Uncounted
	for i := range d.Differences {
		row := &d.Differences[i]
		sum += row.Count
		if len(row.Path) > maxPath {
			t.Errorf("a path has %d bytes", len(row.Path))
		}
	}
	if sum != d.Total || d.Differences[0].Text() != "known: declared string, refused as object 2 times" {
		t.Errorf("%d of %d are told; the first is %s", sum, d.Total, d.Differences[0].Text())
	}
}

// TestRetain: counts belong to an API and its document. They outlive a reload that changes neither, and nothing is kept for an API that is
// not served.
func TestRetain(t *testing.T) {
	r, _ := newTest()
	d := drift.Difference{Kind: drift.AnswerMissing, Pointer: "/id"}
	r.Add("a", "GET", "/", d)
	if r.Summary("a") != nil {
		t.Error("an API that is not served has counts")
	}
	r.Retain(map[string]string{"a": "1", "b": "1"})
	r.Add("a", "GET", "/", d)
	r.Add("b", "GET", "/", d)
	r.Retain(map[string]string{"a": "1", "b": "2"})
	if r.Summary("a") == nil || r.Summary("b") != nil {
		t.Error("the counts of a document are kept, and those of a changed one are not")
	}
	r.Retain(map[string]string{"b": "2"})
	r.Retain(map[string]string{"a": "1", "b": "2"})
	if r.Report("a") != nil {
		t.Error("an API that was gone has counts")
	}
	var none *Recorder
	none.Add("a", "GET", "/", d)
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	r := New(func(string, drift.Kind) {}, nil)
	r.Retain(map[string]string{"a": "1"})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 100 {
				r.Add("a", "GET", "/", drift.Difference{Kind: drift.AnswerStatus, Got: fmt.Sprint(200 + i)})
				r.Report("a")
				r.Retain(map[string]string{"a": "1"})
			}
		})
	}
	timebox.Done(t, all.Wait)
	if d := r.Report("a"); d.Total != 400 || d.Places != 4 {
		t.Errorf("%+v", d)
	}
}
