package readiness

import (
	"context"
	"fmt"

	"drawbridge/openapi"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/proof"
)

// A Fix is an overlay that mends a document, as it was proved.
type Fix struct {
	// Data is the overlay in YAML; nil if there is nothing to change.
	Data []byte
	// Changes are the changes in it, of which Drafts were written by a model.
	Changes, Drafts int
	// Dropped are the reasons why changes were left out, each a line.
	Dropped []string
	// Settings are lines for the configuration: what an overlay can't say, each a line of YAML.
	Settings []string
	// After is the assessment of the document with the overlay.
	After *Assessment
}

// A change is an action with the findings that it is for.
type change struct {
	overlay.Change
	findings []key
}

// key identifies a finding in an assessment of the same operations.
type key struct {
	operation string
	code      Code
	message   string // "" if the code is enough
}

// Fix derives an overlay from the document, adds drafts to it, and proves it: every action selects something, none
// leads to a new problem, every operation is still there, no operation has a new finding, and each finding that a
// change is for is gone. A change that fails is left out. api names the API in the lines for the configuration.
func (a *Assessment) Fix(ctx context.Context, api string, load proof.Loader, drafts []Draft) (*Fix, error) {
	f := &fixer{a: a, described: newDescribed(a)}
	f.derive()
	changes := f.changes
	for _, d := range drafts {
		changes = append(changes, d.change)
	}
	fix := &Fix{Settings: a.settings(api), After: a}
	p := proof.Proposal{Title: "Readiness of " + a.document.title, Notes: a.notes(fix.Settings)}
	for i := range changes {
		p.Changes = append(p.Changes, changes[i].Change)
	}
	after := a
	proven, err := proof.Prove(ctx, p, load, func(d *openapi.Document, api *openapi.API, tried []int) (failed map[int]string, err error) {
		if after, err = a.again(d, api); err != nil {
			return nil, err
		}
		return a.compare(after, changes, tried), nil
	})
	if err != nil {
		return nil, err
	}
	fix.Data, fix.Changes, fix.Dropped = proven.Data, len(proven.Kept), proven.Dropped
	if fix.Data != nil {
		fix.After = after
	}
	for _, i := range proven.Kept {
		if changes[i].Draft {
			fix.Drafts++
		}
	}
	return fix, nil
}

// notes returns the comments with which an overlay begins.
func (a *Assessment) notes(settings []string) []string {
	notes := []string{"Written by drawbridge score --fix. Read it, then list it in apis[].overlays."}
	if len(settings) > 0 {
		notes = append(notes, "An overlay can't make these settings; add those that are true to the configuration:")
		notes = append(notes, settings...)
	}
	return notes
}

// again assesses the same tools of the document with an overlay.
func (a *Assessment) again(d *openapi.Document, api *openapi.API) (*Assessment, error) {
	byKey := map[string]*openapi.Operation{}
	for _, op := range api.Operations {
		byKey[operationKey(op.Method, op.Path)] = op
	}
	var tools []Tool
	for _, s := range a.subjects {
		op := byKey[operationKey(s.Operation.Method, s.Operation.Path)]
		if op == nil {
			return nil, fmt.Errorf("with the overlay %s %s is no tool any more", s.Operation.Method, s.Operation.Path)
		}
		t := s.Tool
		t.Operation = op
		tools = append(tools, t)
	}
	return Assess(d, api, tools, a.skipped), nil
}

// compare returns why changes fail, by their indexes: they don't remove the findings that they are for, or lead to others.
func (a *Assessment) compare(after *Assessment, changes []change, tried []int) map[int]string {
	failed := map[int]string{}
	before, left := a.keys(), after.keys()
	worse := map[string]Code{}
	for k := range left {
		if !before[key{k.operation, k.code, ""}] {
			worse[k.operation] = k.code
		}
	}
	for _, i := range tried {
		for _, k := range changes[i].findings {
			if left[k] {
				failed[i] = fmt.Sprintf("%s of %s is still there", k.code, k.operation)
			}
			if code, ok := worse[k.operation]; ok {
				failed[i] = fmt.Sprintf("%s would have %s", k.operation, code)
			}
		}
	}
	return failed
}

// keys returns the findings, each with and without its message.
func (a *Assessment) keys() map[key]bool {
	all := map[key]bool{}
	for _, s := range a.subjects {
		for _, f := range s.findings {
			operation := operationKey(s.Operation.Method, s.Operation.Path)
			all[key{operation, f.code, ""}], all[key{operation, f.code, f.message}] = true, true
		}
	}
	return all
}
