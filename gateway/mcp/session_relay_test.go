package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"drawbridge/gateway/mcp"
)

// TestReplicas holds that messages of a session reach the replica that has its call or its stream; without a relay
// they do not, and no response is wrong.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var replicas [2]*mcp.Handler
			var sent []string
			for i := range replicas {
				methods, o := wholeServer(newWhole(mcp.BrokerOptions{}), mcp.Options{ReloadableOptions: mcp.ReloadableOptions{SealKeys: [][]byte{[]byte("common")}}, Revocations: newRevoked()})
				o.Capabilities.Tools = true
				if together {
					o.Relay = func(_ context.Context, message []byte) error {
						sent = append(sent, string(message))
						return errors.Join(replicas[0].ReceiveRelayed(message), replicas[1].ReceiveRelayed(message))
					}
				}
				replicas[i] = mcp.NewHandler(methods, o)
			}
			session := ""
			open := func(replica int, method, body string) *talk {
				r := newRequest(t, "mcp.example", body, "Accept", "application/json, text/event-stream", "Mcp-Session-Id", session)
				r.Method = method
				if method != http.MethodPost {
					r.Body, r.ContentLength = nil, 0
				}
				ctx, leave := context.WithCancel(t.Context())
				k := &talk{header: http.Header{}, leave: leave}
				go func() {
					defer leave()
					replicas[replica].ServeHTTP(k, r.WithContext(ctx))
					k.mu.Lock()
					defer k.mu.Unlock()
					k.over = true
				}()
				synctest.Wait()
				return k
			}
			post := func(replica int, body string) *talk { return open(replica, http.MethodPost, body) }
			said := func(k *talk) string {
				k.mu.Lock()
				defer k.mu.Unlock()
				return k.body.String()
			}
			first := post(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`)
			session = first.header.Get("Mcp-Session-Id")

			asked := post(0, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
			m := remembered["question"].FindStringSubmatch(said(asked))
			if m == nil {
				t.Fatalf("no question: %s", said(asked))
			}
			// The message is too large to be relayed, and the client may send a smaller one.
			large := func(id string) string {
				return `{"jsonrpc":"2.0","id":"` + id + `","result":{"action":"accept","content":{"v":"` + strings.Repeat("a", 70<<10) + `"}}}`
			}
			refused := post(1, large(m[1]))
			if got, want := refused.status, map[bool]int{true: 413, false: 202}[together]; got != want {
				t.Errorf("together %v: a large answer at another replica: %d", together, got)
			}
			if got := said(refused); together && !strings.Contains(got, "the answer is larger than 65536 bytes") {
				t.Errorf("a large answer at another replica: %s", got)
			}
			post(1, `{"jsonrpc":"2.0","id":"`+m[1]+`","result":{"action":"decline"}}`)
			if got := strings.Contains(said(asked), `"said":"name: 2 "`); got != together {
				t.Errorf("together %v: answered %v", together, got)
			}
			here := post(0, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}`)
			again := remembered["question"].FindStringSubmatch(said(here))
			if again == nil {
				t.Fatalf("no question: %s", said(here))
			}
			if k := post(0, large(again[1])); k.status != 202 || !strings.Contains(said(here), `"said":"name: 1 `) {
				t.Errorf("a large answer where it was asked for: %d", k.status)
			}
			cancelled := post(0, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`)
			post(1, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
			if got := strings.Contains(said(cancelled), "-32800"); got != together {
				t.Errorf("together %v: cancelled %v", together, got)
			}
			post(1, `{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"debug"}}`)
			logged := post(0, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"log"}}`)
			if got := strings.Contains(said(logged), "notifications/message"); got != together {
				t.Errorf("together %v: logged %v", together, got)
			}
			// Ids that no elicitation has, and large messages, are not relayed.
			post(1, `{"jsonrpc":"2.0","id":"x","result":{}}`)
			post(1, `{"jsonrpc":"2.0","id":7,"result":{}}`)
			post(1, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"`+strings.Repeat("a", 70<<10)+`"}}`)
			stream := open(0, http.MethodGet, "")
			open(1, http.MethodDelete, "")
			stream.mu.Lock()
			over := stream.over
			stream.mu.Unlock()
			if over != together {
				t.Errorf("together %v: the stream ended %v", together, over)
			}
			for _, k := range []*talk{asked, cancelled, stream} {
				k.leave()
			}
			for _, message := range sent {
				if strings.Contains(message, "decline") || strings.Contains(message, m[1]) {
					t.Error("a message between replicas can be read")
				}
				if replicas[0].ReceiveRelayed([]byte(message[:20]+flip(message[20:21])+message[21:])) == nil {
					t.Error("an altered message was taken")
				}
			}
			if together && len(sent) != 4 {
				t.Errorf("%d messages between replicas", len(sent))
			}
		})
	}
}
