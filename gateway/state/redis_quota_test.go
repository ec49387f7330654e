package state

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// TestQuota: whatever is put, put again, dropped and ends, no owner has more than its share, nor all together more than there is.
func TestQuota(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	l := newQuota(100_000, 20_000, func() time.Time { return now })
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 20_000 {
		owner := fmt.Sprint(random.IntN(8))
		if owner == "7" {
			owner = ""
		}
		name := owner + "/" + fmt.Sprint(random.IntN(40))
		if random.IntN(10) == 0 {
			l.drop(name)
		} else if !l.reserve(name, owner, random.IntN(2000), now.Add(time.Duration(random.IntN(60))*time.Second)) {
			refused++
		}
		now = now.Add(time.Duration(random.IntN(300)) * time.Millisecond)
		var total int64
		owners := map[string]int64{}
		for _, d := range l.entries {
			total += d.bytes
			owners[d.owner] += d.bytes
		}
		if total != l.total || total > 100_000 {
			t.Fatalf("%d bytes, counted as %d", total, l.total)
		}
		for owner, n := range owners {
			if owner != "" && (n != l.owners[owner] || n > 20_000) {
				t.Fatalf("%q has %d bytes, counted as %d", owner, n, l.owners[owner])
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	now = now.Add(time.Hour)
	if !l.reserve("last", "1", 19_000, now.Add(time.Second)) || len(l.entries) > 41 {
		t.Errorf("what has ended takes room: %d", len(l.entries))
	}
}

// TestSharedRecordsOfOne: one caller with large tasks, or many ended sessions, does not fill the Redis of all; what does not fit stays where
// it was put, and others go on.
func TestSharedRecordsOfOne(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var ends, elsewhere *SharedTombstones
	a, b := pair(t, m, func(a, b *Shared) {
		ends, elsewhere = a.Tombstones(NewTombstones(0, nil)), b.Tombstones(NewTombstones(0, nil))
	})
	here, there := a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))
	until := time.Now().Add(time.Hour)
	large := make([]byte, 500_000)
	for i := range 60 {
		_ = here.Put(t.Context(), fmt.Sprint("mallory", i), "mallory", large, until)
	}
	_ = here.Put(t.Context(), "alice", "alice", large, until)
	shared := 0
	for i := range 60 {
		name := fmt.Sprint("mallory", i)
		if _, ok, err := there.Get(t.Context(), name); ok && err == nil {
			shared++
		}
		if v, ok, err := here.Get(t.Context(), name); !ok || err != nil || len(v) != len(large) {
			t.Fatalf("%s is not where it was put: %v %v", name, ok, err)
		}
	}
	if n := strings.Count(strings.Join(m.Keys(), "\n"), "gate:task:"); n != shared+1 {
		t.Errorf("%d records are in Redis, after they were asked for %d", shared, n)
	}
	if most := recordsPerOwner / len(large); shared == 0 || shared > most {
		t.Errorf("%d records of one owner are in Redis, %d fit", shared, most)
	}
	if _, ok, _ := there.Get(t.Context(), "alice"); !ok {
		t.Error("another owner has no room")
	}

	for i := range 3 * endsPerOwner / quotaName / 2 {
		_ = ends.Revoke(t.Context(), "mallory", fmt.Sprint("session", i), until)
	}
	_ = ends.Revoke(t.Context(), "alice", "session of alice", until)
	kept := 0
	for _, key := range m.Keys() {
		if len(key) > 9 && key[:9] == "gate:end:" {
			kept++
		}
	}
	if most := endsPerOwner/quotaName + 1; kept > most || kept < most/2 {
		t.Errorf("%d ended sessions are in Redis, want about %d", kept, most)
	}
	eventually(t, "the end of a session is heard", func() bool { return elsewhere.local.Revoked(t.Context(), "session of alice") })
}
