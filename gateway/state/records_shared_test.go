package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/test/timebox"
)

// TestSharedRecords: what one replica puts another gets, the last value counts, and what Redis has lost comes back from who had
// put it.
func TestSharedRecords(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	until := time.Now().Add(time.Hour)
	expect := func(r *SharedRecords, name, want string) {
		t.Helper()
		expectRecord(t, r, name, want)
	}
	_ = first.Put(t.Context(), "x", "owner", []byte("1"), until)
	expect(second, "x", "1")
	expect(second, "y", "")
	_ = second.Put(t.Context(), "x", "owner", []byte("2"), until)
	expect(first, "x", "2")
	if added, err := first.Add(t.Context(), "x", "owner", []byte("3"), until); added || err != nil {
		t.Errorf("added in place of another: %v %v", added, err)
	}
	if added, err := second.Add(t.Context(), "z", "owner", []byte("1"), until); !added || err != nil {
		t.Errorf("not added: %v %v", added, err)
	}
	if added, err := first.Add(t.Context(), "z", "owner", []byte("2"), until); added || err != nil {
		t.Errorf("added at both: %v %v", added, err)
	}
	expect(first, "z", "1")
	m.FlushAll()
	expect(first, "x", "2") // which is what it has
	expect(second, "x", "2")
	m.Close()
	expect(second, "x", "2")
	if _, _, err := first.Get(t.Context(), "unknown"); !errors.Is(err, ErrAway) {
		t.Errorf("a record that may be there: %v", err)
	}
	if added, err := first.Add(t.Context(), "new", "", []byte("1"), until); !added || err != nil {
		t.Errorf("added here: %v %v", added, err)
	}
	expect(first, "new", "1")
}

// TestSharedRecordsAreBounded: an owner with too many loses those that end first, and no list of his is left for ever.
func TestSharedRecordsAreBounded(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	limits := RecordLimits{PerOwner: 3}
	first, second := a.Records("task", NewLocalRecords(limits, nil)), b.Records("task", NewLocalRecords(limits, nil))
	until := time.Now().Add(time.Hour)
	_ = first.Put(t.Context(), "other", "p", []byte("1"), until)
	for i := range 6 {
		_ = first.Put(t.Context(), fmt.Sprint("o", i), "o", []byte("1"), until.Add(time.Duration(i)*time.Minute))
	}
	for i, want := range []bool{false, false, false, true, true, true} {
		if _, ok, _ := second.Get(t.Context(), fmt.Sprint("o", i)); ok != want {
			t.Errorf("o%d is there: %v", i, ok)
		}
	}
	if _, ok, _ := second.Get(t.Context(), "other"); !ok {
		t.Error("another owner has lost his")
	}
	large := make([]byte, maxSharedRecord)
	_ = first.Put(t.Context(), "large", "", large, until)
	if got, ok, _ := first.Get(t.Context(), "large"); !ok || len(got) != len(large) {
		t.Error("too large for Redis, and not kept here")
	}
	if _, ok, _ := second.Get(t.Context(), "large"); ok {
		t.Error("too large for Redis, and there")
	}
	for _, key := range m.Keys() {
		if key != a.name("replicas") && m.TTL(key) < 30*time.Minute {
			t.Errorf("%s lives for %v", key, m.TTL(key))
		}
		if strings.Contains(key, "other") || strings.Contains(key, ":o") {
			t.Errorf("the name %q tells what it is for", key)
		}
	}
}

