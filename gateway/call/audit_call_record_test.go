package call_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
)

// TestAccountOfRequests tells how often the service was asked, whatever the gateway tried.
func TestAccountOfRequests(t *testing.T) {
	answers := 0
	a := gatewaytest.Accounted(t, audit.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		if answers++; answers == 1 {
			http.Error(w, "restarting", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	})
	told := func() string {
		line := a.Lines(1)[0]
		return fmt.Sprint(line["outcome"], " ", line["status"], " ", line["requests"], " ", line["bytes_received"])
	}
	c := gatewaytest.NewClient(t, a.Handler(), gatewaytest.Eras[0], a.I.Token(t, nil))
	c.Call("stock")
	if got := told(); got != "ok 200 2 7" {
		t.Errorf("sent again: %s", got)
	}
	a.Service.Close()
	c.Call("stock")
	if got := told(); got != "connect <nil> <nil> <nil>" {
		t.Errorf("never sent: %s", got)
	}
	if lines := gatewaytest.MetricLines(a.Gateway, "drawbridge_service_received_bytes_total{"); len(lines) != 1 || !strings.HasSuffix(lines[0], " 7") {
		t.Errorf("received: %v", lines)
	}
}

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, http.ErrAbortHandler }

// slowOutput is an output that takes its time.
type slowOutput chan struct{}

func (s slowOutput) Write(p []byte) (int, error) { <-s; return len(p), nil }

// TestNothingUnaudited makes no call once the lines of a few have no room, because the output is slow, and tells the model why.
func TestNothingUnaudited(t *testing.T) {
	calls, output := 0, make(slowOutput)
	a := gatewaytest.Accounted(t, audit.Options{Output: output, Buffer: 3}, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusNoContent)
	})
	t.Cleanup(func() { close(output) }) // before the log ends
	c := gatewaytest.NewClient(t, a.Handler(), gatewaytest.Eras[0], a.I.Token(t, nil))
	for range 3 {
		c.Call("stock")
	}
	w := c.Call("stock")
	if calls != 3 || !bytes.Contains(w.Body.Bytes(), []byte("The gateway can't write its audit log now")) || !bytes.Contains(w.Body.Bytes(), []byte(`"isError":true`)) {
		t.Errorf("%d calls, the fourth: %d %s", calls, w.Code, w.Body)
	}
	if lines := gatewaytest.MetricLines(a.Gateway, "drawbridge_tool_calls_total", `outcome="unaudited"`); len(lines) != 1 {
		t.Errorf("counted: %v", lines)
	}
}

// TestNothingUnauditedAfterAnError: once a line could not be written, calls are refused with 503 at once, with room for their lines or
// without, and whether the header names the call or not.
func TestNothingUnauditedAfterAnError(t *testing.T) {
	calls := 0
	a := gatewaytest.Accounted(t, audit.Options{Output: broken{}}, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusNoContent)
	})
	clients := []*gatewaytest.Client{gatewaytest.NewClient(t, a.Handler(), gatewaytest.Eras[0], a.I.Token(t, nil)), gatewaytest.NewClient(t, a.Handler(), gatewaytest.Eras[1], a.I.Token(t, nil))}
	clients[1].Send("tools/list", "", "")
	clients[0].Call("stock")
	a.Eventually("the error is noticed", func() bool { return a.Status().Audit.Refuses })
	made := calls
	for _, c := range clients {
		if w := c.Call("stock"); w.Code != http.StatusServiceUnavailable || !bytes.Contains(w.Body.Bytes(), []byte("nothing was sent")) {
			t.Errorf("%s: %d %s", c.Revision, w.Code, w.Body)
		}
	}
	if calls != made {
		t.Errorf("%d calls were made without a record", calls-made)
	}
	if lines := gatewaytest.MetricLines(a.Gateway, `drawbridge_refused_total{reason="unaudited"}`); len(lines) != 1 || !strings.HasSuffix(lines[0], " 2") {
		t.Errorf("counted: %v", lines)
	}
}
