package call

import (
	"context"
	"fmt"
	"strings"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// projectPart reduces a part of a successful answer, after everything that must not be in it was redacted. It returns the part
// that the client gets, and the projection, nil if there is nothing to project. The part that the service sent is not changed:
// links and the cache have it. The note describes a part of which no fields can be selected.
func projectPart(ctx context.Context, p *plan.Projection, fields *projection.FieldList, whole answer.Part) (part answer.Part, a *projection.Answer, note string) {
	if p.Select == nil && fields == nil && p.Limits == (projection.Limits{}) {
		return whole, nil, ""
	}
	part = whole
	if part.Kind == answer.Text { // it was not read as JSON, for lack of a schema
		if data, ok := projection.Structure(part.Data); ok {
			part.Kind, part.Data = answer.JSON, data
		}
	}
	if part.Kind != answer.JSON {
		return projectOther(p, fields, whole)
	}
	projected := p.Apply(ctx, part.Data, part.Wrapped, fields)
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
func projectOther(p *plan.Projection, fields *projection.FieldList, whole answer.Part) (part answer.Part, a *projection.Answer, note string) {
	if p.Select != nil && !whole.Declared {
		return whole, &projection.Answer{Failed: projection.ErrNotJSON}, ""
	}
	if p.Select != nil || fields != nil {
		note = "The answer is not JSON, so no fields of it could be selected."
	}
	part = whole
	if part.Kind != answer.Text {
		return part, nil, note
	}
	projected := projection.Answer{}
	if part.Data, projected.Cuts = p.Limits.ApplyText(part.Data); len(projected.Cuts) == 0 {
		return whole, nil, note
	}
	projected.Data = part.Data
	return part, &projected, note
}

// unselected is what becomes of an answer that the expression of the operator can't be applied to. The answer as it is may be much
// larger than the selected fields, and have what the operator left out, so nothing of it is shown. A call that changed nothing is a
// failure, and can be made again with other arguments. Any other call took effect: its result is no error, as a model would repeat it, and
// has an empty object, which fits every output schema.
func (w *resultWriter) unselected(a *projection.Answer, size, status int) (shown []answer.Part, note string, failed error) {
	why := fmt.Sprintf("is not shown, because the fields that the operator selects could not be selected: the expression %v", a.Failed)
	if w.Plan.Safe {
		ways := w.waysToTheWhole()
		if len(ways) == 0 {
			ways = []string{"ask for less by other arguments"}
		}
		return nil, "", &Failure{Outcome: telemetry.OutcomeProjection, Cause: fmt.Errorf("select: the expression %w", a.Failed), Text: fmt.Sprintf(
			"The service answered %s with %d bytes. The answer %s. To get it, %s; if that does not help, the operator has to change the rule's result.select.",
			render.StatusText(status), size, why, strings.Join(ways, ", or "))}
	}
	note = fmt.Sprintf("The call took effect: the service answered %s with %d bytes. Do not repeat it. The answer %s.", render.StatusText(status), size, why)
	if uri := w.wholeURI(true); uri != "" {
		note += " For the answer, read the resource " + uri + "."
	}
	return []answer.Part{{Kind: answer.JSON, Data: []byte("{}")}}, note, nil
}

// sizeOf returns the number of bytes in parts.
func sizeOf(parts []answer.Part) (size int) {
	for i := range parts {
		size += len(parts[i].Data)
	}
	return size
}
