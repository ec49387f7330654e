package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/task"
	"drawbridge/test/gatewaytest"
)

// largeJob is a service whose job is done at the second look, with a result of 600 KiB that is kept elsewhere.
func largeJob() (*gatewaytest.JobService, string) {
	text := strings.Repeat("x", 600<<10)
	working := "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"running\"}\n===\n"
	return gatewaytest.NewJobService(gatewaytest.AcceptedJob + "===\n" + working + "HTTP/1.1 303 See Other\nLocation: /v1/jobs/7/result\n\n===\n" +
		"HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"text\":\"" + text + "\"}\n"), text
}

// holdAll takes all of the room for large answers. It returns what gives it back.
func holdAll(t *testing.T, g *gateway.Gateway) (free func()) {
	t.Helper()
	free, ok := tryReserve(t, g, g.Responses().Capacity())
	if !ok {
		t.Fatal("room was not given back")
	}
	return free
}

// TestLargeJob: the answers about a job that a call waits for have places too: it goes on when there is one, or when its time is over.
func TestLargeJob(t *testing.T) {
	for name, tt := range map[string]struct {
		full time.Duration // for so long
		want string
	}{
		"room":         {0, "xxx"},
		"room in time": {8 * time.Second, "xxx"},
		"no room":      {5 * time.Minute, "has taken this call as a job, which goes on"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, _ := largeJob()
				g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", service)
				withRoom(g, 16<<20)
				free := holdAll(t, g)
				time.AfterFunc(tt.full, free)
				begin := time.Now()
				_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport"}, "")
				if answer := string(messages[len(messages)-1]); !strings.Contains(answer, tt.want) || strings.Contains(answer, `"isError":true`) {
					t.Errorf("%.300s", answer)
				}
				if took := time.Since(begin); took < min(tt.full, 20*time.Second) {
					t.Errorf("it did not wait: %v", took)
				}
				time.Sleep(max(0, 10*time.Minute-time.Since(begin)))
				holdAll(t, g)()
			})
		})
	}
}

// TestLargeAnswersAboutAJob: each look forgets the one before, so that many large ones are no larger than one.
func TestLargeAnswersAboutAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"running\",\"log\":\"" + strings.Repeat("x", 500<<10) + "\"}\n===\n"
		service := gatewaytest.NewJobService(gatewaytest.AcceptedJob + "===\n" + strings.Repeat(look, 4) + strings.Replace(strings.TrimSuffix(look, "===\n"), "running", "done", 1))
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: reports, spec: $SPEC, base_url: $BASE}]\nlimits: {max_answer: 1MiB, max_result_tokens: 0, address_rate: off, principal_rate: off}\n", service)
		withRoom(g, 2<<20)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport"}, "")
		if answer := string(messages[len(messages)-1]); !strings.Contains(answer, `\"done\"`) || strings.Contains(answer, `"isError":true`) {
			t.Errorf("%.300s", answer)
		}
		holdAll(t, g)()
	})
}

// TestLargeFirstAnswerOfAJob: what a service said when it took the call is told if its job does not end in time, so it holds room as long as the
// call, beside the looks that are made meanwhile; when the result is there it is let go.
func TestLargeFirstAnswerOfAJob(t *testing.T) {
	const first, each = 600 << 10, 300 << 10
	begun := "HTTP/1.1 202 Accepted\nLocation: /v1/jobs/7\nContent-Type: application/json\n\n{\"status\":\"queued\",\"first\":\"" + strings.Repeat("f", first) + "\"}\n===\n"
	look := "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"running\",\"log\":\"" + strings.Repeat("x", each) + "\"}\n===\n"
	done := "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"done\",\"log\":\"" + strings.Repeat("y", each) + "\"}\n"
	for name, tt := range map[string]struct {
		answers string
		room    int64
		want    string // in the answer
		held    int64  // between the looks, at least
	}{
		"it ends":                     {begun + look + look + done, 8 << 20, "yyy", first + 1<<20},
		"it goes on":                  {begun + strings.Repeat(look, 200) + look[:len(look)-4], 8 << 20, "fff", first + 1<<20},
		"room for the first and less": {begun + look + look + done, 1300 << 10, "yyy", 1200 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: reports, spec: $SPEC, base_url: $BASE}]\nlimits: {max_answer: 1MiB, max_result_tokens: 0, address_rate: off, principal_rate: off}\n", gatewaytest.NewJobService(tt.answers))
				withRoom(g, tt.room)
				looked := time.AfterFunc(3*time.Second, func() {
					if free, ok := tryReserve(t, g, tt.room-tt.held+1); ok {
						free()
						t.Errorf("less than %d bytes are held", tt.held)
					}
				})
				_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport"}, "")
				if looked.Stop() {
					t.Error("the call has ended before it was looked at")
				}
				if answer := string(messages[len(messages)-1]); !strings.Contains(answer, tt.want) || strings.Contains(answer, `"isError":true`) {
					t.Errorf("%.300s", answer)
				}
				holdAll(t, g)()
			})
		})
	}
}

