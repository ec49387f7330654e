package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/mcp"
)

// aged is a server whose streams of changes have an age, and whose tool takes as long as its name says.
func aged(t *testing.T, o mcp.BrokerOptions) *dialogue {
	t.Helper()
	w := newWhole(o)
	methods, options := wholeServer(w, mcp.Options{ReloadableOptions: mcp.ReloadableOptions{KeepAlive: 20 * time.Second, MaxStreamAge: time.Hour}, Revocations: newRevoked()})
	methods["tools/call"] = func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
		takes, err := time.ParseDuration(req.Name)
		if err != nil {
			return err
		}
		reply.KeepAlive()
		time.Sleep(takes)
		return reply.Result(mcp.Chunk{Bytes: []byte(`"content":[]`)})
	}
	return &dialogue{t: t, whole: w, open: map[string]*talk{}, values: map[string]string{}, handler: newEndpoint(t, methods, options), old: newOld(t, methods, options)}
}

const (
	agedModern = "POST /mcp HTTP/1.1\nHost: mcp.example\nContent-Type: application/json\nAccept: application/json, text/event-stream\n" +
		"MCP-Protocol-Version: 2026-07-28\n"
	agedLegacy = "Host: mcp.example\nContent-Type: application/json\nAccept: application/json, text/event-stream\n"
	agedInit   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
)

// ask sends a request.
func (d *dialogue) ask(who, raw string) {
	d.begin(who, raw)
	synctest.Wait()
}

// initialize begins a session, and returns its id.
func (d *dialogue) initialize() string {
	d.ask("init", "POST /mcp HTTP/1.1\n"+agedLegacy+"\n"+agedInit)
	return d.open["init"].header.Get("Mcp-Session-Id")
}

func (k *talk) ended() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.over
}

func (k *talk) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.body.String()
}

// end is the last of what has come, without comments.
func (k *talk) end() string {
	text := strings.ReplaceAll(k.text(), ":\n\n", "")
	return text[max(0, len(text)-200):]
}

// TestStreamAge (H9): streams of changes of all three kinds end when they are an hour old, a tenth more or less, and not together; in
// good order, and without what they held. The answers to calls are not cut, whatever they take.
func TestStreamAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const each = 20
		d := aged(t, mcp.BrokerOptions{})
		defer d.end()
		var streams []string
		for i := range each {
			name := fmt.Sprint("modern", i)
			d.ask(name, agedModern+"Mcp-Method: subscriptions/listen\n\n"+
				`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]},`+modernMeta+`}}`)
			streams = append(streams, name)
			session := d.initialize()
			name = fmt.Sprint("legacy", i)
			d.ask(name, "GET /mcp HTTP/1.1\n"+agedLegacy+"Mcp-Session-Id: "+session+"\n\n")
			streams = append(streams, name)
			name = fmt.Sprint("old", i)
			d.ask(name, "GET /sse HTTP/1.1\nHost: mcp.example\nAccept: text/event-stream\n\n")
			streams = append(streams, name)
		}
		// The calls: alone in both revision families, and on a stream of the HTTP+SSE transport.
		d.ask("call", agedModern+"Mcp-Method: tools/call\nMcp-Name: 2h\n\n"+
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"2h",`+modernMeta+`}}`)
		session := d.initialize()
		const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"2h"}}`
		d.ask("session call", "POST /mcp HTTP/1.1\n"+agedLegacy+"Mcp-Session-Id: "+session+"\n\n"+call)
		d.ask("busy", "GET /sse HTTP/1.1\nHost: mcp.example\nAccept: text/event-stream\n\n")
		d.got(d.open["busy"])
		messages := "POST /messages?sessionId=" + d.values["stream"] + " HTTP/1.1\n" + agedLegacy + "\n"
		d.ask("post", messages+agedInit)
		d.ask("post", messages+call)
		if n := d.whole.broker.Streams(); n != 3*each+1 {
			t.Fatalf("%d streams", n)
		}

		start := time.Now()
		ends := map[string]time.Duration{}
		for len(ends) < len(streams) && time.Since(start) < 70*time.Minute {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, name := range streams {
				if _, known := ends[name]; !known && d.open[name].ended() {
					ends[name] = time.Since(start)
				}
			}
		}
		different := map[time.Duration]bool{}
		for _, name := range streams {
			after, over := ends[name]
			if !over || after < 54*time.Minute || after > 66*time.Minute+time.Second {
				t.Errorf("%s: ended %t after %v", name, over, after)
			}
			if end := d.open[name].end(); strings.HasPrefix(name, "modern") && !strings.HasSuffix(end, `"io.modelcontextprotocol/subscriptionId":1}}}`+"\n\n") {
				t.Errorf("%s ends with %q", name, end)
			}
			different[after.Truncate(time.Second)] = true
		}
		if len(different) < len(streams)/2 {
			t.Errorf("%d streams end at %d times", len(streams), len(different))
		}
		if n := d.whole.broker.Streams(); n != 1 || len(d.whole.watched) > 0 {
			t.Errorf("%d streams are left, watched %v", n, d.whole.watched)
		}
		for _, name := range []string{"call", "session call", "busy"} {
			if d.open[name].ended() {
				t.Errorf("%s has ended with the streams: %q", name, d.open[name].end())
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, name := range []string{"call", "session call", "busy"} {
			if end := d.open[name].end(); !d.open[name].ended() || !strings.HasSuffix(end, `"content":[]}}`+"\n\n") {
				t.Errorf("%s: ended %t with %q", name, d.open[name].ended(), end)
			}
		}
	})
}

