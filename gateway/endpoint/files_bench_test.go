package endpoint_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// largeFile is the size of the file of the benchmark.
const largeFile = 1 << 30

var fileURI = regexp.MustCompile(`drawbridge-file:[a-z2-7]{16}`)

// BenchmarkFiles stores a response of a gigabyte, downloads it, and passes it on, with the bytes of live memory that this takes at most. The
// service and its client run in the same process.
func BenchmarkFiles(b *testing.B) {
	chunk := make([]byte, 1<<20)
	copy(chunk, "%PDF-1.7\n")
	var arrived int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			arrived, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "{}")
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Length", strconv.Itoa(largeFile))
		for range largeFile / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	b.Cleanup(service.Close)
	g := gatewaytest.Start(b, passDocument, fmt.Sprintf("server: {state_dir: %q, seal_keys: [%q]}\nfiles: {quota: 100GiB, max_total: 100GiB}\napis: [{name: shop, spec: $SPEC, base_url: $BASE, timeout: 5m}]\n", b.TempDir(), strings.Repeat("k", 32)), service.URL)
	call := func(b *testing.B, tool, arguments string) string {
		status, answer := gatewaytest.Ask(b, g.Handler(), "2026-07-28", "tools/call", tool, `"name":"`+tool+`","arguments":`+arguments)
		if status != 200 || strings.Contains(string(answer), `"isError":true`) {
			b.Fatalf("%d %.500s", status, answer)
		}
		return string(answer)
	}
	uri := ""
	b.Run("store", func(b *testing.B) {
		measure(b, func() { uri = fileURI.FindString(call(b, "report", "{}")) })
	})
	b.Run("download", func(b *testing.B) {
		server := httptest.NewServer(g.Handler())
		defer server.Close()
		measure(b, func() {
			resp, err := http.Get(server.URL + "/files/" + strings.TrimPrefix(uri, "drawbridge-file:"))
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			if _ = resp.Body.Close(); n != largeFile || err != nil {
				b.Fatal(resp.Status, n, err)
			}
		})
	})
	b.Run("pass", func(b *testing.B) {
		body, _ := json.Marshal(map[string]string{"body": uri})
		measure(b, func() {
			if call(b, "binary", string(body)); arrived != largeFile {
				b.Fatalf("%d bytes have arrived", arrived)
			}
		})
	})
}

// measure runs f for a file, and reports the throughput and how much more live memory there was than before.
func measure(b *testing.B, f func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	before, peak := read(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				peak = max(peak, read())
			}
		}
	}()
	b.SetBytes(largeFile)
	for b.Loop() {
		f()
	}
	close(stop)
	timebox.Wait(b, done)
	b.ReportMetric(float64(max(peak, before)-before)/(1<<20), "MiB-more")
}