// TestLargeTask: the result of a task has a place while it is read and until the client has it. Without one it is there later, and what a look of
// nobody's request has held is given back with it.
func TestLargeTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, text := largeJob()
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_result_tokens: 0}\n", service)
		withRoom(g, 16<<20)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
		id := gatewaytest.TaskID(messages[0])
		state := func() *task.Record {
			t.Helper()
			opened, err := openAs(g, "", "", id)
			if err != nil {
				t.Fatal(err)
			}
			ctx := opened.Call.Resume(opened.ctx)
			defer opened.Call.Close()
			rec, err := opened.State(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return rec
		}
		time.Sleep(10 * time.Second)
		if rec := state(); rec.Status != mcp.TaskWorking {
			t.Errorf("%+v", rec)
		}
		for range 2 { // it is read, and then read again, since it is too large to be kept
			time.Sleep(10 * time.Second)
			free := holdAll(t, g)
			if rec := state(); rec.Status != mcp.TaskWorking || rec.Result != nil {
				t.Errorf("without a place: %s, %d bytes", rec.Status, len(rec.Result))
			}
			time.Sleep(10 * time.Second)
			time.AfterFunc(time.Second, free)
			if rec := state(); rec.Status != mcp.TaskCompleted || !strings.Contains(string(rec.Result), text) {
				t.Errorf("with a place: %s, %d bytes", rec.Status, len(rec.Result))
			}
			holdAll(t, g)()
		}

		w := newStuck()
		h := stuckTo(g.Handler(), w)
		done := make(chan struct{})
		go func() {
			defer close(done)
			params, err := json.Marshal(map[string]any{"taskId": id, "_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/tasks": struct{}{}}},
			}})
			if err != nil {
				t.Error(err)
			}
			gatewaytest.Post(h, http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Stuck": {"1"}, "Mcp-Protocol-Version": {"2026-07-28"},
				"Mcp-Method": {"tasks/get"}, "Mcp-Name": {id}}, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":`+string(params)+`}`)
		}()
		<-w.writes
		if _, ok := tryReserve(t, g, g.Responses().Capacity()-600<<10); ok {
			t.Error("a result that is not out holds no room")
		}
		close(w.reads)
		<-done
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
		holdAll(t, g)()
	})
}

// slowCaller is a service whose callers take a minute to be called.
type slowCaller struct {
	*gatewaytest.JobService
	calls atomic.Int64
}

func (s *slowCaller) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "caller.test" {
		return s.JobService.RoundTrip(r)
	}
	s.calls.Add(1)
	select {
	case <-time.After(time.Minute):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}

// TestLargeReport: a large result has a place as long as a caller is called with it, and nobody is called, nor is it kept, as long as there is none.
func TestLargeReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, _ := largeJob()
		slow := &slowCaller{JobService: service}
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: reports, spec: $SPEC, base_url: $BASE}]\n"+
			"tools: {callback_urls: [\"https://caller.test\"], callback_secret: secret-of-the-cases}\n"+
			"limits: {max_answer: 700KiB, max_result_tokens: 0, address_rate: off, principal_rate: off}\n", slow)
		defer func() {
			if err := g.Tasks().Followers.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		withRoom(g, 16<<20)
		gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true, Notify: "https://caller.test/done"}, "")
		const most = 15 << 20 // what is left is too little for the call of its caller, but a result may be read
		free, ok := tryReserve(t, g, most)
		if !ok {
			t.Fatal("no room")
		}
		time.Sleep(time.Minute)
		if n := slow.calls.Load(); n != 0 {
			t.Errorf("%d calls without room", n)
		}
		free()
		time.Sleep(15 * time.Second)
		if n := slow.calls.Load(); n != 1 {
			t.Errorf("%d calls when there is room", n)
		}
		if _, ok := tryReserve(t, g, g.Responses().Capacity()-1200<<10); ok {
			t.Error("it holds no room while its caller is called")
		}
		time.Sleep(5 * time.Minute)
		if n := slow.calls.Load(); n != 3 {
			t.Errorf("%d calls in the end", n)
		}
		holdAll(t, g)()
	})
}
