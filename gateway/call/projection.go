package call

import (
	"context"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// takeFields takes the list of fields that the model wants from the arguments of a call. A list that is wrong fails the call
// when its arguments are validated.
func (c *Call) takeFields() {
	var err error
	if c.Request.Arguments, c.fields, err = c.Plan.Projection.TakeFields(c.Request.Arguments); err != nil {
		c.fieldsFault = &Failure{Outcome: telemetry.OutcomeArguments, Text: "The arguments are wrong, and nothing was sent. " + plan.SelectArgument + ": " + err.Error() +
			". Write paths of fields separated by commas, such as items.id,items.owner.name, or leave it out."}
	}
}

// project reduces a part of a successful answer, after everything that must not be in it was redacted. It returns the part
// that the client gets, and what is said of it. The part that the service sent is not changed: links and the cache have it.
func (c *Call) project(ctx context.Context, whole answer.Part) (part answer.Part, note string) {
	p := c.Plan.Projection
	if p == nil || p.Select == nil && c.fields == nil && p.Limits == (projection.Limits{}) {
		return whole, ""
	}
	part = whole
	if part.Kind == answer.Text && isStructure(part.Data) { // no schema, so that it was not read as JSON
		if data, ok := projection.Compact(part.Data); ok {
			part.Kind, part.Data = answer.JSON, data
		}
	}
	if part.Kind != answer.JSON {
		if p.Select == nil && c.fields == nil {
			return whole, ""
		}
		return whole, "The answer is not JSON, so no fields of it could be selected: it is as the service gave it."
	}
	a := p.Apply(ctx, part.Data, part.Wrapped, c.fields)
	c.Plan.Metrics.Results.Projected(part.Data, len(a.Data))
	part.Data, part.Wrapped = a.Data, a.Wrapped
	switch {
	case a.Selected:
		part.Drift, part.DuplicateName = "", false
		if a.Mismatch != nil {
			part.Drift = "the result of the expression in select differs from its schema"
		}
	case a.Failed != nil && p.Shape != nil: // the published schema is that of the fields
		part.Drift, part.DuplicateName, part.Declared = "the expression in select was not applied", false, true
	}
	return part, a.Note(c.waysToTheRest(&a, len(whole.Data)))
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

// sizeOf returns the number of bytes in parts.
func sizeOf(parts []answer.Part) (size int) {
	for i := range parts {
		size += len(parts[i].Data)
	}
	return size
}

// isStructure reports whether a text may be a JSON object or array.
func isStructure(text []byte) bool {
	switch jsonscan.KindOf(text) {
	case jsonscan.Object, jsonscan.Array:
		return true
	}
	return false
}

// waysToTheRest returns how the client gets what a projection has left out of an answer of a size.
func (c *Call) waysToTheRest(a *projection.Answer, size int) (ways []string) {
	p := c.Plan.Projection
	if len(a.Cuts) > 0 {
		if p.Argument && c.fields == nil {
			ways = append(ways, "name the fields that you need in "+plan.SelectArgument)
		}
		if p.Smaller != "" {
			ways = append(ways, p.Smaller)
		}
	}
	l := c.Plan.Links
	if uri := c.wholeURI(len(a.Cuts) > 0 || l != nil && l.Over > 0 && size > l.Over); uri != "" {
		ways = append(ways, "read the resource "+uri)
	}
	return ways
}

// wholeURI returns a URI at which the client can read the whole answer; "" if there is none. A sealed link is long: it is made
// only if sealed is set.
func (c *Call) wholeURI(sealed bool) string {
	if c.captured != nil || c.Plan.Elicitation != nil || c.Request.Revision < "2025-06-18" {
		return ""
	}
	if r := c.Plan.Resource; c.Plan.Links != nil && (sealed || r != nil && r.ExpressesAll(c.args)) {
		uri, lasts := c.linkURI()
		return uri + lasts
	}
	return ""
}

// projectAll projects the parts of an answer that was buffered, and adds what is said of them to the note.
func (c *Call) projectAll(ctx context.Context, parts []answer.Part) []answer.Part {
	if c.Plan.Projection == nil {
		return parts
	}
	shown := make([]answer.Part, len(parts))
	for i := range parts {
		var note string
		shown[i], note = c.project(ctx, parts[i])
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
