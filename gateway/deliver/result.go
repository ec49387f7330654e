package deliver

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// canceled is the outcome of a call whose client has left, or that the shutdown has ended.
var canceled = telemetry.Outcome(upstream.Canceled.String())

// Results turns outcomes into results. It is immutable.
type Results struct {
	// Links seals the URIs of resource links.
	Links *mcp.SealedHandles
}

// result is the result of tools/call for one outcome while it is rendered: the parts of the outcome that the client gets, headers and notes.
type result struct {
	*call.Outcome
	inv     *call.Invocation
	plan    *plan.Plan
	links   *mcp.SealedHandles // nil if the whole response can't be linked
	headers render.HeaderNotes // headers of the response that the client sees
	note    string             // for the model, beside the response; may be empty

	rendered render.Renderer // of this result; its memory holds small results
}

// deliver sends the result of an outcome to the client, with a note.
func (r Results) deliver(out *call.Outcome, note string, reply *mcp.Reply) error {
	w := r.of(out, note)
	meta, chunks := w.members()
	if id := w.requestID(); id != "" {
		reply.SetHeader(mcp.RequestIDHeader, id)
	}
	out.Rendered()
	return reply.ResultMeta(meta, chunks...)
}

// of returns the result of an outcome with a note, not rendered yet.
func (r Results) of(out *call.Outcome, note string) *result {
	return &result{Outcome: out, inv: out.Invocation(), plan: out.Invocation().Plan(), links: r.Links, note: note}
}

// Members returns the members of the result of tools/call for an outcome, as JSON text, for a task that returns them later. They have no
// links, which may have expired by then.
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
	case f != nil && f.Outcome == telemetry.OutcomeJob: // the call itself succeeded: it has started the job
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
		if note := w.requestNote(); note != "" {
			text += "\n" + note
		}
	default:
	}
	return render.Result{Chunks: render.Error(w.truncateText(text)), Meta: w.failureMeta()}
}

// texts renders the value or the texts of a tool that is no operation or, without any, the text of its failure.
func (w *result) texts() render.Result {
	if len(w.Shown) == 1 && w.Shown[0].Kind == answer.JSON && w.Failure == nil {
		return w.value()
	}
	texts := make([][]byte, len(w.Shown))
	for i := range w.Shown {
		texts[i] = w.Shown[i].Data
	}
	if w.Failure != nil && len(texts) == 0 {
		texts = [][]byte{[]byte(w.truncateText(w.Failure.Text))}
	}
	return render.Result{Chunks: render.Texts(texts, w.Failure != nil), Meta: w.failureMeta()}
}

// value renders the JSON value of a tool that is no operation, within the limits of results.
func (w *result) value() render.Result {
	parts := w.Shown
	if most := w.limits().Tokens; most > 0 && w.beside().atMost(parts) > most {
		f := newFitter(w.beside(), parts, most)
		if w.Usage.Tokens = f.measure(); w.Usage.Tokens > most {
			parts, w.note, w.Usage.Tokens = f.fit(false, func([]projection.Cut) []string { return nil })
		}
	}
	t := w.inv.Tool.Definition()
	w.rendered = render.Renderer{Tool: t.Name, Title: t.Title, Revision: w.inv.Caller.Protocol.Revision, Structured: structured(w.inv), Note: w.note}
	return w.rendered.Part(parts[0])
}

// failureMeta returns the members of _meta for a failed call: its request ID.
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
	if w.File != nil {
		w.noteResponse()
		return w.renderer().StoredFile(w.File, w.Parts[0])
	}
	own := w.note // about a job that is still running
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
	return w.renderParts(w.truncate(w.Shown))
}

// renderParts renders parts, at least one.
func (w *result) renderParts(parts []answer.Part) render.Result {
	if len(parts) > 1 {
		return w.renderer().Parts(parts)
	}
	return w.renderer().Part(parts[0])
}

// linksBefore reports whether a link may replace the projected response: if that is still large. Without a projection, configuredLink
// decides by the size of the whole response.
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
	var cuts []projection.Cut
	var sliced []projection.Sliced
	selected := false
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
			part := *p.Answer
			part.Cuts = slices.Clone(part.Cuts)
			for n, c := range part.Cuts {
				part.Cuts[n] = inPart(c, i, len(w.Projected))
			}
			w.addNote(part.Note())
			cuts, sliced, selected = append(cuts, part.Cuts...), append(sliced, part.Sliced...), selected || part.Selected
		}
	}
	w.addNote(w.restOf(selected, cuts, sliced))
}

// notProjected returns the text for the model after a safe call whose response could not be projected.
func (w *result) notProjected() string {
	ways := w.waysWithoutProjection()
	if len(ways) == 0 {
		ways = []string{"ask for less by other arguments"}
	}
	return fmt.Sprintf("The service answered %s with %d bytes. The answer %s. To get it, %s; if that does not help, the operator has to change the rule's result.select.",
		render.StatusText(w.Response.StatusCode), sizeOf(w.Parts), w.Projected[len(w.Projected)-1].NotShown(), strings.Join(ways, ", or "))
}

// addNote adds a sentence to the note.
func (w *result) addNote(text string) {
	if w.note != "" && text != "" {
		w.note += " "
	}
	w.note += text
}

// renderer returns the renderer of the result.
func (w *result) renderer() *render.Renderer {
	w.rendered = newRenderer(w.Outcome)
	w.rendered.Headers, w.rendered.Note = w.headers.Text, strings.TrimSpace(w.requestNote()+" "+w.note)
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
	if p.Resource != nil && p.Elicitation == nil { // the URI would show the model the input of the user
		r.URI = &p.Resource.URI
	}
	return r
}

// structured reports whether the client has seen an output schema, so that it expects structuredContent.
func structured(inv *call.Invocation) bool {
	return inv.Tool.Definition().Structured() && catalog.FeaturesOf(inv.Caller.Protocol.Revision).OutputSchema
}

// readHeaders sets the headers of the response that the client sees.
func (w *result) readHeaders() {
	p := w.plan
	w.headers = p.ResponseHeaders.Read(render.Exchange{
		Response: w.Response, Bodiless: len(w.Shown) == 0, Declared: p.Operation.Answers.Headers(w.Response.StatusCode), Target: w.Target(), Redactor: w.Redactor(), Sensitive: p.Sensitive,
		Location: w.Location(),
	})
}

// requestNote returns the note on members of the request's body that differ from the arguments or from the document; "" if none do. Models
// don't see _meta.
func (w *result) requestNote() string {
	_, unsent := w.Dropped()
	return strings.TrimSpace(render.Unsent(unsent) + " " + render.Mistyped(w.Outcome.Mistyped()))
}

// Fit returns the parts of an outcome for a prompt, within most tokens and the limit on binary data; a note on what is left out, or "";
// and an upper bound of the tokens of both. A most of 0 is no limit.
func (r Results) Fit(out *call.Outcome, most int) (shown []answer.Part, note string, tokens int) {
	w := r.of(out, "")
	shown = out.Parts
	if limit := w.limits().Binary; limit > 0 && binarySize(shown) > limit {
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
