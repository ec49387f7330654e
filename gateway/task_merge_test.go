package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/task"
	"drawbridge/test/gatewaytest"
)

// TestMergeTasks: what was done to a task at either replica is known, whichever of them knows more of how it stands, and is added once.
func TestMergeTasks(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	asks := []job.Question{{Key: "a"}, {Key: "b"}}
	for name, tt := range map[string]struct{ value, other, want task.Record }{
		"answered": {
			task.Record{Status: mcp.TaskInputRequired, Message: "asks", Updated: at, Next: at.Add(time.Minute), Questions: asks, Refused: map[string]string{"a": "too short"}},
			task.Record{Status: mcp.TaskWorking, Message: "before", Updated: at.Add(time.Second), Answered: []string{"a"}},
			task.Record{Status: mcp.TaskInputRequired, Message: "asks", Updated: at.Add(time.Second), Questions: asks[1:], Answered: []string{"a"}, Refused: map[string]string{}},
		},
		"all are answered": {
			task.Record{Status: mcp.TaskInputRequired, Updated: at, Questions: asks, Answered: []string{"b"}},
			task.Record{Status: mcp.TaskInputRequired, Questions: asks[1:], Answered: []string{"a"}},
			task.Record{Status: mcp.TaskWorking, Updated: at, Answered: []string{"b", "a"}},
		},
		"refused": {
			task.Record{Status: mcp.TaskInputRequired, Questions: asks[1:], Answered: []string{"a"}, Refused: map[string]string{"b": "too long"}},
			task.Record{Status: mcp.TaskInputRequired, Questions: asks, Refused: map[string]string{"a": "too short", "b": "too short", "c": "too short"}},
			task.Record{Status: mcp.TaskInputRequired, Questions: asks[1:], Answered: []string{"a"}, Refused: map[string]string{"b": "too long", "c": "too short"}},
		},
		"called off": {
			task.Record{Status: mcp.TaskWorking, Next: at}, task.Record{Status: mcp.TaskWorking, Called: true}, task.Record{Status: mcp.TaskWorking, Called: true},
		},
		"one that knows less": {
			task.Record{Status: mcp.TaskWorking, Next: at, Answered: []string{"a", "b"}, Called: true},
			task.Record{Status: mcp.TaskInputRequired, Questions: asks, Answered: []string{"b"}, Refused: map[string]string{"a": "too short"}},
			task.Record{Status: mcp.TaskWorking, Next: at, Answered: []string{"a", "b"}, Called: true},
		},
	} {
		value, other, want := jsonText(t, tt.value), jsonText(t, tt.other), jsonText(t, tt.want)
		merged := task.Merge(value, other)
		if diff := cmp.Diff(string(want), string(merged)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		for _, again := range [][]byte{value, other, merged} {
			if got := task.Merge(merged, again); string(got) != string(merged) {
				t.Errorf("%s: merged again: %s, want %s", name, got, merged)
			}
		}
	}
	for _, callback := range []string{`{"t":"application/json","b":"e30="}`, `{"t":"","b":null}`, "null", "[]", ""} {
		for _, other := range []string{`{"t":"text/plain","b":"eA=="}`, "", "null"} {
			if got := task.Merge([]byte(callback), []byte(other)); string(got) != callback {
				t.Errorf("%q and %q: %q", callback, other, got)
			}
		}
	}
}

func jsonText(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAnsweredWhileAway: an answer that was given at a replica while Redis was away is not asked for again when it is back, however often others have
// looked: the service gets one.
func TestAnsweredWhileAway(t *testing.T) {
	var answers atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/reports":
			w.Header().Set("Location", "/jobs/7")
			w.WriteHeader(http.StatusAccepted)
			_, _ = fmt.Fprint(w, `{"id":"7"}`)
		case "/answers":
			answers.Add(1)
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = fmt.Fprint(w, `{"status":"waiting","asks":[{"id":"a"}]}`)
		}
	}))
	defer service.Close()
	m := miniredis.RunT(t)
	all := replicas(t, m, 2, gatewaytest.ReportsAPI+answersAPI, strings.Replace(askingRule, "job: {", "job: {interval: 10ms, ", 1)+
		"server: {seal_keys: [\"the-key-of-all-replicas-0123456789\"]}\nstate: {redis: {url: \"$REDIS\", timeout: 1s}}\n", service.URL)
	_, messages := gatewaytest.CallJob(t, all[0], gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
	id := gatewaytest.TaskID(messages[0])
	ask := func(replica int, method, params string) string {
		t.Helper()
		time.Sleep(20 * time.Millisecond) // so that it is time to look
		_, messages := gatewaytest.CallJob(t, all[replica], gatewaytest.JobCall{Method: method, Params: `"taskId":"$TASK"` + params, Tasks: true, Elicitation: true}, id)
		return string(messages[len(messages)-1])
	}
	const answer = `,"inputResponses":{"a":{"action":"accept","content":{"answer":"x"}}}`
	var asked string
	for range 4 {
		asked = ask(1, "tasks/get", "")
	}
	if !strings.Contains(asked, `"input_required"`) {
		t.Fatal(asked)
	}
	m.Close()
	ask(0, "tasks/update", answer)
	if n := answers.Load(); n != 1 {
		t.Fatalf("%d answers while Redis is away", n)
	}
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		for end := time.Now().Add(10 * time.Second); strings.Contains(ask(i, "tasks/get", ""), `"input_required"`); {
			if time.Now().After(end) {
				t.Fatalf("replica %d asks again", i)
			}
		}
	}
	for i := range all {
		ask(i, "tasks/update", answer)
	}
	if n := answers.Load(); n != 1 {
		t.Errorf("%d answers", n)
	}
}
