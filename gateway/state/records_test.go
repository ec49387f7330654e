package state

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestRecords: a value is there until its time, and the last one that was put.
func TestRecords(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := NewLocalRecords(RecordLimits{}, func() time.Time { return now })
	put := func(name, value string, d time.Duration) {
		if err := r.Put(t.Context(), name, "o", []byte(value), now.Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(name, want string) {
		t.Helper()
		got, ok, err := r.Get(t.Context(), name)
		if string(got) != want || ok != (want != "") || err != nil {
			t.Errorf("%q: %q %v %v, want %q", name, got, ok, err, want)
		}
	}
	put("a", "1", time.Hour)
	put("b", "2", time.Minute)
	put("a", "3", time.Hour)
	expect("a", "3")
	expect("b", "2")
	expect("c", "")
	now = now.Add(time.Minute)
	expect("b", "")
	put("a", "4", 0)
	expect("a", "")
	add := func(value string, want bool) {
		t.Helper()
		if ok, err := r.Add(t.Context(), "d", "o", []byte(value), now.Add(time.Minute)); ok != want || err != nil {
			t.Errorf("add %q: %v %v", value, ok, err)
		}
	}
	add("1", true)
	add("2", false)
	expect("d", "1")
	now = now.Add(time.Minute)
	add("3", true)
	expect("d", "3")
	put("d", "4", 0)
	if r.Len() != 0 || r.bytes != 0 || len(r.owners) != 0 {
		t.Errorf("%d records, %d bytes, %d owners are left", r.Len(), r.bytes, len(r.owners))
	}
}

// TestRecordsAreBounded: an owner with too many loses its own, and all together what nobody has asked for the longest.
func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	r := NewLocalRecords(RecordLimits{Names: 10, Bytes: 100, PerOwner: 3}, nil)
	until := time.Now().Add(time.Hour)
	put := func(name, owner string, size int) {
		t.Helper()
		if err := r.Put(t.Context(), name, owner, make([]byte, size), until); err != nil {
			t.Fatal(err)
		}
		if len(r.names) > 10 || r.bytes > 100 {
			t.Errorf("after %q: %d names, %d bytes", name, len(r.names), r.bytes)
		}
	}
	has := func(name string, want bool) {
		t.Helper()
		if _, ok, _ := r.Get(t.Context(), name); ok != want {
			t.Errorf("%q is there: %v", name, ok)
		}
	}
	put("other", "p", 1)
	for i := range 20 {
		put(fmt.Sprint("o", i), "o", 1)
		has("o0", i < 20) // which is in use
	}
	has("o17", false)
	has("o18", true)
	has("other", true)
	for i := range 20 {
		put(fmt.Sprint("n", i), "", 1)
	}
	has("n9", false)
	has("n19", true)
	put("large", "", 99)
	has("large", true)
	put("larger", "", 101)
	has("larger", false)
	has("large", true)
}

// TestRecordsConcurrently is for the race detector.
func TestRecordsConcurrently(t *testing.T) {
	t.Parallel()
	r := NewLocalRecords(RecordLimits{Names: 10, PerOwner: 2}, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				name := fmt.Sprint(i * g % 40)
				_ = r.Put(t.Context(), name, fmt.Sprint(g%3), []byte(name), time.Now().Add(time.Hour))
				_, _, _ = r.Get(t.Context(), name)
			}
		})
	}
	timebox.Done(t, wg.Wait)
	if r.Len() > 10 {
		t.Errorf("%d records held", r.Len())
	}
}
