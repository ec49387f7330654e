package gateway

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestSlownessIsCounted: an operator sees how many connections wait for their request, and what those lacked that were too slow.
func TestSlownessIsCounted(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	slow := g.connections.slow
	stand := func(t *testing.T, inSilence, inSending, forHead, forBody, forNothing int) {
		t.Helper()
		for at, want := range map[stage]int{silent: inSilence, sending: inSending, arrived: 0, handedOut: 0} {
			if n := slow.stages[at].Load(); n != int64(want) {
				t.Errorf("%d are in stage %d, want %d", n, at, want)
			}
		}
		for what, want := range map[lateness]int{ofHead: forHead, ofBody: forBody, ofNothing: forNothing, ofAnswer: 0} {
			if n := testutil.ToFloat64(slow.gaveUp[what]); n != float64(want) {
				t.Errorf("%v were too late with %s, want %d", n, what, want)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		for _, said := range []string{"", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"} {
			client := h.come()
			defer client.Close()
			go func() { _, _ = io.Copy(io.Discard, client) }()
			if said != "" {
				_, _ = io.WriteString(client, said)
			}
		}
		gone := h.come()
		_, _ = io.WriteString(gone, "GET / HTTP/1.1\r\n")
		synctest.Wait()
		stand(t, 1, 4, 0, 0, 0)
		_ = gone.Close() // which is nobody's patience
		synctest.Wait()
		stand(t, 1, 3, 0, 0, 0)
		time.Sleep(2*HeadPatience + 1)
		stand(t, 0, 1, 2, 0, 1)
		_ = (<-h.accepted).Close()
		synctest.Wait()
		stand(t, 0, 0, 2, 1, 1)
		h.end(t)
	})
}