// TestSharedRecordsPoison: what somebody writes into Redis is never an answer: garbage, the record of another name, one that was
// sealed for something else, one whose time has passed, a value that is larger than any.
func TestSharedRecordsPoison(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	other := a.Records("cache", NewLocalRecords(RecordLimits{}, nil))
	until := time.Now().Add(time.Hour)
	for name, r := range map[string]*SharedRecords{"mine": first, "yours": first, "same": other} {
		_ = r.Put(t.Context(), name, "", []byte("of "+name), until)
	}
	_ = other.Put(t.Context(), "mine", "", []byte("of another kind"), until)
	at := func(r *SharedRecords, name string) string { key, _ := r.names(name, ""); return key }
	get := func(key string) string { v, _ := m.Get(key); return v }
	mine := at(first, "mine")
	good := get(mine)
	if got, ok, err := second.Get(t.Context(), "mine"); string(got) != "of mine" || !ok || err != nil {
		t.Fatalf("%q %v %v", got, ok, err)
	}
	sealed := func(value string, until time.Time, name string) string {
		return withNumber(1, a.o.Seal.Seal(numbered{number: 1, value: []byte(value), until: until}.plain(), []byte(name)))
	}
	for name, poison := range map[string]string{
		"garbage": "garbage", "empty": "", "another name": get(at(first, "yours")), "another kind": get(at(other, "mine")), "cut": good[:len(good)-1],
		"altered": "A" + good[1:], "sealed for a message": sealed("value", until, "gate:bus:task"),
		"too short": withNumber(1, a.o.Seal.Seal([]byte("short"), []byte(mine))), "passed": sealed("old", time.Now().Add(-time.Second), mine),
		"large": strings.Repeat("A", maxSharedRecord+10), "no time": withNumber(1, a.o.Seal.Seal([]byte(strings.Repeat("\xff", 40)), []byte(mine))),
		"another number": withNumber(settled, good[numberDigits:]), "no number": "-" + good[1:],
	} {
		_ = m.Set(mine, poison)
		fresh := b.Records("task", NewLocalRecords(RecordLimits{}, nil)) // which has not got the good one
		if got, ok, err := fresh.Get(t.Context(), "mine"); ok || err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if n := testutil.ToFloat64(b.failures[useRecords]); n != 12 {
		t.Errorf("%v of them are counted", n)
	}
	_ = m.Set(mine, withNumber(settled, good[numberDigits:]))
	_ = first.Put(t.Context(), "mine", "", []byte("of mine"), until)
	if got, ok, err := second.Get(t.Context(), "mine"); string(got) != "of mine" || !ok || err != nil {
		t.Errorf("what does not open is in the way: %q %v %v", got, ok, err)
	}
	m.Del(mine)
	_, _ = m.Lpush(mine, "list")
	if _, ok, err := b.Records("task", NewLocalRecords(RecordLimits{}, nil)).Get(t.Context(), "mine"); ok || !errors.Is(err, ErrAway) || !b.Status().Up {
		t.Errorf("a list: %v %v", ok, err)
	}
	if got, ok, err := first.Get(t.Context(), "mine"); string(got) != "of mine" || !ok || err != nil {
		t.Errorf("who has put it: %q %v %v", got, ok, err)
	}
}

// FuzzSharedRecord: nothing that Redis may answer is taken for a record, and no sealed text is read wrongly.
func FuzzSharedRecord(f *testing.F) {
	s := newShared(f, "127.0.0.1:1", nil, nil)
	r := s.Records("task", NewLocalRecords(RecordLimits{}, nil))
	record, _ := r.names("name", "")
	good := func(value []byte) []byte {
		return numbered{number: 1, owner: "owner", value: value, until: time.Now().Add(time.Hour)}.plain()
	}
	text := withNumber(1, s.o.Seal.Seal(good([]byte("value")), []byte(record)))
	f.Add(text, []byte("value"))
	f.Add("", []byte{})
	f.Add(text[1:], good(nil))
	f.Fuzz(func(t *testing.T, text string, plain []byte) {
		// The fuzzer's own process sealed the same value another time.
		if rec, ok := r.open(record, text); ok && string(rec.value) != "value" {
			t.Errorf("taken for a record: %q", rec.value)
		}
		if rec, ok := parseRecord(plain); ok && (len(rec.value)+len(rec.owner) > len(plain)-17 || rec.until.Year() > 1<<20 || rec.number < 0) {
			t.Errorf("read wrongly: %+v", rec)
		}
		rec, ok := r.open(record, withNumber(1, s.o.Seal.Seal(good(plain), []byte(record))))
		if !ok || string(rec.value) != string(plain) || rec.owner != "owner" {
			t.Errorf("%q came back as %+v, %v", plain, rec, ok)
		}
		s.bus.dispatch("gate:bus:ends", text) // which nobody takes
	})
}

// TestSharedRecordsOfFastClock: of two replicas whose clocks differ it is who has put later whose value counts.
func TestSharedRecordsOfFastClock(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, func(a, _ *Shared) { a.o.Now = func() time.Time { return time.Now().Add(30 * time.Second) } })
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	until := time.Now().Add(time.Hour)
	_ = first.Put(t.Context(), "x", "owner", []byte("1"), until)
	expectRecord(t, second, "x", "1")
	_ = second.Put(t.Context(), "x", "owner", []byte("2"), until)
	expectRecord(t, first, "x", "2")
	expectRecord(t, second, "x", "2")
	_ = first.Put(t.Context(), "x", "owner", []byte("3"), until)
	expectRecord(t, second, "x", "3")
}

