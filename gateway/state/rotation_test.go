package state

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/gateway/mcp"
)

// TestRecordsOutliveNames: a record is found by replicas whose names of callers are made with another key, as they are while keys are
// rotated.
func TestRecordsOutliveNames(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	_ = first.Put(t.Context(), "x", "owner", []byte("completed"), time.Now().Add(time.Hour))
	b.Rename([]byte("the next key"))
	if got, ok, err := second.Get(t.Context(), "x"); string(got) != "completed" || !ok || err != nil {
		t.Errorf("%q %v %v", got, ok, err)
	}
}

// TestRecordThatDoesNotOpenIsKept: a replica that lacks the key of a record has its own older one, and does not put it in place of that.
func TestRecordThatDoesNotOpenIsKept(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	sealer := func(secrets ...string) *mcp.Sealer {
		var keys [][]byte
		for _, s := range secrets {
			keys = append(keys, []byte(s))
		}
		seal, err := mcp.NewSealer(keys, "test")
		if err != nil {
			t.Fatal(err)
		}
		return seal
	}
	a, b := pair(t, m, func(a, b *Shared) { a.o.Seal, b.o.Seal = sealer("new", "old"), sealer("old") })
	first, second := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	until := time.Now().Add(time.Hour)
	_ = second.Put(t.Context(), "x", "owner", []byte("working"), until)
	_ = first.Put(t.Context(), "x", "owner", []byte("completed"), until)
	if got, ok, err := second.Get(t.Context(), "x"); string(got) != "working" || !ok || err != nil {
		t.Errorf("what it has: %q %v %v", got, ok, err)
	}
	if n := testutil.ToFloat64(b.failures[useRecords]); n != 1 {
		t.Errorf("%v are counted", n)
	}
	third := newShared(t, m.Addr(), nil, nil)
	third.o.Seal = sealer("old", "new")
	begin(t, third)
	eventually(t, "Redis is reached", func() bool { return third.Status().Up })
	if got, ok, err := third.Records("task", NewLocalRecords(RecordLimits{}, nil)).Get(t.Context(), "x"); string(got) != "completed" || !ok || err != nil {
		t.Errorf("in Redis: %q %v %v", got, ok, err)
	}
}
