package state

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestFullRedis: one that answers and takes nothing more counts as away, and is used again when it has room; the log says each once.
func TestFullRedis(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		"OOM command not allowed when used memory > 'maxmemory'.",
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
		"NOREPLICAS Not enough good replicas to write.",
	} {
		t.Run(strings.Fields(refusal)[0], func(t *testing.T) {
			t.Parallel()
			m, log := miniredis.RunT(t), &logged{}
			full := refuse(m, refusal, "EVAL", "EVALSHA", "SET", "ZADD")
			s := begin(t, newShared(t, m.Addr(), log, nil))
			eventually(t, "it is reached", func() bool { return s.Status().Up })
			full.Store(true)
			rates := s.RateCounters(NewLocalRateCounters(0, nil), false)
			for range 5 {
				if d, err := rates.Take(t.Context(), "k", Limit{time.Millisecond, 100}, 1); !d.Allowed || err != nil {
					t.Fatalf("%+v %v", d, err)
				}
			}
			if st := s.Status(); st.Up || !strings.Contains(st.Reason, refusal) {
				t.Errorf("status %+v", st)
			}
			full.Store(false)
			eventually(t, "it is reached again", func() bool { return s.Status().Up })
			if n := strings.Count(log.String(), "is full, or read-only"); n != 1 {
				t.Errorf("the log tells %d times:\n%s", n, log)
			}
		})
	}
}

// TestRefusedUse: a Redis that refuses one use, as access control does that misses a command, serves the others, and the log says so once.
func TestRefusedUse(t *testing.T) {
	t.Parallel()
	m, log := miniredis.RunT(t), &logged{}
	refuse(m, "NOPERM User gate has no permissions to run the 'publish' command", "PUBLISH").Store(true)
	s := begin(t, newShared(t, m.Addr(), log, nil))
	eventually(t, "it is reached", func() bool { return s.Status().Up })
	for range 5 {
		s.Bus().Publish(t.Context(), "topic", []byte("message"))
	}
	if n := testutil.ToFloat64(s.failures[useMessages]); n != 5 || !s.Status().Up {
		t.Errorf("%v errors are counted, %+v", n, s.Status())
	}
	if n := strings.Count(log.String(), "rejects an operation"); n != 1 || !strings.Contains(log.String(), "use=messages") || !strings.Contains(log.String(), "NOPERM") {
		t.Errorf("the log tells %d times:\n%s", n, log)
	}
}

// refuse has a server answer commands with an error while what it returns is true.
func refuse(m *miniredis.Miniredis, refusal string, commands ...string) *atomic.Bool {
	on := &atomic.Bool{}
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		for _, name := range commands {
			if on.Load() && strings.EqualFold(name, command) {
				c.WriteError(refusal)
				return true
			}
		}
		return false
	})
	return on
}
