package upstream

import (
	"net"
	"testing"
	"time"
)

// unclosable is a connection that can't be closed.
type unclosable struct{ net.Conn }

func (unclosable) Close() error { panic("injected") }

// TestCleanPanics: a panic at the timer that closes idle connections is told, and ends nothing: they are closed later.
func TestCleanPanics(t *testing.T) {
	var told []any
	c := newCleartext(nil, time.Minute, 9)
	c.panicked = func(_ string, v any) { told = append(told, v) }
	c.idle["host"] = []*cleartextConn{{Conn: unclosable{}, pool: c, host: "host"}} // since long ago
	c.clean()
	if len(told) != 1 || told[0] != "injected" {
		t.Errorf("told of %v, want one panic", told)
	}
	delete(c.idle, "host")
	if c.clean(); len(told) != 1 {
		t.Errorf("told of %v without a panic", told[1:])
	}
	c.put(&cleartextConn{Conn: unclosable{}, pool: c, host: "other"})
	if c.sweep == nil || !c.sweep.Stop() {
		t.Error("nobody looks again")
	}
}
