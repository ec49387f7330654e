package mcp

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestSeal holds T20 for session ids: any replica with the keys opens them, for
// their own principal alone, and not if a single bit was changed.
func TestSeal(t *testing.T) {
	t.Parallel()
	old, current := []byte("the old key"), []byte("the new key")
	want := session{id: [16]byte{1, 2, 3}, expiry: 1 << 33, revision: 2, capabilities: ClientRoots | ClientTasks, query: "presentation=all"}
	for _, c := range []struct {
		name         string
		seal, open   [][]byte
		sealer, user string
		ok           bool
	}{
		{"the same key", [][]byte{current}, [][]byte{current}, "alice", "alice", true},
		{"anonymous", [][]byte{current}, [][]byte{current}, "", "", true},
		{"another replica, which has rotated", [][]byte{old}, [][]byte{current, old}, "alice", "alice", true},
		{"the first key seals", [][]byte{current, old}, [][]byte{old}, "alice", "alice", false},
		{"another key", [][]byte{old}, [][]byte{current}, "alice", "alice", false},
		{"no key: random ones", nil, nil, "alice", "alice", false},
		{"another principal", [][]byte{current}, [][]byte{current}, "alice", "bob", false},
		{"an anonymous session taken over", [][]byte{current}, [][]byte{current}, "", "bob", false},
	} {
		id := newSessionSealer(c.seal).seal(c.sealer, want)
		got, err := newSessionSealer(c.open).open(c.user, id)
		if (err == nil) != c.ok || c.ok && got != want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%s: id %q is not visible ASCII", c.name, id)
		}
	}

	s := newSessionSealer([][]byte{current})
	id := s.seal("alice", want)
	if again := s.seal("alice", want); again == id {
		t.Error("one session sealed twice gives one id")
	}
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		if _, err := s.open("alice", base64.RawURLEncoding.EncodeToString(raw)); err == nil {
			t.Errorf("opened with bit %d changed", bit)
		}
		raw[bit/8] ^= 1 << (bit % 8)
	}
	for _, bad := range []string{"", "x", id[1:], id + "A", strings.Repeat("A", len(id)), id[:len(id)-1] + "\n"} {
		if _, err := s.open("alice", bad); err == nil {
			t.Errorf("opened %q", bad)
		}
	}
	// The format holds the place of a revision; one that this program does not know must not open.
	newer := want
	newer.revision = uint8(len(legacyRevisions))
	if _, err := s.open("alice", s.seal("alice", newer)); err == nil {
		t.Error("opened a session of an unknown revision")
	}
}

// TestSessionExpires holds that an id is good for 24 hours from initialize, and not
// a second longer, however much it is used.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	h := NewHandler(nil, Options{Now: func() time.Time { return now }})
	id := h.sessionSealer.seal("", session{expiry: now.Add(sessionLife).Unix()})
	header := http.Header{headerSession: {id}}
	now = now.Add(24*time.Hour - time.Second)
	if _, err := h.openSession(t.Context(), header, ""); err != nil {
		t.Errorf("after 23:59:59: %v", err)
	}
	now = now.Add(time.Second)
	if _, err := h.openSession(t.Context(), header, ""); err == nil || err.HTTPStatus != http.StatusNotFound {
		t.Errorf("after 24:00:00: %v", err)
	}
}

// TestSessionLife: the configuration says how long a session is good for, a reload changes that for new sessions alone, and what ended
// one holds until its end (pains row 163).
func TestSessionLife(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	h := NewHandler(nil, Options{Now: func() time.Time { return now }, Title: "t", ReloadableOptions: ReloadableOptions{SessionLife: 30 * 24 * time.Hour, SealKeys: [][]byte{[]byte("key")}}})
	initialize := func() http.Header {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		h.ServeHTTP(w, r)
		id := w.Header().Get(headerSession)
		if id == "" {
			t.Fatal(w.Code, w.Body)
		}
		return http.Header{headerSession: {id}}
	}
	good := func(header http.Header) bool {
		_, err := h.openSession(t.Context(), header, "")
		return err == nil
	}
	month := initialize()
	if err := h.Reload(ReloadableOptions{SessionLife: time.Hour, SealKeys: [][]byte{[]byte("key")}}); err != nil {
		t.Fatal(err)
	}
	hour := initialize()
	if err := h.Reload(ReloadableOptions{SealKeys: [][]byte{[]byte("key")}}); err != nil {
		t.Fatal(err)
	}
	day := initialize()
	for _, tt := range []struct {
		after            time.Duration
		month, hour, day bool
	}{
		{time.Hour - time.Second, true, true, true},
		{time.Hour, true, false, true},
		{24*time.Hour - time.Second, true, false, true},
		{24 * time.Hour, true, false, false},
		{30*24*time.Hour - time.Second, true, false, false},
		{30 * 24 * time.Hour, false, false, false},
	} {
		now = time.Unix(1_800_000_000, 0).Add(tt.after)
		if m, o, d := good(month), good(hour), good(day); m != tt.month || o != tt.hour || d != tt.day {
			t.Errorf("after %v: %t %t %t, want %t %t %t", tt.after, m, o, d, tt.month, tt.hour, tt.day)
		}
	}
}

func TestClientCapabilities(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]ClientCapabilities{
		`{}`:                                                     0,
		`{"elicitation":{}}`:                                     ClientElicitation,
		`{"elicitation":{"form":{}}}`:                            ClientElicitation,
		`{"elicitation":{"url":{}}}`:                             ClientElicitationURL,
		`{"elicitation":{"form":{},"url":{}}}`:                   ClientElicitation | ClientElicitationURL,
		`{"elicitation":null,"roots":[1],"x":{}}`:                0,
		`{"elicitation":[],"roots":[ ]}`:                         ClientElicitation | ClientRoots, // of PHP
		`{"roots":{"listChanged":true},"sampling":{"tools":{}}}`: ClientRoots | ClientSampling,
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`:    ClientTasks,
		`{"extensions":{"io.modelcontextprotocol/ui":{}}}`:       0,
	} {
		if got := clientCapabilities([]byte(object)); got != want || !got.Has(want) || got.Has(want|1<<15) {
			t.Errorf("%s: %b, want %b", object, got, want)
		}
	}
}

func BenchmarkOpenSession(b *testing.B) {
	s := newSessionSealer([][]byte{[]byte("key")})
	id := s.seal("alice", session{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.open("alice", id); err != nil {
			b.Fatal(err)
		}
	}
}
