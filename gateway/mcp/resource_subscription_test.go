package mcp_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/mcp"
)

// dialogue begins one with the broker of w.
func (w *whole) dialogue(t *testing.T) *dialogue {
	methods, options := wholeServer(w, mcp.Options{})
	return &dialogue{t: t, whole: w, open: map[string]*talk{}, values: map[string]string{}, handler: newEndpoint(t, methods, options)}
}

// TestSubscribeWhileTheStreamBreaks holds that a subscription that was confirmed to a session is kept, even if the
// session's stream ends before it is made.
func TestSubscribeWhileTheStreamBreaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		begun, held := 0, 0
		proceed := make(chan struct{})
		w.broker = mcp.NewBroker(mcp.BrokerOptions{SubscribeResource: func(_ context.Context, s mcp.Subscription) (func(), error) {
			a := w.asks(s)
			begun++
			<-proceed
			held++
			return w.hold(a), nil
		}})
		d := w.dialogue(t)
		defer d.end()
		send := func(who, method, message string) string {
			d.begin(who, method+" /mcp HTTP/1.1\nHost: mcp.example\nContent-Type: application/json\nAccept: application/json, text/event-stream\n"+
				"Mcp-Session-Id: "+d.values["session"]+"\n\n"+message)
			synctest.Wait()
			return d.got(d.open[who])
		}
		d.begin("init", "POST /mcp HTTP/1.1\nHost: mcp.example\nContent-Type: application/json\n\n"+
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		synctest.Wait()
		d.got(d.open["init"])
		send("stream", "GET", "")
		if got := send("subscribe", "POST", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`); got != "" || begun != 1 {
			t.Fatalf("%d looks, %s", begun, got)
		}
		d.open["stream"].leave()
		synctest.Wait()
		close(proceed)
		synctest.Wait()
		if got := d.got(d.open["subscribe"]); !strings.Contains(got, `"result":{}`) {
			t.Errorf("subscribed: %s", got)
		}
		send("stream", "GET", "")
		w.updated("test://a")
		synctest.Wait()
		if got := d.got(d.open["stream"]); !strings.Contains(got, "notifications/resources/updated") {
			t.Errorf("the next stream is told %q", got)
		}
		if w.watched["test://a"] != 1 || held != 3 { // the next stream asks anew
			t.Errorf("watched %v, begun %d times", w.watched, held)
		}
	})
}

// TestSubscribeWhileTheSessionEnds: a subscription that is under way when its client ends the session does not bring it back.
func TestSubscribeWhileTheSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		proceed := make(chan struct{})
		begun := 0
		w.broker = mcp.NewBroker(mcp.BrokerOptions{SubscribeResource: func(_ context.Context, s mcp.Subscription) (func(), error) {
			begun++
			<-proceed
			w.count(s.URI, 1)
			return func() { w.count(s.URI, -1) }, nil
		}})
		methods, options := wholeServer(w, mcp.Options{Revocations: newRevoked()})
		d := &dialogue{t: t, whole: w, open: map[string]*talk{}, values: map[string]string{}, handler: newEndpoint(t, methods, options)}
		defer d.end()
		session := d.initialize()
		d.ask("subscribe", "POST /mcp HTTP/1.1\n"+agedLegacy+"Mcp-Session-Id: "+session+"\n\n"+
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
		d.ask("delete", "DELETE /mcp HTTP/1.1\nHost: mcp.example\nMcp-Session-Id: "+session+"\n\n")
		close(proceed)
		synctest.Wait()
		if got := d.got(d.open["subscribe"]); !strings.Contains(got, "404 Not Found") || !strings.Contains(got, "session not found") {
			t.Errorf("subscribed: %s", got)
		}
		if len(w.watched) > 0 || begun != 1 {
			t.Errorf("watched %v, begun %d times", w.watched, begun)
		}
	})
}

// TestSessionsAtTheBound holds that the sessions without a stream are limited, including those that had one when they
// subscribed. A session with a stream is never refused because of them.
func TestSessionsAtTheBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{MaxPerPrincipal: 2})
		d := w.dialogue(t)
		defer d.end()
		alice := "POST /mcp HTTP/1.1\n" + agedLegacy + "X-Principal: alice\n"
		var streams []string
		try := func(n int) string {
			d.ask("init", alice+"\n"+agedInit)
			session := "Mcp-Session-Id: " + d.open["init"].header.Get("Mcp-Session-Id") + "\n\n"
			stream := fmt.Sprint("stream", n)
			d.ask(stream, "GET /mcp HTTP/1.1\n"+agedLegacy+"X-Principal: alice\n"+session)
			streams = append(streams, stream)
			d.ask("subscribe", alice+session+fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://%d"}}`, n))
			return d.open["subscribe"].text()
		}
		for n := range 4 {
			if got := try(n); !strings.Contains(got, `"result":{}`) {
				t.Errorf("session %d: %s", n, got)
			}
			if n < 3 {
				d.open[streams[n]].leave()
				synctest.Wait()
			}
		}
		watched := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.watched)
		}
		if n := watched(); n != 3 || w.broker.Streams() != 1 {
			t.Errorf("%d watched, %d streams", n, w.broker.Streams())
		}
		time.Sleep(6 * time.Minute) // those without a stream are forgotten
		synctest.Wait()
		if got := try(4); !strings.Contains(got, `"result":{}`) || watched() != 2 {
			t.Errorf("later: %s, %d watched", got, watched())
		}
	})
}

