package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/test/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ok(body string) wire.Answer { return wire.Answer{Status: 200, Body: []byte(body)} }

// TestSnapshots: what is of several versions, or of one that was not served, is told from what is well.
func TestSnapshots(t *testing.T) {
	const list = `{"result":{"tools":[{"name":"look","description":"Look at vN"},{"name":"changedN","description":"What is new in vN","inputSchema":{"properties":{"vN":{}}}}]}}`
	const look = `{"result":{"content":[{"type":"text","text":"{\"asked\":\"/v/N/look\"}"}]}}`
	const call = `{"result":{"content":[{"type":"text","text":"{\"asked\":\"/v/N?vN=x\"}"}]}}`
	listed := func(a wire.Answer) (outcome, string) {
		o, _, words := listed(a, nil, 5, 6)
		return o, words
	}
	looked := func(a wire.Answer) (outcome, string) { return looked(a, nil, 5, 6) }
	until := func(newest int64) func(wire.Answer) (outcome, string) {
		return func(a wire.Answer) (outcome, string) { return called(a, nil, 5, newest) }
	}
	called := until(6)
	for _, c := range []struct {
		name  string
		judge func(wire.Answer) (outcome, string)
		a     wire.Answer
		want  outcome
	}{
		{"list", listed, ok(versioned(list, 5)), good},
		{"list, the next one", listed, ok(versioned(list, 6)), good},
		{"list, older", listed, ok(versioned(list, 4)), mixed},
		{"list, newer", listed, ok(versioned(list, 7)), mixed},
		{"list with a description of another", listed, ok(strings.Replace(versioned(list, 5), "at v5", "at v6", 1)), mixed},
		{"list with a name of another", listed, ok(strings.Replace(versioned(list, 5), "changed5", "changed6", 1)), mixed},
		{"list with an argument of another", listed, ok(strings.Replace(versioned(list, 5), `"v5"`, `"v6"`, 1)), mixed},
		{"list without the other tool", listed, ok(strings.Replace(versioned(list, 5), `"look"`, `"loo"`, 1)), mixed},
		{"list of none", listed, ok(`{"result":{"tools":[]}}`), mixed},
		{"no list", listed, ok(`{"error":{"code":-32603}}`), failed},
		{"call", called, ok(versioned(call, 5)), good},
		{"call, gone", called, wire.Answer{Status: 400, Body: []byte(`{"error":{"message":"unknown tool \"changed5\": tools/list has the tools"}}`)}, gone},
		{"call, unknown though the newest", until(5), wire.Answer{Status: 400, Body: []byte(`{"error":{"message":"unknown tool \"changed5\": tools/list has the tools"}}`)}, mixed},
		{"call, another is unknown", called, wire.Answer{Status: 400, Body: []byte(`{"error":{"message":"unknown tool \"changed6\": tools/list has the tools"}}`)}, failed},
		{"call at another", called, ok(versioned(call, 6)), mixed},
		{"call at another's path", called, ok(strings.Replace(versioned(call, 5), "/v/5", "/v/6", 1)), mixed},
		{"call without its argument", called, ok(strings.Replace(versioned(call, 5), "?v5=x", "", 1)), mixed},
		{"call that is an error", called, ok(strings.Replace(versioned(call, 5), `"content"`, `"isError":true,"content"`, 1)), failed},
		{"look", looked, ok(versioned(look, 5)), good},
		{"look at an older one", looked, ok(versioned(look, 4)), mixed},
		{"look at a newer one", looked, ok(versioned(look, 7)), mixed},
		{"look at nothing", looked, ok(`{"result":{"content":[]}}`), failed},
		{"look, refused", looked, wire.Answer{Status: 503, Body: []byte(versioned(look, 5))}, failed},
	} {
		if got, words := c.judge(c.a); got != c.want || (got >= mixed) != (words != "") {
			t.Errorf("%s: %d (%s), want %d", c.name, got, words, c.want)
		}
	}
	if o, words := answered(ok(versioned(look, 5)), errors.New("reset")); o != failed || words != "reset" {
		t.Errorf("without an answer: %d, %s", o, words)
	}
}

// TestKnown: two notifications for one stream are none for the other.
func TestKnown(t *testing.T) {
	for _, c := range []struct {
		told []int64
		want bool
	}{{[]int64{1, 1}, true}, {[]int64{2, 0}, false}, {[]int64{2, 2}, false}} {
		l := &listeners{}
		for _, n := range c.told {
			one := &listener{}
			one.told.Store(n)
			l.told.Add(n)
			l.all = append(l.all, one)
		}
		if err := l.await(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if f := known("", []time.Duration{time.Millisecond}, l.uneven(1)); f.Met != c.want {
			t.Errorf("told %v: %s, met is %v", c.told, f.Measured, f.Met)
		}
	}
}

// TestJudge: calls that were not made, failed or came to a mixture miss their goal.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		due    int
		counts map[outcome]int
		want   []bool // as many as were due, none that failed, none mixed
	}{
		"well":            {100, map[outcome]int{good: 94, gone: 1}, []bool{true, true, true}},
		"too few":         {100, map[outcome]int{good: 94}, []bool{false, true, true}},
		"none":            {100, nil, []bool{false, false, false}},
		"one that failed": {100, map[outcome]int{good: 99, failed: 1}, []bool{true, false, true}},
		"a mixture":       {100, map[outcome]int{good: 99, mixed: 1}, []bool{true, true, false}},
	} {
		judged := (&calls{world: &world{}, counts: c.counts}).judge(c.due)
		for i, f := range judged {
			if f.Met != c.want[i] {
				t.Errorf("%s: %s: %s is met: %v", name, f.Name, f.Measured, f.Met)
			}
		}
	}
}
