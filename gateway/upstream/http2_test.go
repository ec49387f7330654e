package upstream

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// framed is a service that speaks HTTP/2 frame by frame. It answers the first
// request of its life, which warms the client up, and all after the second; to
// the second it does fault.
func framed(t *testing.T, requests *atomic.Int64, fault func(f *http2.Framer, stream uint32)) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = discard()
	server.TLS = &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	server.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
		defer conn.Close()
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(conn, conn)
		if f.WriteSettings() != nil {
			return
		}
		answer := func(stream uint32) {
			n := requests.Add(1)
			if n == 2 {
				fault(f, stream)
				return
			}
			var block bytes.Buffer
			hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "204"})
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					f.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				if frame.StreamEnded() {
					answer(frame.StreamID)
				}
			case *http2.DataFrame:
				if frame.StreamEnded() {
					answer(frame.StreamID)
				}
			}
		}
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server, pool
}

// TestHTTP2Faults: of what a service may have looked at, nothing that is not
// idempotent reaches it twice, neither by us nor by net/http; what it says that
// it has not looked at does.
func TestHTTP2Faults(t *testing.T) {
	faults := map[string]func(f *http2.Framer, stream uint32){
		"PROTOCOL_ERROR": func(f *http2.Framer, stream uint32) { f.WriteRSTStream(stream, http2.ErrCodeProtocol) },
		"INTERNAL_ERROR": func(f *http2.Framer, stream uint32) { f.WriteRSTStream(stream, http2.ErrCodeInternal) },
		"REFUSED_STREAM": func(f *http2.Framer, stream uint32) { f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) },
		"GOAWAY, not looked at": func(f *http2.Framer, stream uint32) {
			f.WriteGoAway(stream-2, http2.ErrCodeNo, nil)
		},
	}
	for _, c := range []struct {
		fault, method, body string
		requests            int64 // the first of all, and those of the call
		want                string
	}{
		{"PROTOCOL_ERROR", "POST", "body", 2, "truncated"},
		{"PROTOCOL_ERROR", "POST", "", 2, "truncated"},
		{"PROTOCOL_ERROR", "PATCH", "body", 2, "truncated"},
		{"PROTOCOL_ERROR", "GET", "", 3, "204"},
		{"PROTOCOL_ERROR", "PUT", "body", 3, "204"},
		{"INTERNAL_ERROR", "POST", "body", 2, "truncated"},
		{"INTERNAL_ERROR", "POST", "", 2, "truncated"},
		{"INTERNAL_ERROR", "GET", "", 3, "204"},
		{"REFUSED_STREAM", "POST", "body", 3, "204"},
		{"REFUSED_STREAM", "POST", "", 3, "204"},
		{"REFUSED_STREAM", "GET", "", 3, "204"},
		{"GOAWAY, not looked at", "POST", "body", 3, "204"},
		{"GOAWAY, not looked at", "GET", "", 3, "204"},
		{"GOAWAY, not looked at", "POST", "", 2, "truncated"}, // which net/http does not tell from PROTOCOL_ERROR
	} {
		t.Run(fmt.Sprint(c.fault, " ", c.method, " ", c.body), func(t *testing.T) {
			var requests atomic.Int64
			server, pool := framed(t, &requests, faults[c.fault])
			client := impatient(newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), RootCAs: pool, Retries: Retries{Max: 2, Budget: 100}}))
			defer client.Close()
			if got := outcome(client, get(t, parse(t, server.URL))); got != "204 \"\"\n" {
				t.Fatal(got)
			}
			req := get(t, parse(t, server.URL))
			req.Method = c.method
			if c.body != "" {
				var err error
				if req, err = http.NewRequestWithContext(req.Context(), c.method, server.URL, strings.NewReader(c.body)); err != nil {
					t.Fatal(err)
				}
			}
			resp, err := client.Do(req)
			got := ""
			if e := (*Error)(nil); errors.As(err, &e) {
				got = e.Kind.String()
			} else if err == nil {
				got = fmt.Sprint(resp.StatusCode)
				resp.Body.Close()
			}
			if got != c.want || requests.Load() != c.requests {
				t.Errorf("%d requests, want %d; %s, want %s: %v", requests.Load(), c.requests, got, c.want, err)
			}
		})
	}
}

// TestHTTP2AfterHTTP1: what has spoken HTTP/1 alone is sent once as well, if a connection that is made for it speaks HTTP/2.
func TestHTTP2AfterHTTP1(t *testing.T) {
	for _, body := range []string{"", "body"} {
		var requests atomic.Int64
		requests.Store(1) // the first is the one that fails
		server, pool := framed(t, &requests, func(f *http2.Framer, stream uint32) { f.WriteRSTStream(stream, http2.ErrCodeProtocol) })
		client := impatient(newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), RootCAs: pool, Retries: Retries{Max: 2, Budget: 100}}))
		client.pool.protocols.http1.Store(true)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome(client, req); !strings.HasPrefix(got, "truncated\n") || requests.Load() != 2 {
			t.Errorf("%q: %d requests, want 1; %s", body, requests.Load()-1, got)
		}
		client.Close()
	}
}
