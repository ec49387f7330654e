package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/state"
	"drawbridge/test/gatewaytest"
)

// lateHolds has something happen between the moment that somebody wants a hold and the moment that he has it.
type lateHolds struct {
	state.Locks
	between func()
}

func (h *lateHolds) Lock(ctx context.Context, name string) (release func(), ok bool) {
	if f := h.between; f != nil {
		h.between = nil
		f()
	}
	return h.Locks.Lock(ctx, name)
}

// TestTaskLookAfterAnAnswer: a look that was to begin before an answer was brought does not forget that it was, however long the service goes on to
// list the question.
func TestTaskLookAfterAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := gatewaytest.NewJobService("HTTP/1.1 202 Accepted\nLocation: /v1/jobs/7\nContent-Type: application/json\n\n{\"id\":\"7\"}\n===\n" +
			"HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"waiting\",\"asks\":[{\"id\":\"a\"}]}\n")
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI+answersAPI, askingRule, service)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
		id := gatewaytest.TaskID(messages[0])
		look := func() {
			time.Sleep(time.Minute)
			gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "tasks/get", Tasks: true, Elicitation: true, Params: `"taskId":"$TASK"`}, id)
		}
		answer := func() {
			gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "tasks/update", Tasks: true,
				Params: `"taskId":"$TASK","inputResponses":{"a":{"action":"accept","content":{"answer":"x"}}}`}, id)
		}
		look()
		g.Tasks().Locks = &lateHolds{g.Tasks().Locks, answer}
		look()
		answer()
		if n := strings.Count(service.Seen.String(), "/answers"); n != 1 {
			t.Errorf("%d answers were sent:\n%s", n, service.Seen.String())
		}
		opened, err := openAs(g, "", "", id)
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := opened.Load(opened.ctx); err != nil || !slices.Equal(rec.Answered, []string{"a"}) || len(rec.Questions) != 0 {
			t.Errorf("%+v %v", rec, err)
		}
	})
}
