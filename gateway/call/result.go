package call

import (
	"context"
	"net/http"
	"slices"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// resultWriter is what a call has to do with its client: it tells package render what it has to know of the exchange, and
// delivers what that returns. It knows nothing of the steps of a call and of jobs. Only the call's goroutine uses it.
type resultWriter struct {
	exchange

	Quiet    bool             // the outcome is counted, but neither logged nor told to the client
	ticket   admission.Ticket // the capacity that the call occupies until its result is delivered
	answered bool             // the result was begun, so that no other can be given
	captured *capturedResult  // receives the result instead of the client; nil if the client gets it
	fromJob  bool             // the result is that of a job, which another request would not yield

	dropped []string              // JSON Pointers of the arguments that were dropped
	unsent  []string              // those of the request body
	fields  *projection.FieldList // fields of the answer that the model wants; nil if it wants all
	parts   []answer.Part         // parts of a response with several until the last one arrives, or of one that is buffered
	headers render.HeaderNotes    // headers of the response that the client sees
	note    string                // text that is given beside the answer; "" if there is none
}

// Renderer returns the renderer of a response to the call.
func (w *resultWriter) Renderer() render.Renderer {
	p := w.Plan
	r := render.Renderer{
		API: p.Tool.API, Tool: p.Tool.Name, Title: p.Tool.Title, Revision: w.Request.Revision, Structured: w.structured(), ShortText: p.ShortText,
		Redactor: w.redactor(), Target: w.target, Base: p.Base, Arguments: w.args, Headers: w.headers.Text, Note: w.noteWithUnsent(),
	}
	if p.Resource != nil && p.Elicitation == nil { // input of the user is not for the model to read
		r.URI = &p.Resource.URI
	}
	return r
}

// structured reports whether the client was told an output schema, so that it expects structuredContent (D8).
func (w *resultWriter) structured() bool {
	return w.Plan.Tool.Structured() && catalog.FeaturesOf(w.Request.Revision).OutputSchema
}

// sendResult counts a response that contradicts the document, and delivers its result.
func (w *resultWriter) sendResult(r render.Result) error {
	if r.Drift {
		w.Plan.Metrics.Drift()
	}
	return w.sendMembers(r.Meta, r.Chunks...)
}

// sendMembers delivers a result to the client, or captures it. The arguments are those of [mcp.Reply.ResultMeta].
func (w *resultWriter) sendMembers(meta []byte, chunks ...mcp.Chunk) error {
	for i := range chunks {
		// The model reads the text. structuredContent repeats it, or replaces it where the text is short.
		if chunks[i].Escape || w.Plan.ShortText {
			w.Plan.Metrics.Results.Delivered(chunks[i].Bytes)
			w.record.deliver(chunks[i].Bytes, w.r.History.Bodies())
		}
	}
	meta = render.AppendDropped(render.AppendMember(meta, w.headers.Meta), w.dropped)
	if w.captured != nil {
		w.captured.take(meta, chunks)
		return nil
	}
	w.ticket.Stop() // so that a client that reads slowly holds up no other call
	return w.reply.ResultMeta(meta, chunks...)
}

// fail answers with isError and a text for the model, and writes the call's log line.
func (w *resultWriter) fail(ctx context.Context, o telemetry.Outcome, cause error, text string) error {
	w.Done(ctx, o, cause)
	w.answered = true
	if o == telemetry.OutcomeClientError { // the service may miss what was not sent
		if unsent := render.Unsent(w.unsent); unsent != "" {
			text += "\n" + unsent
		}
	}
	return w.sendMembers(w.requestIDMeta(ctx), render.Error(w.ceilText(ctx, text))...)
}

// answerSuccess passes on a response with a status below 300.
func (w *resultWriter) answerSuccess(ctx context.Context, resp *http.Response) error {
	w.forwardEvents(resp)
	err := w.readResponse(resp, func(part answer.Part) error {
		if part.MaybeTruncated {
			w.noteUnended()
		}
		if part.UndeclaredHTML {
			w.addNote(render.UndeclaredHTML)
		}
		w.Plan.Progress.Reduce(&part)
		w.redactPart(ctx, &part)
		if err := w.reportedFailure(ctx, resp, part); err != nil {
			return err
		}
		if part.More || w.parts != nil {
			w.parts = append(w.parts, part)
			if part.More {
				return nil
			}
		}
		if w.Plan.Projection != nil {
			return w.answerProjected(ctx, part, resp.StatusCode)
		}
		w.answered = true
		w.Done(ctx, telemetry.OutcomeOK, nil)
		parts := w.parts
		if parts == nil {
			parts = []answer.Part{part}
		}
		if w.Plan.Links != nil {
			if done, err := w.answerWithLink(parts...); done {
				return err
			}
		}
		return w.sendParts(ctx, parts)
	})
	if err != nil || w.answered {
		return err
	}
	if !answer.Delimited(resp) {
		w.noteUnended()
	}
	w.answered = true
	w.Done(ctx, telemetry.OutcomeOK, nil)
	r := w.Renderer()
	return w.sendResult(r.Empty(resp))
}

// answerProjected passes on the last part of a successful answer, projected, with those before it. An answer that is too large
// even so is a link to the whole.
func (w *resultWriter) answerProjected(ctx context.Context, last answer.Part, status int) error {
	whole := w.parts
	if whole == nil {
		whole = []answer.Part{last}
	}
	before := w.note
	shown, err := w.projectAll(ctx, whole, status)
	if err != nil {
		return err
	}
	w.answered = true
	w.Done(ctx, telemetry.OutcomeOK, nil)
	if l := w.Plan.Links; l != nil && (l.Over == 0 || sizeOf(shown) > l.Over) {
		says := w.note
		w.note = before
		if done, err := w.answerWithLink(whole...); done {
			return err
		}
		w.note = says
	}
	return w.sendParts(ctx, shown)
}

// sendParts delivers the parts of a successful answer, at least one, within the ceiling.
func (w *resultWriter) sendParts(ctx context.Context, parts []answer.Part) error {
	if result, ok := w.binaryLink(ctx, parts); ok {
		return w.sendResult(result)
	}
	parts = w.ceil(ctx, parts)
	r := w.Renderer()
	if len(parts) > 1 {
		return w.sendResult(r.Parts(parts))
	}
	return w.sendResult(r.Part(parts[0]))
}

// projectAll projects the parts of an answer with a status that was buffered, and adds their notes to the note. The error is
// a [*Failure] of a call that changed nothing, see [resultWriter.unselected].
func (w *resultWriter) projectAll(ctx context.Context, parts []answer.Part, status int) ([]answer.Part, error) {
	if w.Plan.Projection == nil {
		return parts, nil
	}
	shown := make([]answer.Part, len(parts))
	for i := range parts {
		part, a, note := projectPart(ctx, w.Plan.Projection, w.fields, parts[i])
		if a != nil && a.Failed != nil {
			shown, note, err := w.unselected(a, sizeOf(parts), status)
			w.addNote(note)
			return shown, err
		}
		if shown[i] = part; a != nil {
			w.Plan.Metrics.Results.Projected(parts[i].Data, len(part.Data))
			note = a.Note(w.waysToTheRest(a, len(parts[i].Data)))
		}
		w.addNote(note)
	}
	return shown, nil
}

// addNote adds a sentence to what is given beside the answer.
func (w *resultWriter) addNote(text string) {
	if w.note != "" && text != "" {
		w.note += " "
	}
	w.note += text
}

// deliverProjected is deliver for a call that succeeded, with its parts projected.
func (w *resultWriter) deliverProjected(ctx context.Context, parts []answer.Part, resp *http.Response) error {
	shown, err := w.projectAll(ctx, parts, resp.StatusCode)
	if err != nil {
		return err
	}
	w.Done(ctx, telemetry.OutcomeOK, nil)
	return w.deliver(ctx, shown, resp)
}

// deliver responds with parts of a response that was read before, and with the call's note if there is one.
func (w *resultWriter) deliver(ctx context.Context, parts []answer.Part, resp *http.Response) error {
	w.answered, w.fromJob = true, true
	if render.IsUnended(parts, resp) {
		w.noteUnended()
	}
	w.readHeaders(resp)
	if len(parts) > 0 {
		parts = w.ceil(ctx, parts)
	}
	r := w.Renderer()
	return w.sendResult(r.Response(parts, resp))
}

// noteUnended adds to the call's note that the response may not be whole.
func (w *resultWriter) noteUnended() {
	w.addNote(render.Unended)
}

// answerRedirect passes on a redirect that the document declares, which means that the call succeeded. The gateway does not
// follow it (E3).
func (w *resultWriter) answerRedirect(ctx context.Context, resp *http.Response) error {
	defer resp.Body.Close()
	link, why := render.RedirectLink(w.target, w.location, w.redactor(), w.Plan.Sensitive)
	w.answered = true
	w.Done(ctx, telemetry.OutcomeOK, nil)
	r := w.Renderer()
	return w.sendResult(r.Redirect(resp, link, why, w.Plan.Operation.Answers.Meaning(resp.StatusCode)))
}

// readHeaders prepares the result's members and text about the headers of a response.
func (w *resultWriter) readHeaders(resp *http.Response) {
	x := render.Exchange{
		Response: resp, Declared: w.Plan.Operation.Answers.Headers(resp.StatusCode), Target: w.target, Redactor: w.redactor(), Sensitive: w.Plan.Sensitive,
	}
	if w.locationResponse == resp {
		x.Location = w.location
	}
	w.headers = w.Plan.ResponseHeaders.Read(x)
}

// forwardEvents forwards the events of a streamed response to the client as they arrive, if the client asked for progress by a
// token, or for log messages by a level.
func (w *resultWriter) forwardEvents(resp *http.Response) {
	p := w.Plan
	if p.Progress.Hide() || w.Request.Meta.ProgressToken == nil && !w.reply.LogEnabled(mcp.LevelEmergency) {
		return
	}
	f := &render.EventForwarder{Reply: w.reply, Tool: p.Tool.Name, Rules: p.Progress, Redactor: w.redactor(), Sensitive: p.Sensitive, Clean: p.Clean}
	p.Operation.Answers.OnEvent(resp, f.Forward)
}

// requestIDMeta sets the request ID of a failed call, as in the log and the audit log, in the header of its response, and
// returns it as a member of _meta: a user can quote it in a report, and the model has nothing more to read (P7). The
// operator of the process has the log, so it returns nil then.
func (w *resultWriter) requestIDMeta(ctx context.Context) []byte {
	v := InfoFrom(ctx)
	if v.Operator {
		return nil
	}
	id := v.ID()
	if w.captured == nil {
		w.reply.SetHeader(mcp.RequestIDHeader, id)
	}
	return jsonscan.AppendString([]byte(`"drawbridge/request":`), id)
}

// addDropped records arguments that counted as absent, see [openapi.Operation.Check].
func (w *resultWriter) addDropped(pointers []string) {
	if len(pointers) == 0 {
		return
	}
	w.dropped = append(slices.Clone(w.dropped), pointers...)
	slices.Sort(w.dropped)
	w.dropped = slices.Compact(w.dropped)
	w.unsent = nil
	for _, pointer := range w.dropped {
		if w.Plan.Requests.InBody(pointer) {
			w.unsent = append(w.unsent, pointer)
		}
	}
}

// noteWithUnsent returns the call's note, after one on the members of the request body that were not sent: models don't see _meta.
func (w *resultWriter) noteWithUnsent() string {
	unsent := render.Unsent(w.unsent)
	if unsent == "" || w.note == "" {
		return unsent + w.note
	}
	return unsent + " " + w.note
}

// answerNotDisclosed responds with the text of [JobCall.notDisclosed] only.
func (w *resultWriter) answerNotDisclosed(ctx context.Context, text string) error {
	w.Done(ctx, telemetry.OutcomeJob, nil)
	w.answered = true
	r := w.Renderer()
	return w.sendResult(r.Text(text))
}
