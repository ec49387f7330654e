package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

const (
	elicits = `"elicitation":{}`
	tasks   = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
)

// TestSharing: one replica goes on with what another has begun.
func TestSharing(t *testing.T) {
	w := newWorld(t, setup{})
	t.Run("session", w.sub((*world).sessions))
	t.Run("proof", w.sub((*world).proofs))
	t.Run("rate", w.sub((*world).rates))
	t.Run("consent", w.sub((*world).consents))
	t.Run("task", w.sub((*world).tasks))
	t.Run("callback", w.sub((*world).callbacks))
	w.t = t
	w.entries()
	w.poison()
}

func (w *world) sub(f func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w.t = t
		f(w)
	}
}

// sessions: a call is cancelled, a question answered and a session ended at other replicas than the one that has them.
func (w *world) sessions() {
	begin := w.send(0, http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	w.next(begin, `"protocolVersion"`)
	legacy := func(replica int, method, body string) *answer {
		return w.send(replica, method, body, "Mcp-Session-Id", begin.session, "MCP-Protocol-Version", "2025-11-25")
	}
	slow := make(chan *answer, 1)
	go func() {
		slow <- legacy(0, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	}()
	w.eventually("a call is at the service", func() bool { return w.service.read(func(s *service) int { return s.slow }) == 1 })
	began := time.Now()
	legacy(1, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	w.next(timebox.Receive(w.t, slow), `was canceled`)
	if took := time.Since(began); took > 5*time.Second {
		w.t.Errorf("it was cancelled at another replica after %v", took)
	}

	asked := legacy(0, http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"order"}}`)
	question := w.next(asked, `"elicitation/create"`)
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(question)[1]
	if a := legacy(2, http.MethodPost, `{"jsonrpc":"2.0","id":"`+id+`","result":{"action":"accept","content":{"go_ahead":true}}}`); a.status != http.StatusAccepted {
		w.t.Errorf("an answer at another replica: %d", a.status)
	}
	w.next(asked, `\"done\":true`)

	stream := legacy(1, http.MethodGet, "")
	if a := legacy(2, http.MethodPost, `{"jsonrpc":"2.0","id":3,"method":"ping"}`); a.status != http.StatusOK {
		w.t.Errorf("ping: %d", a.status)
	}
	if a := legacy(0, http.MethodDelete, ""); a.status != http.StatusNoContent {
		w.t.Errorf("the end of a session: %d", a.status)
	}
	for replica := range 3 {
		w.eventually(fmt.Sprint("the session has ended at replica ", replica), func() bool {
			return legacy(replica, http.MethodPost, `{"jsonrpc":"2.0","id":4,"method":"ping"}`).status == http.StatusNotFound
		})
	}
	w.eventually("its stream ends", func() bool {
		select {
		case _, open := <-stream.lines:
			return !open
		default:
			return false
		}
	})
}

// proofs: one that was used at a replica is refused by the others.
func (w *world) proofs() {
	proof := w.proof(http.MethodPost, resource, w.token)
	call := func(replica int) int {
		return w.modern(replica, "tools/call", "look", `"name":"look","arguments":{}`, "", "DPoP", proof).status
	}
	if status := call(0); status != http.StatusOK {
		w.t.Errorf("a proof: %d", status)
	}
	for replica := range 3 {
		if status := call(replica); status != http.StatusUnauthorized {
			w.t.Errorf("the same proof at replica %d: %d", replica, status)
		}
	}
}

// rates: a limit is that of all replicas together.
func (w *world) rates() {
	allowed := 0
	for i := range 20 {
		switch a := w.modern(i%3, "tools/call", "scarce", `"name":"scarce","arguments":{}`, ""); a.status {
		case http.StatusOK:
			allowed++
		case http.StatusTooManyRequests:
		default:
			w.t.Errorf("call %d: %d", i, a.status)
		}
	}
	if allowed != 7 {
		w.t.Errorf("%d calls are allowed at three replicas, not 7", allowed)
	}
}

// consents: what the user agreed to at one replica happens once, whichever is told of it.
func (w *world) consents() {
	const order = `"name":"order","arguments":{}`
	asked := w.next(w.modern(0, "tools/call", "order", order, elicits), `"input_required"`)
	var a struct{ Result struct{ RequestState string } }
	if err := json.Unmarshal([]byte(asked), &a); err != nil {
		w.t.Fatal(err)
	}
	before := w.service.read(func(s *service) int { return s.orders })
	answer := fmt.Sprintf(`,"requestState":%q,"inputResponses":{"confirm":{"action":"accept","content":{"go_ahead":true}}}`, a.Result.RequestState)
	w.next(w.modern(1, "tools/call", "order", order+answer, elicits), `\"done\":true`)
	for replica := range 3 {
		w.next(w.modern(replica, "tools/call", "order", order+answer, elicits), `was used before`)
	}
	if n := w.service.read(func(s *service) int { return s.orders }) - before; n != 1 {
		w.t.Errorf("%d orders by one consent", n)
	}
}

// begin begins a job as a task.
func (w *world) begin(replica int) (id string) {
	w.t.Helper()
	began := w.next(w.modern(replica, "tools/call", "begin", `"name":"begin","arguments":{}`, tasks), `"taskId"`)
	var a struct{ Result struct{ TaskID string } }
	if err := json.Unmarshal([]byte(began), &a); err != nil || a.Result.TaskID == "" {
		w.t.Fatalf("no task: %s %v", began, err)
	}
	return a.Result.TaskID
}

func (w *world) get(replica int, id string) string {
	w.t.Helper()
	return w.next(w.modern(replica, "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id), tasks), `"taskId"`)
}

// tasks: all replicas together ask the service once in each interval, and what one has found the others know.
func (w *world) tasks() {
	id := w.begin(0)
	looks := func() int { return w.service.read(func(s *service) int { return s.looks }) }
	before, began := looks(), time.Now()
	for i := range 12 {
		if got := w.get(i%3, id); !strings.Contains(got, `"working"`) {
			w.t.Errorf("at replica %d: %s", i%3, got)
		}
	}
	if n, most := looks()-before, int(time.Since(began)/time.Second)+1; n > most {
		w.t.Errorf("the service was asked %d times by 12 questions, more than %d", n, most)
	}
	w.service.mu.Lock()
	w.service.state = "succeeded"
	w.service.mu.Unlock()
	w.eventually("the end is seen by one", func() bool { return strings.Contains(w.get(1, id), `"completed"`) })
	before = looks()
	for replica := range 3 {
		if got := w.get(replica, id); !strings.Contains(got, `"completed"`) || !strings.Contains(got, "42") {
			w.t.Errorf("at replica %d: %s", replica, got)
		}
	}
	if n := looks() - before; n != 0 {
		w.t.Errorf("the service was asked %d times for a job that has ended", n)
	}
	w.service.mu.Lock()
	w.service.state = "running"
	w.service.mu.Unlock()
}

// callbacks: the service calls one replica, once, and who listens at another is told.
func (w *world) callbacks() {
	id := w.begin(0)
	stream := w.modern(1, "subscriptions/listen", "", fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, id), tasks)
	w.next(stream, `"working"`)
	w.service.mu.Lock()
	callback, was := w.service.callback, w.service.state
	w.service.state = "succeeded"
	w.service.mu.Unlock()
	path := strings.TrimPrefix(callback, "http://localhost:8080")
	call := func(replica int) int {
		r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.replicas[replica].URL+path, strings.NewReader(`{"status":"succeeded","result":{"answer":43}}`))
		if err != nil {
			w.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			w.t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if status := call(2); status != http.StatusNoContent {
		w.t.Errorf("the service's call: %d", status)
	}
	for replica := range 3 {
		if status := call(replica); status != http.StatusGone {
			w.t.Errorf("again, at replica %d: %d", replica, status)
		}
	}
	w.next(stream, `"completed"`)
	stream.leave()
	w.service.mu.Lock()
	w.service.state = was
	w.service.mu.Unlock()
}

// entries: every key has a time to live, and nothing in Redis tells who calls, with what, or what services have answered.
func (w *world) entries() {
	c := w.store()
	keys, err := c.Keys(w.t.Context(), "*").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	seen := map[string]int{}
	for _, key := range keys {
		parts := strings.Split(key, ":")
		if parts[0] != "drawbridge" {
			w.t.Errorf("the key %q has another prefix", key)
		}
		seen[parts[1]]++
		if life := c.PTTL(w.t.Context(), key).Val(); life != -2 && life <= 0 || life > 49*time.Hour { // -2: it has just ended
			w.t.Errorf("%q lives for %v", key, life)
		}
		value := c.Dump(w.t.Context(), key).Val()
		for _, canary := range []string{subject, sealKey, w.token, "canary", "answer", "succeeded", "working", resource} {
			if strings.Contains(key, canary) || strings.Contains(value, canary) {
				w.t.Errorf("%q holds %q", key, canary)
			}
		}
	}
	for _, kind := range []string{"proof", "once", "end", "rate", "task", "task-of", "replicas"} {
		if seen[kind] == 0 {
			w.t.Errorf("there is no %q among %v", kind, seen)
		}
	}
}

// poison: whatever is written in the place of what replicas share, no task tells of another, and no replica fails.
func (w *world) poison() {
	c := w.store()
	first, second := w.begin(0), w.begin(1)
	w.get(2, first)
	keys := c.Keys(w.t.Context(), "drawbridge:task:*").Val()
	values := map[string]string{}
	for _, key := range keys {
		values[key] = c.Get(w.t.Context(), key).Val()
	}
	for name, poison := range map[string]func(i int, key string){
		"garbage":     func(_ int, key string) { c.Set(w.t.Context(), key, "garbage", time.Minute) },
		"another's":   func(i int, key string) { c.Set(w.t.Context(), key, values[keys[(i+1)%len(keys)]], time.Minute) },
		"a list":      func(_ int, key string) { c.Del(w.t.Context(), key); c.LPush(w.t.Context(), key, "x") },
		"an old one":  func(_ int, key string) { c.Set(w.t.Context(), key, values[key], time.Minute) },
		"for ever":    func(_ int, key string) { c.Set(w.t.Context(), key, values[key], 0) },
		"all is gone": func(int, string) { c.FlushAll(w.t.Context()) },
	} {
		for i, key := range keys {
			poison(i, key)
		}
		for replica := range 3 {
			for _, id := range []string{first, second} {
				a := w.modern(replica, "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id), tasks)
				line := w.next(a, `{`)
				switch {
				case strings.Contains(line, `"taskId":"`+id+`"`) && strings.Contains(line, `"working"`):
				case a.status == http.StatusServiceUnavailable && name == "a list" && strings.Contains(line, "try again"):
				default:
					w.t.Errorf("%s, replica %d: %d %s", name, replica, a.status, line)
				}
			}
		}
	}
}
