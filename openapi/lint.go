package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

// Report lists violations of the standard in the document after repair, as kin-openapi finds them. It is advice for the
// author of a document and never decides what is served: more than half of all public documents have entries here. It
// takes seconds on large documents, and covers documents of one file only. The context ends it between its steps.
func (d *Document) Report(ctx context.Context) (found []Problem) {
	root := d.set.Root()
	note := func(err error) {
		if err != nil {
			found = append(found, problemAt(root, codeStandard, "%v", err))
		}
	}
	defer func() {
		if r := recover(); r != nil {
			note(fmt.Errorf("the report could not be made: %v", r))
		}
	}()
	if len(d.set.Files()) > 1 {
		note(errors.New("the report speaks of documents of one file only"))
		return found
	}
	doc, err := d.typed(ctx, root.AppendJSON(nil))
	if err != nil || ctx.Err() != nil {
		note(err)
		return found
	}
	// Invalid examples and defaults would be most of the report, and have no effect here; patterns are ECMA 262, which
	// Go does not compile.
	err = doc.Validate(ctx, openapi3.EnableMultiError(), openapi3.DisableExamplesValidation(),
		openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableSchemaPatternValidation())
	var several openapi3.MultiError
	if errors.As(err, &several) {
		for _, e := range several {
			note(e)
		}
		return found
	}
	note(err)
	return found
}

func (d *Document) typed(ctx context.Context, text []byte) (*openapi3.T, error) {
	loader := openapi3.NewLoader() // refuses external references
	loader.Context = ctx
	if d.dialect != swagger2 {
		return loader.LoadFromData(text)
	}
	var old openapi2.T
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	return openapi2conv.ToV3WithLoader(&old, loader, nil)
}
