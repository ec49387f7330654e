package gateway_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/auth"
	"drawbridge/gateway"
	"drawbridge/gateway/call"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/task"
	"drawbridge/test/gatewaytest"
)

// openedTask is a task with the context of the request that has opened it.
type openedTask struct {
	*task.Task
	ctx context.Context //nolint:containedctx // for tests that go on with it
}

// openAs opens a task as a caller at an endpoint does.
func openAs(g *gateway.Gateway, principal, name, id string) (*openedTask, error) {
	e := g.Current().Lookup(name)
	ctx := endpoint.WithRequest(context.Background(), &endpoint.Request{Request: inbound.Request{EndpointName: name}, Endpoint: e})
	t, err := g.Tasks().Open(ctx, call.Invocation{
		Endpoint: e.Endpoint, Method: "tasks/get", Caller: call.Caller{ID: principal, Protocol: call.Protocol{Family: mcp.Stateless, Revision: "2026-07-28"}},
	}, id)
	if err != nil || t == nil {
		return nil, err
	}
	return &openedTask{t, ctx}, nil
}

// sealTask makes the id of a task.
func sealTask(t testing.TB, g *gateway.Gateway, p task.Payload, expiry time.Time, bound ...string) string {
	t.Helper()
	payload, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return g.Tasks().Handles.Seal(payload, expiry, bound...)
}

// TestTaskIDs holds that a task opens for who it was made for alone, where it was made, as long as it is good, and leads to no
// other origin than its tool does (T20, E4).
func TestTaskIDs(t *testing.T) {
	g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: reports, spec: $SPEC, base_url: $BASE}]\nendpoints: [{name: part, match: [{api: reports}]}]\n", gatewaytest.NewJobService("404"))
	good := task.Payload{Key: "k", Tool: "makeReport", URL: "http://jobs.test/v1/jobs/7", Created: time.Now().UnixMilli()}
	later := time.Now().Add(time.Hour)
	with := func(change func(*task.Payload)) task.Payload {
		p := good
		change(&p)
		return p
	}
	id := sealTask(t, g, good, later, "anna", "")
	for _, tt := range []struct {
		name, principal, endpoint, id string
		open                          bool
	}{
		{"as it was made", "anna", "", id, true},
		{"another caller", "ben", "", id, false},
		{"nobody", "", "", id, false},
		{"another endpoint", "anna", "part", id, false},
		{"no id", "anna", "", "x", false},
		{"a long id", "anna", "", strings.Repeat("A", task.MaxID+1), false},
		{"cut", "anna", "", id[:len(id)-4], false},
		{"longer", "anna", "", id + "AAAA", false},
		{"expired", "anna", "", sealTask(t, g, good, time.Now().Add(-time.Second), "anna", ""), false},
		{"a tool that is gone", "anna", "", sealTask(t, g, with(func(p *task.Payload) { p.Tool = "other" }), later, "anna", ""), false},
		{"another origin", "anna", "", sealTask(t, g, with(func(p *task.Payload) { p.URL = "http://other.test/v1/jobs/7" }), later, "anna", ""), false},
		{"a result at another origin", "anna", "", sealTask(t, g, with(func(p *task.Payload) { p.Result = "https://jobs.test/v1/jobs/7" }), later, "anna", ""), false},
		{"no place", "anna", "", sealTask(t, g, with(func(p *task.Payload) { p.URL = "" }), later, "anna", ""), false},
	} {
		task, err := openAs(g, tt.principal, tt.endpoint, tt.id)
		var fault *mcp.Error
		switch {
		case tt.open && (err != nil || task == nil):
			t.Errorf("%s: %v", tt.name, err)
		case !tt.open && (!errors.As(err, &fault) || fault.Code != mcp.CodeInvalidParams || fault.Message != "unknown task: it has expired, or is not one of this caller"):
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// FuzzTaskID holds that no id opens but those that were made.
func FuzzTaskID(f *testing.F) {
	g := gatewaytest.StartJobs(f, gatewaytest.ReportsAPI, "", gatewaytest.NewJobService("404"))
	id := sealTask(f, g, task.Payload{Key: "k", Tool: "makeReport", URL: "http://jobs.test/v1/jobs/7"}, time.Now().Add(time.Hour), "anna", "")
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, byte(1), "anna")
	f.Add(len(raw)-1, byte(0x80), "anna")
	f.Add(20, byte(0), "ben")
	f.Fuzz(func(t *testing.T, at int, flip byte, principal string) {
		own := append([]byte(nil), raw...)
		if at < 0 || at >= len(own) {
			return
		}
		own[at] ^= flip
		_, err := openAs(g, principal, "", base64.RawURLEncoding.EncodeToString(own))
		if good := flip == 0 && principal == "anna"; (err == nil) != good {
			t.Errorf("byte %d changed by %#x for %q: %v", at, flip, principal, err)
		}
	})
}

// TestTaskIsLookedAtOnce holds that however many ask at once, the service is asked once.
func TestTaskIsLookedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowService{JobService: gatewaytest.NewJobService(gatewaytest.AcceptedJob + "===\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"running\"}\n")}
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", service)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
		id := gatewaytest.TaskID(messages[0])
		time.Sleep(2 * time.Second)
		service.delay = time.Second
		var many sync.WaitGroup
		for range 20 {
			many.Go(func() {
				task, err := openAs(g, "", "", id)
				if err != nil {
					t.Error(err)
					return
				}
				ctx := task.Call.Resume(task.ctx)
				defer task.Call.Close()
				if _, err := task.State(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		many.Wait()
		time.Sleep(5 * time.Second)
		if n := strings.Count(service.List(), "GET"); n != 1 {
			t.Errorf("%d looks:\n%s", n, service.List())
		}
	})
}

// slowService takes its time.
type slowService struct {
	*gatewaytest.JobService
	delay time.Duration
}

func (s *slowService) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(s.delay)
	return s.JobService.RoundTrip(r)
}

// TestTaskWatchEnds holds that the goroutine that looks at a task ends with the last who listens.
func TestTaskWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := gatewaytest.NewJobService(gatewaytest.AcceptedJob)
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", service)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
		id := gatewaytest.TaskID(messages[0])
		ctx := endpoint.WithRequest(t.Context(), &endpoint.Request{Endpoint: g.Current().Main})
		viewer := mcp.Subscriber{Family: mcp.Stateless, Revision: "2026-07-28", Client: mcp.ClientTasks}
		key, first, err := g.Tasks().Subscribe(ctx, viewer, id)
		if err != nil {
			t.Fatal(err)
		}
		again, second, err := g.Tasks().Subscribe(ctx, viewer, id)
		if err != nil || again != key {
			t.Fatal(again, err)
		}
		time.Sleep(10 * time.Second)
		first()
		seen := len(service.List())
		time.Sleep(10 * time.Second)
		if len(service.List()) == seen {
			t.Error("nobody looks any more, and one still listens")
		}
		second()
		seen = len(service.List())
		time.Sleep(10 * time.Second)
		if len(service.List()) != seen || len(g.Tasks().Watched) != 0 {
			t.Error("somebody looks, and nobody listens")
		}
		if _, _, err := g.Tasks().Subscribe(ctx, mcp.Subscriber{Principal: "ben", Family: mcp.Stateless}, id); err == nil {
			t.Error("another caller may listen")
		}
	})
}

