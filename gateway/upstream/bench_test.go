package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkDo compares a call, whose context has a deadline as the gateway's
// have, with one through a bare transport, which is the cost of net/http itself.
func BenchmarkDo(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "256KiB": 256 << 10} {
		data := bytes.Repeat([]byte("x"), size)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }))
		defer server.Close()
		client := newClient(Options{BaseURL: parse(b, server.URL)})
		defer client.Close()
		bare := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
		defer bare.CloseIdleConnections()
		buf := make([]byte, 32<<10)
		for kind, do := range map[string]func(*http.Request) (*http.Response, error){"bare": bare.RoundTrip, "client": client.Do} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
				defer cancel()
				b.ReportAllocs()
				for b.Loop() {
					req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
					if err != nil {
						b.Fatal(err)
					}
					resp, err := do(req)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, resp.Body, buf)
					if err != nil || n != int64(size) {
						b.Fatal(n, err)
					}
					resp.Body.Close()
				}
			})
		}
	}
}

// BenchmarkDecode is the cost of decoding an answer of 256 KiB, and of
// compressing it, which is the service's.
func BenchmarkDecode(b *testing.B) {
	var plain bytes.Buffer
	for n := 0; plain.Len() < 256<<10; n++ {
		plain.WriteString(`{"id":`)
		plain.WriteString(string(rune('0' + n%10)))
		plain.WriteString(`,"name":"an order of some customer","total":12.50,"open":true},`)
	}
	packed := compress(b, "gzip", plain.Bytes())
	b.Run("decode", func(b *testing.B) {
		var pool decoderPool
		b.ReportAllocs()
		for b.Loop() {
			d := pool.get(gzipped, bytes.NewReader(packed), 1<<30)
			if _, err := io.Copy(io.Discard, d); err != nil {
				b.Fatal(err)
			}
			pool.put(d)
		}
	})
	b.Run("compress", func(b *testing.B) {
		for b.Loop() {
			compress(b, "gzip", plain.Bytes())
		}
	})
}
