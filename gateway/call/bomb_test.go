package call_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
)

// TestBombCall is P1 for a whole call: 10 MB that stand for 10 GB cost less memory than a large answer does, and are refused at once
// (figure 10).
func TestBombCall(t *testing.T) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(make([]byte, 16<<20))
	_ = w.Close()
	member := b.Bytes() // 16 KiB for 16 MiB
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		for range 640 {
			if _, err := w.Write(member); err != nil {
				return
			}
		}
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.AnswerDocument, "apis: [{name: answers, spec: $SPEC, base_url: $BASE, retries: off}]\nrules: [{match: {method: GET}, set: {cache: {ttl: 1h}, clean: true}}]\n", service.URL)
	gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "watch", `"name":"watch","arguments":{}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "watch", `"name":"watch","arguments":{}`)
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	if !strings.Contains(string(answer), `an answer that is too large`) || !strings.Contains(string(answer), `"isError":true`) {
		t.Errorf("%s", answer)
	}
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%v, %d bytes allocated", took, allocated)
	if allocated > 32<<20 || took > 5*time.Second { // it takes some milliseconds on a machine that has nothing else to do
		t.Errorf("%v, %d bytes allocated", took, allocated)
	}
}
