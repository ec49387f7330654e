package deliver

import (
	"fmt"
	"strings"

	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// canceled is the outcome of a call whose client has left, or that the shutdown has ended.
var canceled = telemetry.Outcome(upstream.Canceled.String())

// Results makes results of outcomes. It is immutable.
type Results struct {
	// Links seals the URIs of responses that are read later.
	Links *mcp.SealedHandles
}

// result is the result of tools/call for one outcome, while it is rendered: what the client gets of the outcome, and what is said beside
// it.
type result struct {
	*call.Outcome
	inv     *call.Invocation
	plan    *plan.Plan
	links   *mcp.SealedHandles // nil if the whole response can't be linked
	headers render.HeaderNotes // headers of the response that the client sees
	note    string             // text that is given beside the response; "" if there is none

	rendered render.Renderer // of the result, whose small ones are in its memory
}

// deliver sends the result of an outcome to the client, with a note beside it.
func (r Results) deliver(out *call.Outcome, note string, reply *mcp.Reply) error {
	w := r.of(out, note)
	meta, chunks := w.members()
	if id := w.requestID(); id != "" {
		reply.SetHeader(mcp.RequestIDHeader, id)
	}
	out.Rendered()
	return reply.ResultMeta(meta, chunks...)
}

// of returns the result of an outcome, with a note beside it.
func (r Results) of(out *call.Outcome, note string) *result {
	return &result{Outcome: out, inv: out.Invocation(), plan: out.Invocation().Plan(), links: r.Links, note: note}
}

// Members returns the members of the result of tools/call for an outcome, as JSON text, for a task that is to answer with it later. It has no
// links, since a task can be asked when they are not valid any more.
func (r Results) Members(out *call.Outcome) (members []byte) {
	w := result{Outcome: out, inv: out.Invocation(), plan: out.Invocation().Plan()}
	meta, chunks := w.members()
	for _, c := range chunks {
		if c.Escape {
			members = jsonscan.AppendEscaped(members, c.Bytes)
		} else {
			members = append(members, c.Bytes...)
		}
	}
	if len(meta) > 0 {
		members = append(append(append(members, `,"_meta":{`...), meta...), '}')
	}
	return members
}

// members returns the members of the result, and of its _meta. They are valid until the outcome is closed.
func (w *result) members() (meta []byte, chunks []mcp.Chunk) {
	if w.Response != nil {
		w.readHeaders()
	}
	r := w.render()
	if r.Drift {
		w.plan.Metrics.Drift()
	}
	for i := range r.Chunks {
		// The model reads the text. structuredContent repeats it, or replaces it where the text is short.
		if r.Chunks[i].Escape || w.plan != nil && w.plan.ShortText {
			w.Delivered(r.Chunks[i].Bytes)
		}
	}
	dropped, _ := w.Dropped()
	return render.AppendDropped(render.AppendMember(r.Meta, w.headers.Meta), dropped), r.Chunks
}

// render renders the outcome.
func (w *result) render() render.Result {
	switch f := w.Failure; {
	case w.plan == nil:
		return w.texts()
	case f != nil && f.Outcome == telemetry.OutcomeJob: // no error of the call, which has started the job
		return w.renderer().Text(f.Text)
	case f != nil:
		return w.failure()
	case render.IsRedirect(w.Response.StatusCode):
		link, why := render.RedirectLink(w.Target(), w.Location(), w.Redactor(), w.plan.Sensitive)
		return w.renderer().Redirect(w.Response, link, why, w.plan.Operation.Answers.Meaning(w.Response.StatusCode))
	}
	return w.success()
}

// failure renders the failure of the call.
func (w *result) failure() render.Result {
	text := w.Failure.Text
	switch w.Failure.Outcome {
	case telemetry.OutcomeProjection:
		text = w.notProjected()
	case telemetry.OutcomeClientError: // the service may miss what was not sent
		_, pointers := w.Dropped()
		if unsent := render.Unsent(pointers); unsent != "" {
			text += "\n" + unsent
		}
	default:
	}
	return render.Result{Chunks: render.Error(w.ceilText(text)), Meta: w.failureMeta()}
}

// texts renders the texts of a tool that is no operation, or that of its failure if there are none.
func (w *result) texts() render.Result {
	texts := make([][]byte, len(w.Shown))
	for i := range w.Shown {
		texts[i] = w.Shown[i].Data
	}
	if w.Failure != nil && len(texts) == 0 {
		texts = [][]byte{[]byte(w.Failure.Text)}
	}
	return render.Result{Chunks: render.Texts(texts, w.Failure != nil), Meta: w.failureMeta()}
}

// failureMeta returns the members of _meta that a failed call has: its request ID.
func (w *result) failureMeta() []byte {
	if id := w.requestID(); id != "" {
		return jsonscan.AppendString([]byte(`"drawbridge/request":`), id)
	}
	return nil
}

// requestID returns the request ID of a failed call, as in the log and the audit log, for the header of its response and _meta: a user can
// quote it in a report, and the model has nothing more to read (P7). It is "" for other outcomes, and for an operator, who has the log.
func (w *result) requestID() string {
	if w.Failure == nil || w.Failure.Outcome == telemetry.OutcomeJob || w.inv.Origin.ByOperator() {
		return ""
	}
	return w.inv.Request.String()
}

// success renders the parts of a response with a status below 300.
func (w *result) success() render.Result {
	own := w.note // of a job that goes on
	w.note = ""
	if !w.OfJob {
		w.noteResponse()
		if w.linksBefore(w.Shown) {
			if r, ok := w.configuredLink(w.Parts); ok {
				return r
			}
		}
	}
	w.noteProjections()
	w.addNote(own)
	if w.OfJob && render.IsUnended(w.Shown, w.Response) {
		w.addNote(render.Unended)
	}
	if len(w.Shown) == 0 {
		return w.renderer().Empty(w.Response)
	}
	if !w.OfJob {
		if r, ok := w.binaryLink(w.Shown); ok {
			return r
		}
	}
	return w.renderParts(w.ceil(w.Shown))
}

// renderParts renders parts, at least one.
func (w *result) renderParts(parts []answer.Part) render.Result {
	if len(parts) > 1 {
		return w.renderer().Parts(parts)
	}
	return w.renderer().Part(parts[0])
}

// linksBefore reports whether a link may come instead of what a projection has left: if that is large. Without a projection, the whole
// decides.
func (w *result) linksBefore(shown []answer.Part) bool {
	l := w.plan.Links
	return l != nil && len(w.Parts) > 0 && (w.plan.Projection == nil || l.Over == 0 || sizeOf(shown) > l.Over)
}

// noteResponse adds notes on the response itself.
func (w *result) noteResponse() {
	if render.IsUnended(w.Parts, w.Response) {
		w.addNote(render.Unended)
	}
	for i := range w.Parts {
		if w.Parts[i].UndeclaredHTML {
			w.addNote(render.UndeclaredHTML)
		}
	}
}

// noteProjections adds notes on what the projection has left out.
func (w *result) noteProjections() {
	for i := range w.Projected {
		p := &w.Projected[i]
		switch {
		case p.Answer == nil:
			w.addNote(p.Note)
		case p.Failed != nil:
			w.addNote(fmt.Sprintf("The call took effect: the service answered %s with %d bytes. Do not repeat it. The answer %s.",
				render.StatusText(w.Response.StatusCode), sizeOf(w.Parts), p.NotShown()))
			if uri := w.wholeURI(true); uri != "" {
				w.addNote("For the answer, read the resource " + uri + ".")
			}
		default:
			w.addNote(p.Answer.Note(w.waysToTheRest(p.Answer, p.Size)))
		}
	}
}

// notProjected is the text for a model whose call changed nothing, and whose projection could not be made.
func (w *result) notProjected() string {
	ways := w.waysToTheWhole()
	if len(ways) == 0 {
		ways = []string{"ask for less by other arguments"}
	}
	return fmt.Sprintf("The service answered %s with %d bytes. The answer %s. To get it, %s; if that does not help, the operator has to change the rule's result.select.",
		render.StatusText(w.Response.StatusCode), sizeOf(w.Parts), w.Projected[len(w.Projected)-1].NotShown(), strings.Join(ways, ", or "))
}

// addNote adds a sentence to what is given beside the response.
func (w *result) addNote(text string) {
	if w.note != "" && text != "" {
		w.note += " "
	}
	w.note += text
}

// renderer returns the renderer of the result.
func (w *result) renderer() *render.Renderer {
	w.rendered = newRenderer(w.Outcome)
	w.rendered.Headers, w.rendered.Note = w.headers.Text, w.noteWithUnsent()
	return &w.rendered
}

// Renderer returns the renderer of the response of an outcome, without headers and notes.
func Renderer(out *call.Outcome) *render.Renderer {
	r := newRenderer(out)
	return &r
}

func newRenderer(out *call.Outcome) render.Renderer {
	inv := out.Invocation()
	p := inv.Plan()
	r := render.Renderer{
		API: p.Tool.API, Tool: p.Tool.Name, Title: p.Tool.Title, Revision: inv.Caller.Protocol.Revision, Structured: structured(inv), ShortText: p.ShortText,
		Redactor: out.Redactor(), Target: out.Target(), Base: p.Base, Arguments: out.Arguments(),
	}
	if p.Resource != nil && p.Elicitation == nil { // input of the user is not for the model to read
		r.URI = &p.Resource.URI
	}
	return r
}

// structured reports whether the client was told an output schema, so that it expects structuredContent (D8).
func structured(inv *call.Invocation) bool {
	return inv.Tool.Definition().Structured() && catalog.FeaturesOf(inv.Caller.Protocol.Revision).OutputSchema
}

// readHeaders prepares the result's members and text about the headers of the response.
func (w *result) readHeaders() {
	p := w.plan
	w.headers = p.ResponseHeaders.Read(render.Exchange{
		Response: w.Response, Declared: p.Operation.Answers.Headers(w.Response.StatusCode), Target: w.Target(), Redactor: w.Redactor(), Sensitive: p.Sensitive,
		Location: w.Location(),
	})
}

// noteWithUnsent returns the note, after one on the members of the request body that were not sent: models don't see _meta.
func (w *result) noteWithUnsent() string {
	_, pointers := w.Dropped()
	unsent := render.Unsent(pointers)
	if unsent == "" || w.note == "" {
		return unsent + w.note
	}
	return unsent + " " + w.note
}

// Fit returns the parts of an outcome as they are shown in a prompt, within a number of tokens and the ceiling on binary data, a note on
// what they lack, "" if they are whole, and an upper bound of the tokens of both. There is no limit if most is 0.
func (r Results) Fit(out *call.Outcome, most int) (shown []answer.Part, note string, tokens int) {
	w := r.of(out, "")
	shown = out.Parts
	if limit := w.ceiling().Binary; limit > 0 && binarySize(shown) > limit {
		shown = w.linkBinary(shown, limit)
		for i := range shown {
			if shown[i].Kind != out.Parts[i].Kind {
				shown[i].MediaType = "text/plain"
			}
		}
	}
	bound := w.beside().atMost(shown)
	if most == 0 || bound <= most {
		return shown, "", bound
	}
	shown, note, _ = w.fit(shown, most)
	return shown, note, most
}

// sizeOf returns the number of bytes in parts.
func sizeOf(parts []answer.Part) (size int) {
	for i := range parts {
		size += len(parts[i].Data)
	}
	return size
}
