package call

import (
	"context"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// projectPart reduces a part of a successful answer, after everything that must not be in it was redacted. It returns the part
// that the client gets, and the projection, nil if there is nothing to project. The part that the service sent is not changed:
// links and the cache have it. The note is what is said of a part that can't be projected.
func projectPart(ctx context.Context, p *plan.Projection, fields *projection.FieldList, whole answer.Part) (part answer.Part, a *projection.Answer, note string) {
	if p.Select == nil && fields == nil && p.Limits == (projection.Limits{}) {
		return whole, nil, ""
	}
	part = whole
	if part.Kind == answer.Text && isStructure(part.Data) { // no schema, so that it was not read as JSON
		if data, ok := projection.Compact(part.Data); ok {
			part.Kind, part.Data = answer.JSON, data
		}
	}
	if part.Kind != answer.JSON {
		if p.Select != nil || fields != nil {
			note = "The answer is not JSON, so no fields of it could be selected: it is as the service gave it."
		}
		return whole, nil, note
	}
	projected := p.Apply(ctx, part.Data, part.Wrapped, fields)
	part.Data, part.Wrapped = projected.Data, projected.Wrapped
	switch {
	case projected.Selected:
		part.Drift, part.DuplicateName = "", false
		if projected.Mismatch != nil {
			part.Drift = "the result of the expression in select differs from its schema"
		}
	case projected.Failed != nil && p.Shape != nil: // the published schema is that of the fields
		part.Drift, part.DuplicateName, part.Declared = "the expression in select was not applied", false, true
	}
	return part, &projected, ""
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
	kind := jsonscan.KindOf(text)
	return kind == jsonscan.Object || kind == jsonscan.Array
}
