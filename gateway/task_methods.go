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
		if err := req.RequireCapabilities(mcp.ClientElicitation); err != nil { // nobody is asked what he can't be asked (mcp-E3)
			return err
		}
	}
	return reply.TaskState(t.of(rec))
}

// updateTask answers tasks/update: it brings the user's answers to the service, one by one. What was not asked is passed over.
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

// answer brings the service one answer, and remembers that it was given. One that does not fit the form is not sent, and the
// question goes on.
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
		return t.callOff(rec) // the service can't be told in another way that the user does not want to go on
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
	rec.Updated, rec.Next = time.Now(), time.Time{} // the service knows more now
	return t.tell(rec)
}

// cancelTask answers tasks/cancel: the job is stopped if it is known how, and nobody asks for it any more otherwise. A task that has
// ended stays as it is.
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

// callOff stops the job of a task. Where the service is asked to do it, its word for the state counts.
func (t *task) callOff(rec *taskRecord) error {
	if !t.plan.job.CanCancel(t.begun) {
		rec.end(mcp.TaskCancelled)
		rec.Updated = time.Now()
		t.done(telemetry.OutcomeJob, nil)
		return t.tell(rec)
	}
	resp, _, err := t.askAbout(t.ctx, t.plan.job.Cancel, t.begun, t.begun.Cancel)
	if failed := t.declined(resp, err); failed != nil { // who asks how the job stands is told; that it was not stopped is for those who run the gateway
		t.done(failed.outcome, failed.cause)
	} else {
		t.took()
	}
	rec.Called, rec.Next = true, time.Time{}
	return t.tell(rec)
}

// declined ends what the service was asked to do about a job, and returns why it did not; nil: it did.
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

// took makes that the service has done what it was asked the outcome of the request, whatever came of the look before.
func (t *task) took() {
	if t.callRecord != nil {
		t.callRecord.outcome = telemetry.OutcomeOK
	}
}

// tell remembers what has become of a task, and tells who watches it.
func (t *task) tell(rec *taskRecord) error {
	if err := t.keep(context.WithoutCancel(t.ctx), rec); err != nil {
		return err
	}
	t.g.taskChanged(t, rec)
	return nil
}
