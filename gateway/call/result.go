package call

import (
	"context"
	"drawbridge/gateway/catalog"
	"errors"
	"net/http"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// The methods here tell package render what it has to know of a call, and deliver what it returns.

// Renderer returns the renderer of a response to the call.
func (c *Call) Renderer() render.Renderer {
	p := c.Plan
	r := render.Renderer{
		API: p.Tool.API, Tool: p.Tool.Name, Title: p.Tool.Title, Revision: c.Request.Revision, Structured: c.structured(), ShortText: p.ShortText,
		Redactor: c.redactor(), Target: c.target, Base: p.Base, Arguments: c.args, Headers: c.headers.Text, Note: c.note,
	}
	if p.Resource != nil && p.Elicitation == nil { // input of the user is not for the model to read
		r.URI = &p.Resource.URI
	}
	return r
}

// structured reports whether the client was told an output schema, so that it expects structuredContent (D8).
func (c *Call) structured() bool {
	return c.Plan.Tool.Structured() && catalog.FeaturesOf(c.Request.Revision).OutputSchema
}

// sendResult counts a response that contradicts the document, and delivers its result.
func (c *Call) sendResult(r render.Result) error {
	if r.Drift {
		c.Plan.Metrics.Drift()
	}
	return c.sendMembers(r.Meta, r.Chunks...)
}

// sendMembers delivers a result to the client, or captures it. The arguments are those of [mcp.Reply.ResultMeta].
func (c *Call) sendMembers(meta []byte, chunks ...mcp.Chunk) error {
	for i := range chunks {
		// The model reads the text. structuredContent repeats it, or replaces it where the text is short.
		if chunks[i].Escape || c.Plan.ShortText {
			c.Plan.Metrics.Results.Delivered(chunks[i].Bytes)
			c.record.deliver(chunks[i].Bytes, c.r.History.Bodies())
		}
	}
	meta = render.AppendDropped(render.AppendMember(meta, c.headers.Meta), c.dropped)
	if c.captured != nil {
		c.captured.take(meta, chunks)
		return nil
	}
	c.ticket.Stop() // so that a client that reads slowly holds up no other call
	return c.reply.ResultMeta(meta, chunks...)
}

// fail answers with isError and a text for the model, and writes the call's log line.
func (c *Call) fail(ctx context.Context, o telemetry.Outcome, cause error, text string) error {
	c.Done(ctx, o, cause)
	c.answered = true
	return c.sendMembers(c.requestIDMeta(ctx), render.Error(text)...)
}

// answerSuccess passes on a response with a status below 300.
func (c *Call) answerSuccess(ctx context.Context, resp *http.Response) error {
	c.forwardEvents(resp)
	err := c.readResponse(resp, func(part answer.Part) error {
		if part.MaybeTruncated {
			c.noteUnended()
		}
		c.Plan.Progress.Reduce(&part)
		c.redactPart(ctx, &part)
		if part.More || c.parts != nil {
			c.parts = append(c.parts, part)
			if part.More {
				return nil
			}
		}
		c.answered = true
		c.Done(ctx, telemetry.OutcomeOK, nil)
		if c.Plan.Projection != nil {
			return c.answerProjected(ctx, part)
		}
		if c.Plan.Links != nil {
			parts := c.parts
			if parts == nil {
				parts = []answer.Part{part}
			}
			if done, err := c.answerWithLink(parts...); done {
				return err
			}
		}
		r := c.Renderer()
		if c.parts != nil {
			return c.sendResult(r.Parts(c.parts))
		}
		return c.sendResult(r.Part(part))
	})
	if err != nil || c.answered {
		return err
	}
	if !answer.Delimited(resp) {
		c.noteUnended()
	}
	c.answered = true
	c.Done(ctx, telemetry.OutcomeOK, nil)
	r := c.Renderer()
	return c.sendResult(r.Empty(resp))
}

// answerProjected passes on the last part of a successful answer, projected, with those before it. An answer that is too large
// even so is a link to the whole.
func (c *Call) answerProjected(ctx context.Context, last answer.Part) error {
	whole := c.parts
	if whole == nil {
		whole = []answer.Part{last}
	}
	before := c.note
	shown := c.projectAll(ctx, whole)
	if l := c.Plan.Links; l != nil && (l.Over == 0 || sizeOf(shown) > l.Over) {
		says := c.note
		c.note = before
		if done, err := c.answerWithLink(whole...); done {
			return err
		}
		c.note = says
	}
	r := c.Renderer()
	if c.parts != nil {
		return c.sendResult(r.Parts(shown))
	}
	return c.sendResult(r.Part(shown[0]))
}

// projectAll projects the parts of an answer that was buffered, and adds what is said of them to the note.
func (c *Call) projectAll(ctx context.Context, parts []answer.Part) []answer.Part {
	if c.Plan.Projection == nil {
		return parts
	}
	shown := make([]answer.Part, len(parts))
	for i := range parts {
		part, a, note := projectPart(ctx, c.Plan.Projection, c.fields, parts[i])
		if shown[i] = part; a != nil {
			c.Plan.Metrics.Results.Projected(parts[i].Data, len(part.Data))
			note = a.Note(c.waysToTheRest(a, len(parts[i].Data)))
		}
		c.addNote(note)
	}
	return shown
}

// addNote adds a sentence to what is given beside the answer.
func (c *Call) addNote(text string) {
	if c.note != "" && text != "" {
		c.note += " "
	}
	c.note += text
}

// deliver responds with parts of a response that was read before, and with the call's note if there is one.
func (c *Call) deliver(parts []answer.Part, resp *http.Response) error {
	c.answered = true
	if render.IsUnended(parts, resp) {
		c.noteUnended()
	}
	c.readHeaders(resp)
	r := c.Renderer()
	return c.sendResult(r.Response(parts, resp))
}

// noteUnended adds to the call's note that the response may not be whole.
func (c *Call) noteUnended() {
	c.addNote(render.Unended)
}

// answerRedirect passes on a redirect that the document declares, which means that the call succeeded. The gateway does not
// follow it (E3).
func (c *Call) answerRedirect(ctx context.Context, resp *http.Response) error {
	defer resp.Body.Close()
	link, why := render.RedirectLink(c.target, c.location, c.redactor(), c.Plan.Sensitive)
	c.answered = true
	c.Done(ctx, telemetry.OutcomeOK, nil)
	r := c.Renderer()
	return c.sendResult(r.Redirect(resp, link, why, c.Plan.Operation.Answers.Meaning(resp.StatusCode)))
}

// serviceFailure returns the failure for a response with a status of 300 or more.
func (c *Call) serviceFailure(resp *http.Response) error {
	return c.serviceFailureAs(resp, c.Plan.Operation.Answers.Meaning(resp.StatusCode))
}

// serviceFailureAs is refused with the document's description of the status, meaning, which may be empty.
func (c *Call) serviceFailureAs(resp *http.Response, meaning string) error {
	e := render.UpstreamError{API: c.Plan.Tool.API, Response: resp, Meaning: meaning, Unfollowed: c.unfollowed, Safe: c.Plan.Safe, Redactor: c.redactor()}
	err := c.readResponse(resp, e.AddPart)
	tooLarge := isTooLarge(err)
	if err != nil && !tooLarge {
		return err
	}
	o := telemetry.OutcomeServerError
	switch {
	case resp.StatusCode < 400:
		o = telemetry.OutcomeRedirect
	case resp.StatusCode < 500:
		o = telemetry.OutcomeClientError
	}
	return &Failure{Outcome: o, Text: e.Text(tooLarge, time.Now())}
}

// isTooLarge reports whether reading a response failed because it, or all responses in progress together, are too
// large.
func isTooLarge(err error) bool {
	var limit *upstream.Error
	var failed *Failure
	return errors.As(err, &limit) && limit.Kind == upstream.TooLarge ||
		errors.As(err, &failed) && (failed.Outcome == telemetry.Outcome(upstream.TooLarge.String()) || failed.Outcome == telemetry.Outcome(upstream.Overloaded.String()))
}

// readHeaders prepares the result's members and text about the headers of a response.
func (c *Call) readHeaders(resp *http.Response) {
	x := render.Exchange{
		Response: resp, Declared: c.Plan.Operation.Answers.Headers(resp.StatusCode), Target: c.target, Redactor: c.redactor(), Sensitive: c.Plan.Sensitive,
	}
	if c.locationResponse == resp {
		x.Location = c.location
	}
	c.headers = c.Plan.ResponseHeaders.Read(x)
}

// forwardEvents forwards the events of a streamed response to the client as they arrive, if the client asked for progress by a
// token, or for log messages by a level.
func (c *Call) forwardEvents(resp *http.Response) {
	p := c.Plan
	if p.Progress.Hide() || c.Request.Meta.ProgressToken == nil && !c.reply.LogEnabled(mcp.LevelEmergency) {
		return
	}
	f := &render.EventForwarder{Reply: c.reply, Tool: p.Tool.Name, Rules: p.Progress, Redactor: c.redactor(), Sensitive: p.Sensitive, Clean: p.Clean}
	p.Operation.Answers.OnEvent(resp, f.Forward)
}

// requestIDMeta sets the request ID of a failed call, as in the log and the audit log, in the header of its response, and
// returns it as a member of _meta: a user can quote it in a report, and the model has nothing more to read (P7). The
// operator of the process has the log, so it returns nil then.
func (c *Call) requestIDMeta(ctx context.Context) []byte {
	v := InfoFrom(ctx)
	if v.Operator {
		return nil
	}
	id := v.ID()
	if c.captured == nil {
		c.reply.SetHeader(mcp.RequestIDHeader, id)
	}
	return jsonscan.AppendString([]byte(`"drawbridge/request":`), id)
}
