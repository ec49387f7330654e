package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/drift"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// violation describes how a fault violates the schema of the arguments. It has no value of the caller.
type violation struct {
	keyword string // see [schema.Fault]
	missing string
	wants   jsonscan.Kinds
	got     jsonscan.Kind // 0 if the fault is about a value that is missing
}

func violationOf(args []byte, f schema.Fault) violation {
	return violation{f.Keyword, f.Missing, f.Wants, jsonscan.KindOf(jsonscan.At(args, f.Pointer))}
}

// Differences returns how the refused arguments differ from the document, without duplicates. Arguments that are not an object have none.
func (e *ArgumentError) Differences() []drift.Difference {
	if e.operation == nil {
		return nil
	}
	return e.operation.differences(e.Faults, drift.ArgumentType)
}

// Tolerated returns how arguments that are sent differ from the document, see [Built].Mistyped.
func (o *Operation) Tolerated(mistyped []Fault) []drift.Difference {
	return o.differences(mistyped, drift.ArgumentSent)
}

// differences returns the differences that faults are. typed is the kind of those about a type.
func (o *Operation) differences(faults []Fault, typed drift.Kind) (all []drift.Difference) {
	input := o.inputSchema()
	for _, f := range faults {
		if f.Pointer == "" && f.keyword == "" {
			continue
		}
		d := drift.Difference{Kind: drift.ArgumentValue}
		pointer := f.Pointer
		switch f.keyword {
		case "type":
			d.Kind, d.Got = typed, f.got.String()
		case "required":
			d.Kind, pointer = drift.ArgumentMissing, pointer+jsonscan.PointerTo(f.missing)
		case "additionalProperties":
			d.Kind = drift.ArgumentUnknown
		}
		at, declared := drift.InSchema(input, pointer)
		d.Pointer = at
		if f.keyword == "type" {
			if d.Declared = strings.Join(declared.Allowed(), " or "); d.Declared == "" {
				d.Declared = drift.Type(f.wants, false)
			}
		}
		if f.keyword == "" && strings.HasSuffix(at, "/"+drift.Any) && declared == nil {
			d.Kind = drift.ArgumentUnknown // the name that the parameter has in the request, if the argument's is another
		}
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}
