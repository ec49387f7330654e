package gateway

import (
	"context"
	"net/http"
	"slices"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// getTask answers tasks/get.
func (g *Gateway) getTask(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	t, err := g.openTask(ctx, req, reply)
	if err != nil {
		return err
	}
	defer t.start()()
	rec, err := t.state()
	if err != nil {
		return awayError(err)
	}
	if len(rec.Questions) > 0 {
		if err := req.RequireCapabilities(mcp.ClientElicitation); err != nil { // a client must declare elicitation to be sent questions (mcp-E3)
			return err
		}
	}
	return reply.TaskState(t.of(rec))
}

// updateTask answers tasks/update: it sends the user's answers to the service, one by one. Answers to unknown questions are
// ignored.
func (g *Gateway) updateTask(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	t, err := g.openTask(ctx, req, reply)
	if err != nil {
		return err
	}
	responses := jsonscan.Lookup(req.Params, "inputResponses")
	if jsonscan.KindOf(responses) != jsonscan.Object {
		return mcp.InvalidParams("params.inputResponses must be an object")
	}
	defer t.start()()
	if _, err := t.state(); err != nil {
		return awayError(err)
	}
	rec, release, err := t.hold() // so that no answer is sent twice
	if err != nil {
		return awayError(err)
	}
	defer release()
	for key, response := range jsonscan.Members(responses) {
		i := slices.IndexFunc(rec.Questions, func(q job.Question) bool { return q.Key == string(key) })
		if rec.final() || i < 0 {
			continue
		}
		answer, ok := mcp.ParseInputResponse(mcp.ElicitForm, response)
		if !ok {
			return mcp.InvalidParams("the response to %q is no answer to a form", truncate.Bytes(string(key), job.MaxQuestionKey))
		}
		if err := t.answer(rec, rec.Questions[i], answer); err != nil {
			return err
		}
	}
	return reply.Result()
}

// answer sends the service one answer and records that it was given. An answer that does not match the form is not sent, and
// the question stays open.
func (t *task) answer(rec *taskRecord, asked job.Question, a mcp.InputResponse) error {
	q, key := t.plan.job.Questions, asked.Key
	var content []byte
	if a.Action == mcp.Accepted {
		var err error
		if content, err = asked.Validate(a.Value); err != nil {
			if rec.Refused == nil {
				rec.Refused = map[string]string{}
			}
			rec.Refused[key] = err.Error()
			rec.Message, rec.Updated = "the answer to "+truncate.Bytes(key, job.MaxWord)+" can't be used: "+err.Error(), time.Now()
			return t.tell(rec)
		}
	}
	if !q.CanRefuse() && a.Action != mcp.Accepted {
		return t.callOff(rec) // the service has no other way to learn that the user declines
	}
	resp, _, err := t.askAbout(t.ctx, q.Answer, t.begun, q.AnswerArguments(t.begun.Answer, key, a.Action, content))
	if failed := t.declined(resp, err); failed != nil {
		t.done(failed.outcome, failed.cause)
		return &mcp.Error{Code: mcp.CodeInternal, Message: "the service did not take the answer; it can be given again"}
	}
	t.took()
	rec.Answered = append(rec.Answered, key)
	delete(rec.Refused, key)
	rec.ask(slices.DeleteFunc(rec.Questions, func(q job.Question) bool { return q.Key == key }))
	rec.Updated, rec.Next = time.Now(), time.Time{} // the service has new input, so it is polled at once
	return t.tell(rec)
}

// cancelTask answers tasks/cancel: it cancels the job if it has a cancel request, and otherwise only stops polling it. A task
// that has ended is left unchanged.
func (g *Gateway) cancelTask(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	t, err := g.openTask(ctx, req, reply)
	if err != nil {
		return err
	}
	defer t.start()()
	rec, release, err := t.hold()
	if err != nil {
		return awayError(err)
	}
	defer release()
	if !rec.final() {
		if err := t.callOff(rec); err != nil {
			return err
		}
	}
	return reply.Result()
}

// callOff cancels the job of a task. If the service has a cancel request, its response determines the state.
func (t *task) callOff(rec *taskRecord) error {
	if !t.plan.job.CanCancel(t.begun) {
		rec.end(mcp.TaskCancelled)
		rec.Updated = time.Now()
		t.done(telemetry.OutcomeJob, nil)
		return t.tell(rec)
	}
	resp, _, err := t.askAbout(t.ctx, t.plan.job.Cancel, t.begun, t.begun.Cancel)
	if failed := t.declined(resp, err); failed != nil { // is for the operator; the client learns the status by polling
		t.done(failed.outcome, failed.cause)
	} else {
		t.took()
	}
	rec.Called, rec.Next = true, time.Time{}
	return t.tell(rec)
}

// declined completes a request about a job and returns why the service rejected it, or nil if it did not.
func (t *task) declined(resp *http.Response, err error) *failure {
	if err == nil {
		if resp.StatusCode >= 300 {
			err = t.refusedOf(resp, "")
		}
		_ = resp.Body.Close()
	}
	if err == nil {
		return nil
	}
	return t.lookFailed(err).failure
}

// took records success as the outcome of the request, whatever the preceding poll returned.
func (t *task) took() {
	if t.callRecord != nil {
		t.callRecord.outcome = telemetry.OutcomeOK
	}
}

// tell stores the record of a task and notifies its subscribers.
func (t *task) tell(rec *taskRecord) error {
	if err := t.keep(context.WithoutCancel(t.ctx), rec); err != nil {
		return err
	}
	t.g.taskChanged(t, rec)
	return nil
}
