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
