package upstream

import (
	"cmp"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient returns a client with usual limits where a test has none of its own.
func newClient(o Options) *Client {
	o.Timeout, o.Connect, o.TLSHandshake = cmp.Or(o.Timeout, 30*time.Second), cmp.Or(o.Connect, 2*time.Second), cmp.Or(o.TLSHandshake, 2*time.Second)
	o.FirstByte, o.MaxBytes, o.MaxRatio = cmp.Or(o.FirstByte, 15*time.Second), cmp.Or(o.MaxBytes, 8<<20), cmp.Or(o.MaxRatio, 200)
	o.Bulkhead.Wait = cmp.Or(o.Bulkhead.Wait, 500*time.Millisecond)
	return NewClient(o)
}
