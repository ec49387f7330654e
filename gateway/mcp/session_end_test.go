package mcp_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/mcp"
)

// TestStreamOfAnEndedSession: a stream whose session has ended at another replica ends when this one is told of it, and if the message is lost, at
// the next comment that keeps it alive. A stream whose session goes on does, too.
func TestStreamOfAnEndedSession(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"told": true, "not told": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRevoked()
				var replicas [2]*mcp.Handler
				for i := range replicas {
					methods, o := wholeServer(newWhole(mcp.BrokerOptions{}), mcp.Options{ReloadableOptions: mcp.ReloadableOptions{SealKeys: [][]byte{[]byte("common")}, KeepAlive: 20 * time.Second}, Revocations: r})
					replicas[i] = mcp.NewHandler(methods, o)
				}
				open := func(h *mcp.Handler, method, session, body string) *talk {
					req := newRequest(t, "mcp.example", body, "Accept", "application/json, text/event-stream", "Mcp-Session-Id", session)
					req.Method = method
					if method != http.MethodPost {
						req.Body, req.ContentLength = nil, 0
					}
					ctx, leave := context.WithCancel(t.Context())
					k := &talk{header: http.Header{}, leave: leave}
					go func() {
						defer leave()
						h.ServeHTTP(k, req.WithContext(ctx))
						k.mu.Lock()
						defer k.mu.Unlock()
						k.over = true
					}()
					synctest.Wait()
					return k
				}
				over := func(k *talk) bool {
					synctest.Wait()
					k.mu.Lock()
					defer k.mu.Unlock()
					return k.over
				}
				begin := func() (session string, stream *talk) {
					session = open(replicas[0], http.MethodPost, "",
						`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`).header.Get("Mcp-Session-Id")
					return session, open(replicas[0], http.MethodGet, session, "")
				}
				session, ended := begin()
				_, other := begin()
				time.Sleep(25 * time.Second)
				if over(ended) || over(other) {
					t.Fatal("a stream has ended by itself")
				}
				open(replicas[1], http.MethodDelete, session, "")
				if over(ended) {
					t.Fatal("nobody has told the other replica")
				}
				if told {
					for id := range r.names {
						replicas[0].SessionEnded(id)
					}
					replicas[0].SessionEnded("not an id of a session")
				} else {
					time.Sleep(20 * time.Second)
				}
				if !over(ended) || over(other) {
					t.Errorf("ended: %v, another: %v", over(ended), over(other))
				}
				other.leave()
				over(other)
			})
		})
	}
}
