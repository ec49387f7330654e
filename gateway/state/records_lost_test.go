package state

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// TestRecordsThatRedisHasLost: what a replica knows of a name comes back to a Redis that has lost it, or has what it was before, whether or
// not anybody asks for it there: a replica that knows less does not settle it again.
func TestRecordsThatRedisHasLost(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour)
	for name, lose := range map[string]func(m *miniredis.Miniredis, record, before string){
		"all":   func(m *miniredis.Miniredis, _, _ string) { m.FlushAll() },
		"later": func(m *miniredis.Miniredis, record, before string) { _ = m.Set(record, before) },
		"another type": func(m *miniredis.Miniredis, record, _ string) {
			m.Del(record)
			_, _ = m.Lpush(record, "a list")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			var first, second *SharedRecords
			a, b := pair(t, m, func(a, b *Shared) {
				first, second = a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
			})
			record, _ := first.names("x", "")
			_ = first.Put(t.Context(), "x", "o", []byte("working"), until)
			expectRecord(t, second, "x", "working")
			before, _ := m.Get(record)
			_ = first.Settle(t.Context(), "x", "o", []byte("completed"), until)
			m.Close()
			lose(m, record, before)
			if err := m.Restart(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "Redis is reached again", func() bool { return a.Status().Up && b.Status().Up })
			eventually(t, "it has what was settled", func() bool {
				stands, _ := m.Get(record)
				return strings.HasPrefix(stands, withNumber(settled, ""))
			})
			_ = second.Settle(t.Context(), "x", "o", []byte("failed"), until)
			expectRecord(t, first, "x", "completed")
			expectRecord(t, second, "x", "completed")
		})
	}
}

// addLetters adds the letters behind the colon of another value to those of the first.
func addLetters(value, other []byte) []byte {
	_, letters, _ := bytes.Cut(other, []byte(":"))
	for _, l := range letters {
		if !bytes.Contains(value, []byte{l}) {
			value = append(slices.Clip(value), l)
		}
	}
	return value
}

// TestRecordsPutApart: of what replicas have put without knowing of each other the later counts, whoever tells of it first, and what is to be kept of
// the other is in it; nothing is added to what has settled.
func TestRecordsPutApart(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour)
	type replica struct {
		*SharedRecords
		way *hole
	}
	away := func(t *testing.T, r *replica) {
		r.way.swallow(true)
		eventually(t, "Redis is away for one", func() bool {
			_ = r.Put(t.Context(), "unknown", "", nil, until)
			return !r.s.Status().Up
		})
	}
	put := func(t *testing.T, r *replica, values ...string) {
		for _, v := range values {
			_ = r.Put(t.Context(), "x", "o", []byte(v), until)
		}
	}
	for name, tt := range map[string]struct {
		apart func(t *testing.T, a, b *replica)
		want  string
	}{
		"fewer at the one that was away": {func(t *testing.T, a, b *replica) {
			away(t, a)
			put(t, a, "a2:p")
			put(t, b, "b2:", "b3:", "b4:q")
		}, "b4:qp"},
		"as many": {func(t *testing.T, a, b *replica) {
			away(t, a)
			put(t, a, "a2:p")
			put(t, b, "b2:q")
		}, "b2:qp"},
		"more at the one that was away": {func(t *testing.T, a, b *replica) {
			away(t, a)
			put(t, a, "a2:", "a3:p")
			put(t, b, "b2:q")
		}, "a3:pq"},
		"settled at the one that was away": {func(t *testing.T, a, b *replica) {
			away(t, a)
			_ = a.Settle(t.Context(), "x", "o", []byte("settled:"), until)
			put(t, b, "b2:q")
		}, "settled:"},
		"settled at the other": {func(t *testing.T, a, b *replica) {
			away(t, a)
			put(t, a, "a2:", "a3:p")
			_ = b.Settle(t.Context(), "x", "o", []byte("settled:"), until)
		}, "settled:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			var both [2]*replica
			for i := range both {
				way := newHole(t, m.Addr())
				s := newShared(t, way.address(), nil, nil)
				s.o.Timeout = 300 * time.Millisecond // after which one that swallows is away
				both[i] = &replica{s.Records("task", NewLocalRecords(RecordLimits{}, nil)), way}
				both[i].Merge(addLetters)
				begin(t, s)
				eventually(t, "Redis is reached", func() bool { return s.Status().Up })
			}
			a, b := both[0], both[1]
			put(t, a, "1:")
			eventually(t, "both know of it", func() bool {
				got, _, _ := b.Get(t.Context(), "x")
				return string(got) == "1:"
			})
			tt.apart(t, a, b)
			a.way.swallow(false)
			eventually(t, "it is back", func() bool { return a.s.Status().Up })
			eventually(t, "both have the same", func() bool {
				theirs, _, _ := b.Get(t.Context(), "x") // before anybody asks for it at the other
				if string(theirs) != tt.want {
					return false
				}
				mine, _, _ := a.Get(t.Context(), "x")
				return string(mine) == tt.want
			})
			time.Sleep(2 * repeatPause)
			expectRecord(t, a.SharedRecords, "x", tt.want)
			expectRecord(t, b.SharedRecords, "x", tt.want)
		})
	}
}

// TestPutBeforeItIsToldAgain: what is put on top of what Redis does not know yet comes in place of nothing that is not merged.
func TestPutBeforeItIsToldAgain(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour)
	a, b := pair(t, miniredis.RunT(t), nil)
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil)) // which nobody tells again
	first.Merge(addLetters)
	_ = second.Put(t.Context(), "x", "o", []byte("b1:q"), until)
	_ = first.local.Put(t.Context(), "x", "o", numbered{number: 3, owner: "o", value: []byte("a3:p"), until: until}.plain(), until)
	first.markPending("x")
	_ = first.Put(t.Context(), "x", "o", []byte("a4:p"), until)
	expectRecord(t, first, "x", "a4:pq")
	expectRecord(t, second, "x", "a4:pq")
}
