package task

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// open returns the task that a request names. No client of the request gets notifications of the job's requests.
func (s *Tasks) open(ctx context.Context, e *call.Endpoint, req *mcp.Request) (*Task, error) {
	return s.Open(ctx, deliver.Invocation(ctx, e, nil, req, nil), req.TaskID)
}

// Get answers tasks/get.
func (s *Tasks) Get(ctx context.Context, e *call.Endpoint, req *mcp.Request, reply *mcp.Reply) error {
	t, err := s.open(ctx, e, req)
	if err != nil {
		return err
	}
	ctx = t.Call.Resume(ctx)
	defer t.Call.Close()
	rec, err := t.State(ctx)
	if err != nil {
		return awayError(err)
	}
	if len(rec.Questions) > 0 {
		if err := mcp.RequireCapabilities(req.Family, req.Client, mcp.ClientElicitation); err != nil { // a client must declare elicitation to be sent questions (mcp-E3)
			return err
		}
	}
	return reply.TaskState(t.of(rec))
}

// Update answers tasks/update: it sends the user's answers to the service, one by one. Answers to unknown questions are
// ignored.
func (s *Tasks) Update(ctx context.Context, e *call.Endpoint, req *mcp.Request, reply *mcp.Reply) error {
	t, err := s.open(ctx, e, req)
	if err != nil {
		return err
	}
	responses := jsonscan.Lookup(req.Params, "inputResponses")
	if jsonscan.KindOf(responses) != jsonscan.Object {
		return mcp.InvalidParams("params.inputResponses must be an object")
	}
	ctx = t.Call.Resume(ctx)
	defer t.Call.Close()
	if _, err := t.State(ctx); err != nil {
		return awayError(err)
	}
	rec, release, err := t.lock(ctx) // so that no answer is sent twice
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
			return mcp.InvalidParams("the response to %q is no answer to a form", text.Truncate(string(key), job.MaxQuestionKey))
		}
		if err := t.answer(ctx, rec, rec.Questions[i], answer); err != nil {
			return err
		}
	}
	return reply.Result()
}

// answer sends the service one answer and records that it was given. An answer that does not match the form is not sent, and
// the question stays open.
func (t *Task) answer(ctx context.Context, rec *Record, asked job.Question, a mcp.InputResponse) error {
	q, key := t.Plan.Job.Questions, asked.Key
	var content []byte
	if a.Action == mcp.Accepted {
		var err error
		if content, err = asked.Validate(a.Value); err != nil {
			if rec.Refused == nil {
				rec.Refused = map[string]string{}
			}
			rec.Refused[key] = err.Error()
			rec.Message, rec.Updated = "the answer to "+text.Truncate(key, job.MaxWord)+" can't be used: "+err.Error(), time.Now()
			return t.publishRecord(ctx, rec)
		}
	}
	if !q.CanRefuse() && a.Action != mcp.Accepted {
		return t.callOff(ctx, rec) // the service has no other way to learn that the user declines
	}
	if failed := t.Call.Send(ctx, q.Answer, t.handle, q.AnswerArguments(t.handle.Answer, key, a.Action, content)); failed != nil {
		return &mcp.Error{Code: mcp.CodeInternal, Message: "the service did not take the answer; it can be given again"}
	}
	rec.Answered = append(rec.Answered, key)
	delete(rec.Refused, key)
	rec.ask(slices.DeleteFunc(rec.Questions, func(q job.Question) bool { return q.Key == key }))
	rec.Updated, rec.Next = time.Now(), time.Time{} // the service has new input, so it is polled at once
	return t.publishRecord(ctx, rec)
}

// Cancel answers tasks/cancel: it cancels the job if it has a cancel request, and otherwise only stops polling it. A task
// that has ended is left unchanged.
func (s *Tasks) Cancel(ctx context.Context, e *call.Endpoint, req *mcp.Request, reply *mcp.Reply) error {
	t, err := s.open(ctx, e, req)
	if err != nil {
		return err
	}
	ctx = t.Call.Resume(ctx)
	defer t.Call.Close()
	rec, release, err := t.lock(ctx)
	if err != nil {
		return awayError(err)
	}
	defer release()
	if !rec.final() {
		if err := t.callOff(ctx, rec); err != nil {
			return err
		}
	}
	return reply.Result()
}

// callOff cancels the job of a task. If the service has a cancel request, its response determines the state.
func (t *Task) callOff(ctx context.Context, rec *Record) error {
	if !t.Plan.Job.CanCancel(t.handle) {
		rec.end(mcp.TaskCancelled)
		rec.Updated = time.Now()
		t.Call.Done(ctx, telemetry.OutcomeJob, nil)
		return t.publishRecord(ctx, rec)
	}
	_ = t.Call.Send(ctx, t.Plan.Job.Cancel, t.handle, t.handle.Cancel) // a failure is for the operator; the client learns the status by polling
	rec.Called, rec.Next = true, time.Time{}
	return t.publishRecord(ctx, rec)
}

// publishRecord stores the record of a task and notifies its subscribers.
func (t *Task) publishRecord(ctx context.Context, rec *Record) error {
	if err := t.Save(context.WithoutCancel(ctx), rec); err != nil {
		return err
	}
	t.changed(ctx, rec)
	return nil
}

// awayError turns state.ErrAway into an error that asks the client to retry. It returns other errors unchanged.
func awayError(err error) error {
	if !errors.Is(err, state.ErrAway) {
		return err
	}
	return &mcp.Error{
		Code: mcp.CodeInternal, Message: "how this task stands can't be told at the moment: try again", HTTPStatus: http.StatusServiceUnavailable,
		Header: http.Header{"Retry-After": {"1"}},
	}
}
