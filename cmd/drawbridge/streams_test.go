package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// away is a connection that comes from another machine.
type away struct{ net.Conn }

func (away) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }

// TestStreamsOfOneConnection is H7 over HTTP/2: one address has no more requests under way than it may have connections, whether they send no
// body or take no answer. The others are refused at once.
func TestStreamsOfOneConnection(t *testing.T) {
	const most, streams = 8, 100
	for _, tt := range []struct {
		name   string
		method string
		window uint32
	}{
		{"bodies that do not come", http.MethodPost, 1 << 16},
		{"answers that are not taken", http.MethodGet, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := guardedServer(t, fmt.Sprintf("limits: {max_connections_per_address: %d, address_rate: {rate: 1/m, burst: 1}}\n", most))
			h := s.publicServer(context.Background())
			synctest.Test(t, func(t *testing.T) {
				l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = h.Serve(s.gateway.Listener(l)) // which says that it was closed
				}()
				theirs, ours := net.Pipe()
				l.conns <- away{theirs}
				var mu sync.Mutex
				statuses, over := map[string]int{}, 0
				decoder := hpack.NewDecoder(4096, nil)
				f, out := windowed(t, ours, tt.window, func(f http2.Frame) {
					mu.Lock()
					defer mu.Unlock()
					head, ok := f.(*http2.HeadersFrame)
					if !ok {
						return
					}
					fields, err := decoder.DecodeFull(head.HeaderBlockFragment())
					if err != nil {
						t.Error(err)
					}
					for _, field := range fields {
						if field.Name == ":status" {
							statuses[field.Value]++
						}
					}
					if head.StreamEnded() {
						over++
					}
				})
				var head bytes.Buffer
				e := hpack.NewEncoder(&head)
				ask := func(n uint32, method string) {
					head.Reset()
					for _, field := range [][2]string{{":method", method}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/mcp"}, {"content-type", "application/json"}} {
						_ = e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
					}
					out <- func() error {
						return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*n + 1, BlockFragment: head.Bytes(), EndStream: method == http.MethodGet, EndHeaders: true})
					}
					out <- nil // it is written
				}
				for n := range uint32(streams) {
					ask(n, tt.method)
				}
				synctest.Wait()
				mu.Lock()
				if statuses["503"] < streams-most || over < streams-most {
					t.Errorf("%v were answered, %d to their end; want at least %d refused at once", statuses, over, streams-most)
				}
				mu.Unlock()
				time.Sleep(answerTimeout + time.Second)
				synctest.Wait()
				mu.Lock()
				refused := statuses["503"]
				mu.Unlock()
				ask(streams, http.MethodGet) // when all have ended there is room again
				synctest.Wait()
				mu.Lock()
				if statuses["503"] != refused || statuses["401"]+statuses["429"] != streams+1-refused {
					t.Errorf("%v were answered in the end, of which %d were refused at once", statuses, refused)
				}
				mu.Unlock()
				close(out)
				_ = ours.Close()
				_ = h.Close()
				<-ended
			})
		})
	}
}

// TestStreamsAtOnce is H7: a connection of HTTP/2 may have 100 requests under way, and is told so; one more is refused without being looked at.
func TestStreamsAtOnce(t *testing.T) {
	const most = 100
	s := guardedServer(t, "")
	h := s.publicServer(context.Background())
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = h.Serve(s.gateway.Listener(l)) // which says that it was closed
		}()
		theirs, ours := net.Pipe()
		l.conns <- theirs
		var mu sync.Mutex
		told, refused := uint32(0), map[uint32]http2.ErrCode{}
		f, out := windowed(t, ours, 0, func(f http2.Frame) {
			mu.Lock()
			defer mu.Unlock()
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if v, ok := f.Value(http2.SettingMaxConcurrentStreams); ok {
					told = v
				}
			case *http2.RSTStreamFrame:
				refused[f.StreamID] = f.ErrCode
			}
		})
		synctest.Wait() // the settings are acknowledged; until then the server says REFUSED_STREAM instead
		var head bytes.Buffer
		e := hpack.NewEncoder(&head)
		for n := range uint32(most + 1) {
			head.Reset()
			for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/mcp"}} {
				_ = e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
			}
			out <- func() error {
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*n + 1, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}) // whose answer is not taken
			}
			out <- nil // it is written
		}
		synctest.Wait()
		mu.Lock()
		if code := refused[2*most+1]; told != most || len(refused) != 1 || code != http2.ErrCodeProtocol { // RFC 9113 section 5.1.2: it knew
			t.Errorf("told of %d streams; refused were %v, want the last with PROTOCOL_ERROR", told, refused)
		}
		mu.Unlock()
		close(out)
		_ = ours.Close()
		_ = h.Close()
		<-ended
	})
}