// TestSubscribeBesideARefusal: a subscription that is refused ends nothing that another of the same session is about to get.
func TestSubscribeBesideARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		proceed := map[string]chan error{"test://a": make(chan error), "test://b": make(chan error), "test://c": make(chan error)}
		asked := 0
		w.broker = mcp.NewBroker(mcp.BrokerOptions{MaxPerPrincipal: 1, SubscribeResource: func(_ context.Context, s mcp.Subscription) (func(), error) {
			asked++
			if err := <-proceed[s.URI]; err != nil {
				return nil, err
			}
			w.count(s.URI, 1)
			return func() { w.count(s.URI, -1) }, nil
		}})
		d := w.dialogue(t)
		defer d.end()
		alice := "POST /mcp HTTP/1.1\n" + agedLegacy + "X-Principal: alice\n"
		begin := func() string {
			d.ask("init", alice+"\n"+agedInit)
			return alice + "Mcp-Session-Id: " + d.open["init"].header.Get("Mcp-Session-Id") + "\n\n"
		}
		subscribe := func(session, uri string) {
			d.ask(uri, session+`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`)
		}
		answer := func(uri string, err error, want string) {
			t.Helper()
			proceed[uri] <- err
			synctest.Wait()
			if got := d.open[uri].text(); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", uri, got, want)
			}
		}
		session := begin()
		subscribe(session, "test://a")
		subscribe(session, "test://b")
		answer("test://a", mcp.InvalidParams("no such resource"), "no such resource")
		answer("test://b", nil, `"result":{}`)
		other := begin()
		subscribe(other, "test://c")
		if got := d.open["test://c"].text(); !strings.Contains(got, "too many sessions of this caller have subscriptions") {
			t.Errorf("another session: %s", got)
		}
		if asked != 2 || w.watched["test://b"] != 1 {
			t.Errorf("asked %d times, watched %v", asked, w.watched)
		}
	})
}

