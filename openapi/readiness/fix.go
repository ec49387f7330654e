package readiness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"drawbridge/openapi"
	"drawbridge/openapi/overlay"
)

// Location is the name under which a [Loader] is given the overlay: positions of problems in it have this file.
const Location = "overlay.yaml"

// A Loader loads the assessed document once more with one further overlay, under the name [Location], after those that
// it has. It must read the same bytes each time.
type Loader func(ctx context.Context, data []byte) (*openapi.Document, *openapi.API, error)

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

// maxRounds is how often an overlay is tried, each time without the changes that have failed.
const maxRounds = 8

// Fix derives an overlay from the document, adds drafts to it, and proves it: every action selects something, none
// leads to a new problem, every operation is still there, no operation has a new finding, and each finding that a
// change is for is gone. A change that fails is left out. api names the API in the lines for the configuration.
func (a *Assessment) Fix(ctx context.Context, api string, load Loader, drafts []Draft) (*Fix, error) {
	f := &fixer{a: a, described: newDescribed(a)}
	f.derive()
	changes := f.changes
	for _, d := range drafts {
		changes = append(changes, d.change)
	}
	fix := &Fix{Settings: a.settings(api), After: a}
	for range maxRounds {
		if len(changes) == 0 {
			return fix, nil
		}
		all := make([]overlay.Change, len(changes))
		for i := range changes {
			all[i] = changes[i].Change
		}
		written := overlay.Write("Readiness of "+a.document.title, a.notes(fix.Settings), all)
		after, failed, err := a.prove(ctx, load, changes, written)
		if err != nil {
			return nil, err
		}
		if len(failed) == 0 {
			fix.Data, fix.Changes, fix.After = written.Data, len(changes), after
			for _, c := range changes {
				if c.Draft {
					fix.Drafts++
				}
			}
			return fix, nil
		}
		var kept []change
		for i, c := range changes {
			if reason, ok := failed[i]; ok {
				fix.Dropped = append(fix.Dropped, c.Target+": "+reason)
			} else {
				kept = append(kept, c)
			}
		}
		changes = kept
	}
	return nil, errors.New("the overlay could not be proved: with each change left out another one fails")
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

// prove loads the document with an overlay and returns the reasons why changes fail, by their indexes.
func (a *Assessment) prove(ctx context.Context, load Loader, changes []change, written overlay.Written) (after *Assessment, failed map[int]string, err error) {
	at := func(line int) int { // the change to which a line of the overlay belongs
		i, exact := slices.BinarySearch(written.Lines, line)
		if !exact {
			i--
		}
		return i
	}
	failed = map[int]string{}
	doc, api, err := load(ctx, written.Data)
	if err != nil {
		return nil, failed, blame(err, at, failed)
	}
	for _, action := range doc.Overlays {
		if action.Position.File == Location && action.Matched == 0 {
			failed[at(action.Position.Line)] = "it selects nothing"
		}
	}
	for _, p := range api.Problems {
		if p.Position.File == Location {
			failed[at(p.Position.Line)] = p.Message
		}
	}
	byKey := map[string]*openapi.Operation{}
	for _, op := range api.Operations {
		byKey[operationKey(op.Method, op.Path)] = op
	}
	var tools []Tool
	for _, s := range a.subjects {
		op := byKey[operationKey(s.Operation.Method, s.Operation.Path)]
		if op == nil {
			return nil, failed, fmt.Errorf("with the overlay %s %s is no tool any more", s.Operation.Method, s.Operation.Path)
		}
		t := s.Tool
		t.Operation = op
		tools = append(tools, t)
	}
	after = Assess(doc, api, tools, a.skipped)
	if len(failed) == 0 { // else a change may be blamed for what another one does
		a.compare(after, changes, failed)
	}
	return after, failed, nil
}

// blame returns nil if an error of a load is that of a change, which it records.
func blame(err error, at func(int) int, failed map[int]string) error {
	var fault overlay.Fault
	var faults overlay.Faults
	switch {
	case errors.As(err, &fault):
		faults = overlay.Faults{fault}
	case !errors.As(err, &faults):
		return err
	}
	for _, f := range faults {
		if i := at(f.Position.Line); f.Position.File == Location && i >= 0 {
			failed[i] = f.Message
		}
	}
	if len(failed) == 0 {
		return err
	}
	return nil
}

// compare finds the changes that don't remove the findings that they are for, or lead to others.
func (a *Assessment) compare(after *Assessment, changes []change, failed map[int]string) {
	before, left := a.keys(), after.keys()
	worse := map[string]Code{}
	for k := range left {
		if !before[key{k.operation, k.code, ""}] {
			worse[k.operation] = k.code
		}
	}
	for i, c := range changes {
		for _, k := range c.findings {
			if left[k] {
				failed[i] = fmt.Sprintf("%s of %s is still there", k.code, k.operation)
			}
			if code, ok := worse[k.operation]; ok {
				failed[i] = fmt.Sprintf("%s would have %s", k.operation, code)
			}
		}
	}
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