// TestSubscriptionsOutliveTheAge holds that a session that reopens a stream that was too old is notified as before,
// also of its resource subscriptions.
func TestSubscriptionsOutliveTheAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := aged(t, mcp.BrokerOptions{})
		defer d.end()
		session := d.initialize()
		get := "GET /mcp HTTP/1.1\n" + agedLegacy + "Mcp-Session-Id: " + session + "\n"
		d.ask("stream", get+"\n")
		d.ask("subscribe", "POST /mcp HTTP/1.1\n"+agedLegacy+"Mcp-Session-Id: "+session+"\n\n"+
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
		for round := range 5 {
			for start := time.Now(); !d.open["stream"].ended(); synctest.Wait() {
				if time.Sleep(time.Second); time.Since(start) > 67*time.Minute {
					t.Fatalf("round %d: the stream goes on", round)
				}
			}
			time.Sleep(time.Duration(round) * time.Minute) // the client takes its time
			d.ask("stream", get+"Last-Event-ID: 1\n\n")
			d.whole.updated("test://a")
			d.whole.change(mcp.ToolsList)
			synctest.Wait()
			for _, want := range []string{"notifications/resources/updated", "notifications/tools/list_changed"} {
				if text := d.open["stream"].text(); strings.Count(text, want) != 1 {
					t.Errorf("round %d: told %q", round, text)
				}
			}
		}
	})
}

// TestStreamAgeAndToken: a token that ends before the stream is too old ends it; one that ends later does not keep it.
func TestStreamAgeAndToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ token, earliest, latest time.Duration }{
		{time.Minute, time.Minute, time.Minute},
		{24 * time.Hour, 54 * time.Minute, 66 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := aged(t, mcp.BrokerOptions{AuthorizedUntil: func(context.Context) time.Time { return time.Now().Add(c.token) }})
			defer d.end()
			session := d.initialize()
			d.ask("a", agedModern+"Mcp-Method: subscriptions/listen\n\n"+
				`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+modernMeta+`}}`)
			d.ask("b", "GET /mcp HTTP/1.1\n"+agedLegacy+"Mcp-Session-Id: "+session+"\n\n")
			d.ask("c", "GET /sse HTTP/1.1\nHost: mcp.example\nAccept: text/event-stream\n\n")
			time.Sleep(c.earliest - time.Millisecond)
			synctest.Wait()
			if n := d.whole.broker.Streams(); n != 3 {
				t.Errorf("%d streams before %v", n, c.earliest)
			}
			time.Sleep(c.latest - c.earliest + 2*time.Millisecond)
			synctest.Wait()
			if n := d.whole.broker.Streams(); n != 0 {
				t.Errorf("%d streams after %v", n, c.latest)
			}
		})
	}
}

// TestStreamAgeIsTuned: an age that changes holds for the streams that are opened then, and those that are open keep theirs.
func TestStreamAgeIsTuned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		methods, o := wholeServer(w, mcp.Options{})
		h := mcp.NewHandler(methods, o)
		d := &dialogue{t: t, whole: w, open: map[string]*talk{}, values: map[string]string{}, handler: h}
		defer d.end()
		ages := []time.Duration{0, time.Minute, time.Hour}
		for i, age := range ages {
			if err := h.Reload(mcp.ReloadableOptions{MaxStreamAge: age}); err != nil {
				t.Fatal(err)
			}
			d.ask(fmt.Sprint(i), agedModern+"Mcp-Method: subscriptions/listen\n\n"+
				`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+modernMeta+`}}`)
		}
		var left []int
		for _, pause := range []time.Duration{50 * time.Second, 20 * time.Second, 66 * time.Minute, 100 * time.Hour} {
			time.Sleep(pause)
			synctest.Wait()
			left = append(left, w.broker.Streams())
		}
		if !slices.Equal(left, []int{3, 2, 1, 1}) {
			t.Errorf("streams that are left: %v", left)
		}
	})
}