// brokenService makes those panic who ask it, once it is told to.
type brokenService struct {
	*gatewaytest.JobService
	broken atomic.Bool
}

func (s *brokenService) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.broken.Load() {
		panic("injected")
	}
	return s.JobService.RoundTrip(r)
}

// answersAPI is the operation that takes answers, as one more path of a document.
const answersAPI = `  /answers:
    post:
      operationId: answerJob
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: string}, form: {type: object}}}}}}
      responses: {"204": {description: Thanks}}
`

// askingRule has jobs whose questions are answered by an operation.
const askingRule = "apis: [{name: reports, spec: $SPEC, base_url: $BASE}]\n" +
	"rules: [{match: {operation: makeReport}, set: {job: {questions: {list: /asks, answer: {operation: answerJob, bind: {id: /id}, content: form}}}}}]\n"

// TestTaskOldRules holds that a task outlives what rules say since it began.
func TestTaskOldRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := gatewaytest.NewJobService("HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"waiting\",\"asks\":[{\"id\":\"a\"}]}\n")
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI+answersAPI, askingRule, service)
		p := task.Payload{Key: "k", Tool: "makeReport", URL: "http://jobs.test/v1/jobs/7", Created: time.Now().UnixMilli()}
		id := sealTask(t, g, p, time.Now().Add(time.Hour), "", "")
		opened, err := openAs(g, "", "", id)
		if err != nil {
			t.Fatal(err)
		}
		ctx := opened.Call.Resume(opened.ctx)
		defer opened.Call.Close()
		if rec, err := opened.State(ctx); err != nil || len(rec.Questions) != 0 || rec.Status != mcp.TaskWorking {
			t.Errorf("a rule that has questions now: %+v, %v", rec, err)
		}
		plan := *opened.Call.Plan
		if plan.Condition, err = auth.NewCondition("true"); err != nil {
			t.Fatal(err)
		}
		opened.Plan, opened.Call.Plan = &plan, &plan
		if err := opened.Call.Authorize(opened.ctx, g.CallRunner(), opened.Payload.Arguments); err == nil || err.Error() != "the gateway's policy has changed since this task began, and does not permit a look at it" {
			t.Errorf("a rule that has a condition now: %v", err)
		}
		kept := *plan.Job
		kept.Questions = nil
		plan.Job = &kept
		if err := opened.Save(opened.ctx, &task.Record{Status: mcp.TaskInputRequired, Questions: []job.Question{{Key: "a"}}}); err != nil {
			t.Fatal(err)
		}
		if rec, err := opened.Load(opened.ctx); err != nil || len(rec.Questions) != 0 || rec.Status != mcp.TaskWorking {
			t.Errorf("a rule that has no questions now: %+v, %v", rec, err)
		}
	})
}