// TestSharedRecordsAfterAnOutage: what a replica has put while Redis was away comes in place of what it was made of, and of nothing that
// others have put meanwhile; what is settled stays.
func TestSharedRecordsAfterAnOutage(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour)
	for name, tt := range map[string]struct {
		before, during func(a, b *SharedRecords)
		want           string
	}{
		"newer": {
			func(a, b *SharedRecords) { _ = a.Put(t.Context(), "x", "o", []byte("1"), until) },
			func(a, b *SharedRecords) { _ = a.Put(t.Context(), "x", "o", []byte("2"), until) }, "2"},
		"as new as another": {
			func(a, b *SharedRecords) {
				_ = a.Put(t.Context(), "x", "o", []byte("1"), until)
				expectRecord(t, b, "x", "1")
				_ = b.Put(t.Context(), "x", "o", []byte("of another"), until)
			},
			func(a, b *SharedRecords) { _ = a.Put(t.Context(), "x", "o", []byte("2"), until) }, "of another"},
		"newer than what is settled": {
			func(a, b *SharedRecords) {
				_ = a.Put(t.Context(), "x", "o", []byte("1"), until)
				_ = b.Settle(t.Context(), "x", "o", []byte("settled"), until)
			},
			func(a, b *SharedRecords) {
				for range 3 {
					_ = a.Put(t.Context(), "x", "o", []byte("2"), until)
				}
			}, "settled"},
		"settled after it was": {
			func(a, b *SharedRecords) {
				_ = a.Put(t.Context(), "x", "o", []byte("1"), until)
				_ = b.Settle(t.Context(), "x", "o", []byte("settled"), until)
			},
			func(a, b *SharedRecords) {
				_ = a.Put(t.Context(), "x", "o", []byte("2"), until)
				_ = a.Settle(t.Context(), "x", "o", []byte("settled again"), until)
			}, "settled"},
		"settled, and another went on": {
			func(a, b *SharedRecords) {
				_ = a.Put(t.Context(), "x", "o", []byte("1"), until)
				for range 3 {
					expectRecord(t, b, "x", "1")
					_ = b.Put(t.Context(), "x", "o", []byte("1"), until)
				}
			},
			func(a, b *SharedRecords) { _ = a.Settle(t.Context(), "x", "o", []byte("settled"), until) }, "settled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			a, b := pair(t, m, nil)
			first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
			tt.before(first, second)
			m.Close()
			tt.during(first, second)
			if err := m.Restart(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "Redis is reached again", func() bool { return a.Status().Up && b.Status().Up })
			for range 2 {
				expectRecord(t, first, "x", tt.want)
				expectRecord(t, second, "x", tt.want)
			}
		})
	}
}

// TestAddedWhileAway: what was put at a replica while Redis was away, such as what a service has called with, is found at the others when it is
// back, whether or not anybody asks the first for it, and they hear of it.
func TestAddedWhileAway(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var records [2]*SharedRecords
	told := make(chan string, 10)
	a, b := pair(t, m, func(a, b *Shared) {
		records = [2]*SharedRecords{a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))}
		records[1].OnPublished(func(_ context.Context, name string) { told <- name })
	})
	until := time.Now().Add(time.Hour)
	_ = records[0].Put(t.Context(), "t", "o", []byte("1"), until)
	expectRecord(t, records[1], "t", "1")
	m.Close()
	for _, name := range []string{"callback k", "callback k", "over"} {
		end := until
		if name == "over" {
			end = time.Now().Add(time.Millisecond)
		}
		if added, err := records[1].Add(t.Context(), name, "o", []byte("called"), end); !added && name == "over" || err != nil {
			t.Errorf("%s: %v %v", name, added, err)
		}
	}
	_ = records[1].Put(t.Context(), "t", "o", []byte("2"), until)
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Redis is reached again", func() bool { return a.Status().Up && b.Status().Up })
	for name, want := range map[string]string{"callback k": "called", "t": "2"} {
		eventually(t, "the other replica finds "+name, func() bool {
			got, ok, err := records[0].Get(t.Context(), name)
			return string(got) == want && ok && err == nil
		})
	}
	heard := map[string]bool{timebox.Receive(t, told): true, timebox.Receive(t, told): true}
	eventually(t, "nothing is left to tell", func() bool {
		records[1].mu.Lock()
		defer records[1].mu.Unlock()
		return len(records[1].pending) == 0
	})
	if !heard["callback k"] || !heard["t"] || len(told) != 0 {
		t.Errorf("told of %v, and %d more", heard, len(told))
	}
}

// TestSettledRecord: what is settled is not replaced, at one replica or another, as long as it is there.
func TestSettledRecord(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	now := time.Now()
	local := NewLocalRecords(RecordLimits{}, func() time.Time { return now })
	for name, r := range map[string][]Records{"local": {local, local}, "shared": {first, second}} {
		_ = r[0].Put(t.Context(), "x", "o", []byte("1"), now.Add(time.Hour))
		_ = r[0].Settle(t.Context(), "x", "o", []byte("2"), now.Add(time.Hour))
		for _, one := range r {
			_ = one.Put(t.Context(), "x", "o", []byte("3"), now.Add(2*time.Hour))
			_ = one.Settle(t.Context(), "x", "o", []byte("4"), now.Add(2*time.Hour))
			if got, ok, err := one.Get(t.Context(), "x"); string(got) != "2" || !ok || err != nil {
				t.Errorf("%s: %q %v %v", name, got, ok, err)
			}
		}
	}
	now = now.Add(time.Hour)
	_ = local.Put(t.Context(), "x", "o", []byte("3"), now.Add(time.Hour))
	if got, _, _ := local.Get(t.Context(), "x"); string(got) != "3" {
		t.Errorf("after its time: %q", got)
	}
}

// expectRecord looks for a value; "" is none.
func expectRecord(t *testing.T, r *SharedRecords, name, want string) {
	t.Helper()
	got, ok, err := r.Get(t.Context(), name)
	if string(got) != want || ok != (want != "") || err != nil {
		t.Errorf("%q: %q %v %v, want %q", name, got, ok, err, want)
	}
}