// TestSubscribeAgain: what a session is told of is asked for anew when it subscribes again, and when it opens another stream, since what
// allowed it before may have ended. What allowed it before is released then, and stays where there is nothing new.
func TestSubscribeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		var asked []string
		var mu sync.Mutex
		held := map[string]bool{}
		refuse, proceed := false, make(chan struct{})
		close(proceed)
		w.broker = mcp.NewBroker(mcp.BrokerOptions{MaxSubscriptions: 1, SubscribeResource: func(ctx context.Context, s mcp.Subscription) (func(), error) {
			token, _ := ctx.Value(tokenKey{}).(string)
			mu.Lock()
			asked = append(asked, fmt.Sprint(token, " ", s.Renewal))
			mu.Unlock()
			<-proceed
			if refuse {
				return nil, mcp.InvalidParams("no such resource")
			}
			mu.Lock()
			defer mu.Unlock()
			held[token] = true
			return func() {
				mu.Lock()
				defer mu.Unlock()
				delete(held, token)
			}, nil
		}})
		d := w.dialogue(t)
		inner := d.handler
		d.handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			inner.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), tokenKey{}, r.Header.Get("X-Token"))))
		})
		defer d.end()
		session := d.initialize()
		send := func(who, method, token, body string) {
			d.ask(who, method+" /mcp HTTP/1.1\n"+agedLegacy+"Mcp-Session-Id: "+session+"\nX-Token: "+token+"\n\n"+body)
		}
		ask := func(who, token, what string) {
			send(who, "POST", token, `{"jsonrpc":"2.0","id":1,"method":"resources/`+what+`","params":{"uri":"test://a"}}`)
		}
		want := func(step, askedFor string, holds ...string) {
			t.Helper()
			if got := strings.Join(asked, ", "); got != askedFor {
				t.Errorf("%s: asked for %q, want %q", step, got, askedFor)
			}
			if got := slices.Sorted(maps.Keys(held)); !slices.Equal(got, holds) {
				t.Errorf("%s: held by %q, want %q", step, got, holds)
			}
			asked = nil
		}
		ask("first", "t1", "subscribe")
		want("the first", "t1 false", "t1")
		ask("again", "t2", "subscribe")
		want("again", "t2 true", "t2")
		if got := d.open["again"].text(); !strings.Contains(got, `"result":{}`) {
			t.Errorf("again: %s", got)
		}
		send("stream", "GET", "t3", "")
		want("with a stream", "t3 true", "t3")
		refuse = true
		send("stream", "GET", "t4", "")
		want("with a stream that may not", "t4 true", "t3")
		ask("refused", "t5", "subscribe")
		want("refused", "t5 true", "t3")
		if got := d.open["refused"].text(); !strings.Contains(got, "no such resource") {
			t.Errorf("refused: %s", got)
		}
		refuse, proceed = false, make(chan struct{})
		ask("slow", "t6", "subscribe")
		send("later", "GET", "t7", "")
		close(proceed)
		synctest.Wait()
		if got := slices.Sorted(maps.Keys(held)); !slices.Equal(got, []string{"t7"}) {
			t.Errorf("two at once: held by %q, want the later", got)
		}
		asked, proceed = nil, make(chan struct{})
		send("stream", "GET", "t8", "")
		ask("end", "t8", "unsubscribe")
		close(proceed)
		synctest.Wait()
		want("unsubscribed meanwhile", "t8 true")
		send("stream", "GET", "t9", "")
		want("nothing is left", "")
	})
}

// tokenKey is what tells one request of a caller from another.
type tokenKey struct{}

// TestSubscribeTogetherAtTheBound: subscriptions of a session that are decided on at the same time are no more than it may have.
func TestSubscribeTogetherAtTheBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		proceed := make(chan struct{})
		w.broker = mcp.NewBroker(mcp.BrokerOptions{MaxSubscriptions: 1, SubscribeResource: func(_ context.Context, s mcp.Subscription) (func(), error) {
			<-proceed
			w.count(s.URI, 1)
			return func() { w.count(s.URI, -1) }, nil
		}})
		d := w.dialogue(t)
		defer d.end()
		alice := "POST /mcp HTTP/1.1\n" + agedLegacy + "X-Principal: alice\n"
		d.ask("init", alice+"\n"+agedInit)
		session := alice + "Mcp-Session-Id: " + d.open["init"].header.Get("Mcp-Session-Id") + "\n\n"
		uris := []string{"test://a", "test://b"}
		for _, uri := range uris {
			d.ask(uri, session+`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`)
		}
		for range uris {
			proceed <- struct{}{}
			synctest.Wait()
		}
		refused := 0
		for _, uri := range uris {
			if strings.Contains(d.open[uri].text(), "too many subscriptions: at most 1") {
				refused++
			}
		}
		if refused != 1 || w.watched["test://a"]+w.watched["test://b"] != 1 {
			t.Errorf("%d refused, watched %v", refused, w.watched)
		}
	})
}
