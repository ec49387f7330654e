package state

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// TestRecordsThatRedisHasLost: what a replica knows of a name comes back to a Redis that has lost it, or has what it was before, whether or
// not anybody asks for it there: a replica that knows less does not settle it anew.
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
