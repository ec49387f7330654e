package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"drawbridge/openapi/jsonscan"
)

// TestHandles holds T20 for all sealed handles: they open in time, for what they were
// made for, and for nothing else.
func TestHandles(t *testing.T) {
	t.Parallel()
	handles := func(label string, secrets ...string) *SealedHandles {
		var keys [][]byte
		for _, s := range secrets {
			keys = append(keys, []byte(s))
		}
		h, err := NewSealedHandles(keys, label)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	now := time.Unix(1_800_000_000, 0)
	h := handles("tasks", "old")
	handle := h.Seal([]byte("payload"), now.Add(time.Minute), "alice", "task")
	for _, c := range []struct {
		name  string
		h     *SealedHandles
		now   time.Time
		bound []string
		ok    bool
	}{
		{"as it was made", h, now, []string{"alice", "task"}, true},
		{"another replica, which has rotated", handles("tasks", "new", "old"), now, []string{"alice", "task"}, true},
		{"a second before its end", h, now.Add(59 * time.Second), []string{"alice", "task"}, true},
		{"at its end", h, now.Add(time.Minute), []string{"alice", "task"}, false},
		{"somebody else", h, now, []string{"bob", "task"}, false},
		{"the same letters", h, now, []string{"alicetask", ""}, false},
		{"the same letters", h, now, []string{"alice", "tas", "k"}, false},
		{"bound to less", h, now, []string{"alice"}, false},
		{"another purpose", handles("states", "old"), now, []string{"alice", "task"}, false},
		{"another key", handles("tasks", "other"), now, []string{"alice", "task"}, false},
	} {
		payload, expiry, err := c.h.Open(handle, c.now, c.bound...)
		if (err == nil) != c.ok || c.ok && (string(payload) != "payload" || !expiry.Equal(now.Add(time.Minute))) {
			t.Errorf("%s: %q %v %v", c.name, payload, expiry, err)
		}
	}
}

// FuzzHandles holds that what was altered does not open, and nothing panics.
func FuzzHandles(f *testing.F) {
	h, err := NewSealedHandles([][]byte{[]byte("key")}, "fuzz")
	if err != nil {
		f.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	f.Add("", []byte("payload"), uint16(7))
	f.Add(h.Seal(nil, now.Add(time.Hour)), []byte{}, uint16(0))
	f.Fuzz(func(t *testing.T, foreign string, payload []byte, at uint16) {
		handle := h.Seal(payload, now.Add(time.Hour), "a")
		if got, _, err := h.Open(handle, now, "a"); err != nil || !bytes.Equal(got, payload) {
			t.Fatalf("%q: %v", got, err)
		}
		if _, _, err := h.Open(foreign, now, "a"); err == nil {
			t.Fatalf("%q opens", foreign)
		}
		i := int(at) % len(handle)
		letter := byte('A')
		if handle[i] == letter {
			letter = 'B'
		}
		altered := handle[:i] + string(letter) + handle[i+1:]
		if got, _, err := h.Open(altered, now, "a"); err == nil {
			t.Fatalf("letter %d changed, and %q comes out", i, got)
		}
	})
}

// FuzzDigest holds that a value has one digest however it is written, and that no
// other value has it.
func FuzzDigest(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2],"a":"\u0041"}`, `[]`, `{}`, `""`, `[[],[]]`, `{"a":{"b":null}}`, `[1,[2]]`, `[[1],2]`, `"a"`, `{"":true,"x":[false]}`} {
		f.Add(seed, `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		decode := func(text string) (any, bool) {
			if _, err := jsonscan.Scan([]byte(text), jsonscan.Options{Unique: true, MaxDepth: 64}); err != nil {
				return nil, false
			}
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			var v any
			return v, d.Decode(&v) == nil
		}
		a, ok := decode(one)
		if !ok {
			return
		}
		again, err := json.MarshalIndent(a, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		// The decoder keeps lone surrogates from being told apart.
		if !strings.Contains(one, `\u`) && jsonDigest([]byte(one)) != jsonDigest(again) {
			t.Fatalf("%s and %s differ", one, again)
		}
		b, ok := decode(two)
		if !ok {
			return
		}
		if reflect.DeepEqual(normal(a), normal(b)) != (jsonDigest([]byte(one)) == jsonDigest([]byte(two))) && !strings.Contains(one+two, `\u`) {
			t.Fatalf("%s and %s: one of both is wrong", one, two)
		}
	})
}

// normal makes numbers differ from strings.
func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		return []any{"number", string(v)}
	case []any:
		list := []any{"list"}
		for _, e := range v {
			list = append(list, normal(e))
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			m[k] = normal(e)
		}
		return m
	}
	return v
}

// TestAskTwice holds that nothing can be elicited after the response, and that a client that was sent input requests
// gets nothing else.
func TestAskTwice(t *testing.T) {
	t.Parallel()
	h := NewHandler(nil, Options{})
	x, w := newLive(h, Stateless)
	x.req.Method, x.req.Client = "tools/call", ClientElicitation
	need := &InputRequired{Requests: []InputRequest{{Key: "a", Kind: ElicitForm}}}
	if _, err := x.reply.elicit(t.Context(), need); !errors.Is(err, errInputRequired) {
		t.Fatal(err)
	}
	if _, err := x.reply.elicit(t.Context(), need); !errors.Is(err, errAnswered) {
		t.Errorf("again: %v", err)
	}
	if err := x.reply.Result(); !errors.Is(err, errAnswered) {
		t.Errorf("a result: %v", err)
	}
	if strings.Count(w.body.String(), "jsonrpc") != 1 {
		t.Errorf("body %s", w.body.String())
	}
}
