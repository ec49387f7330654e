package call

import (
	"context"
	"fmt"
	"slices"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// projectPart reduces a part of a successful answer, after everything that must not be in it was redacted. It returns the part
// that the client gets, and the projection, nil if there is nothing to project. The part that the service sent is not changed:
// links and the cache have it. The note describes a part of which no fields can be selected.
func projectPart(ctx context.Context, r projection.Rule, fields *projection.FieldList, whole answer.Part) (part answer.Part, a *projection.Answer, note string) {
	if r.IsEmpty() && fields == nil {
		return whole, nil, ""
	}
	part = whole
	if part.Kind == answer.Text { // it was not read as JSON, for lack of a schema
		if data, ok := projection.Structure(part.Data); ok {
			part.Kind, part.Data, part.Wrapped = answer.JSON, data, false
		}
	}
	if part.Kind != answer.JSON {
		return projectOther(r, fields, whole)
	}
	projected := r.Apply(ctx, part.Data, part.Wrapped, fields)
	part.Data, part.Wrapped = projected.Data, projected.Wrapped
	if projected.Selected {
		part.Drift, part.DuplicateName = "", false
		if projected.Mismatch != nil {
			part.Drift = "the result of the expression in select differs from its schema"
		}
	}
	return part, &projected, ""
}

// projectOther is projectPart for a part that is not JSON. Text is cut at the limit on tokens. An expression can't be applied, and lets
// nothing pass but media types that the document declares beside JSON.
func projectOther(r projection.Rule, fields *projection.FieldList, whole answer.Part) (part answer.Part, a *projection.Answer, note string) {
	if r.Select != nil && !whole.Declared {
		return whole, &projection.Answer{Failed: projection.ErrNotJSON}, ""
	}
	part = whole
	projected := projection.Answer{}
	if fields != nil && r.Select == nil && part.Kind == answer.Text {
		if lines, sliced, ok := fields.Lines(part.Data); ok {
			part.Data, projected.Sliced = lines, []projection.Sliced{sliced}
			part.Data, projected.Cuts = r.Limits.ApplyText(part.Data)
			projected.Data = part.Data
			return part, &projected, ""
		}
	}
	if r.Select != nil || fields != nil {
		note = "The answer is not JSON, so no fields of it could be selected; lines of a text are selected by a slice, such as [0:50]."
	}
	if part.Kind != answer.Text {
		return part, nil, note
	}
	if part.Data, projected.Cuts = r.Limits.ApplyText(part.Data); len(projected.Cuts) == 0 {
		return whole, nil, note
	}
	projected.Data = part.Data
	return part, &projected, note
}

// project projects the parts of the outcome. The result is the failure of a call that changed nothing and whose projection can't be made,
// and can be made again with other arguments. Any other call took effect: its result is no error, as a model would repeat it, and has an
// empty object, which fits every output schema. The response as it is may be much larger than the selected fields, and have what the
// operator left out, so nothing of it is shown either way.
func (c *Call) project(ctx context.Context) *Failure {
	o := &c.out
	o.Shown = o.Parts
	p := c.Plan.Projection
	if p == nil {
		if c.Fields == nil {
			return nil
		}
		p = &plan.Projection{} // the fields of the model are all that is selected
	}
	o.Shown, o.Projected = make([]answer.Part, len(o.Parts)), make([]Projected, len(o.Parts))
	order := shortestFirst(o.Parts)
	share := projection.Share{Rule: p.Rule, Parts: len(o.Parts)}
	for n := range o.Parts {
		i := n
		if order != nil {
			i = order[n]
		}
		part, a, note := projectPart(ctx, share.Next(), c.Fields, o.Parts[i])
		o.Projected[i] = Projected{a, note}
		if a != nil && a.Failed != nil {
			o.Projected = o.Projected[i : i+1]
			if c.Plan.Safe {
				return &Failure{Outcome: telemetry.OutcomeProjection, Cause: fmt.Errorf("select: the expression %w", a.Failed), Text: "The answer " + o.Projected[0].NotShown() + "."}
			}
			o.Shown = []answer.Part{{Kind: answer.JSON, Data: []byte("{}")}}
			return nil
		}
		if part.Kind == answer.JSON || part.Kind == answer.Text { // other data has no tokens
			share.Take(part.Data)
		}
		if o.Shown[i] = part; a != nil {
			c.Plan.Metrics.Results.Projected(o.Parts[i].Data, len(part.Data))
		}
	}
	return nil
}

// shortestFirst returns the indices of parts in the order in which they share the limit on tokens, so that short ones stay whole; nil if
// there is only one.
func shortestFirst(parts []answer.Part) []int {
	if len(parts) < 2 {
		return nil
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(parts[a].Data) - len(parts[b].Data) })
	return order
}