// TestTaskAnswersOnce holds that of two answers at once to one question one is sent.
func TestTaskAnswersOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowService{gatewaytest.NewJobService("HTTP/1.1 202 Accepted\nLocation: /v1/jobs/7\nContent-Type: application/json\n\n{\"id\":\"7\"}\n===\n" +
			"HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"waiting\",\"asks\":[{\"id\":\"a\"}]}\n"), time.Second}
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI+answersAPI, askingRule, service)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
		id := gatewaytest.TaskID(messages[0])
		time.Sleep(time.Minute)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "tasks/update", Tasks: true,
					Params: `"taskId":"$TASK","inputResponses":{"a":{"action":"accept","content":{"answer":"x"}}}`}, id)
			})
		}
		all.Wait()
		if n := strings.Count(service.Seen.String(), "/answers"); n != 1 {
			t.Errorf("%d answers were sent:\n%s", n, service.Seen.String())
		}
	})
}

// counted reads a counter.
func counted(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

// TestTaskWatchPanic holds that a fault in a look at a task that somebody listens for ends neither the process nor the watch.
func TestTaskWatchPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &brokenService{JobService: gatewaytest.NewJobService(gatewaytest.AcceptedJob)}
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", service)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
		ctx := endpoint.WithRequest(t.Context(), &endpoint.Request{Endpoint: g.Current().Main})
		service.broken.Store(true)
		_, release, err := g.Tasks().Subscribe(ctx, mcp.Subscriber{Family: mcp.Stateless, Revision: "2026-07-28", Client: mcp.ClientTasks}, gatewaytest.TaskID(messages[0]))
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		time.Sleep(10 * time.Second)
		if n := counted(t, g.Counters().Panics); n != 1 {
			t.Errorf("%v panics were counted", n)
		}
		service.broken.Store(false)
		seen := len(service.List())
		time.Sleep(2 * task.PanicPause)
		if len(service.List()) == seen {
			t.Error("nobody looks any more")
		}
	})
}

// FuzzCallback holds that whatever is sent to the URL of a callback is refused or kept, and that it is kept once.
func FuzzCallback(f *testing.F) {
	api := strings.Replace(gatewaytest.ReportsAPI, "year: {type: integer}", "year: {type: integer}, notify: {type: string}", 1)
	g := gatewaytest.StartJobs(f, api, `server: {public_url: "https://gateway.test"}
auth: {anonymous: true}
apis: [{name: reports, spec: $SPEC, base_url: $BASE}]
rules: [{match: {operation: makeReport}, set: {job: {callback: {argument: notify}}}}]
`, gatewaytest.NewJobService("404"))
	f.Add("application/json", `{"status":"done"}`)
	f.Add("application/json", `{"status":"running"}`)
	f.Add("text/plain; charset=utf-8", "x")
	f.Add("", "")
	f.Add("application/problem+json;a", "[")
	n := 0
	f.Fuzz(func(t *testing.T, media, body string) {
		n++
		payload, err := json.Marshal(task.CallbackPayload{Key: fmt.Sprint(n), Tool: "makeReport"})
		if err != nil {
			t.Fatal(err)
		}
		token := g.Tasks().Callbacks.Seal(payload, time.Now().Add(time.Hour))
		send := func() int {
			r := httptest.NewRequest(http.MethodPost, "https://gateway.test"+plan.CallbackPath+token, strings.NewReader(body))
			r.Header.Set("Content-Type", media)
			w := httptest.NewRecorder()
			g.Handler().ServeHTTP(w, r)
			return w.Code
		}
		first, second := send(), send()
		switch {
		case first == http.StatusNoContent && (second == http.StatusGone || second == http.StatusNoContent && g.Builder().GuessedJob.GoesOn([]byte(body))):
		case first == second && (first == http.StatusUnsupportedMediaType || first == http.StatusRequestEntityTooLarge):
		default:
			t.Errorf("%q %q: %d, then %d", media, body, first, second)
		}
	})
}

// TestCallbackRoute holds that nothing but the URL that was given leads anywhere.
func TestCallbackRoute(t *testing.T) {
	g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", gatewaytest.NewJobService("404"))
	payload, err := json.Marshal(task.CallbackPayload{Key: "k", Tool: "makeReport"})
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no token":           plan.CallbackPath,
		"another token":      plan.CallbackPath + "x",
		"the id of a task":   plan.CallbackPath + sealTask(t, g, task.Payload{Key: "k", Tool: "makeReport"}, time.Now().Add(time.Hour), "", ""),
		"a tool without one": plan.CallbackPath + g.Tasks().Callbacks.Seal(payload, time.Now().Add(time.Hour)),
		"expired":            plan.CallbackPath + g.Tasks().Callbacks.Seal(payload, time.Now().Add(-time.Second)),
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080"+path, strings.NewReader("{}"))
		g.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}
