package proof

import (
	"context"
	"errors"
	"slices"

	"drawbridge/openapi"
	"drawbridge/openapi/overlay"
)

// Location is the name under which a [Loader] is given the overlay: positions of problems in it have this file.
const Location = "overlay.yaml"

// A Loader loads the document once more with one further overlay, under the name [Location], after those that it has. It must read the
// same bytes each time.
type Loader func(ctx context.Context, data []byte) (*openapi.Document, *openapi.API, error)

// A Judge looks at the document with an overlay that has applied without a problem, and returns the reasons why changes fail, by their
// indexes. tried are the indexes of the changes that are in the overlay. An error is that of the overlay as a whole.
type Judge func(d *openapi.Document, api *openapi.API, tried []int) (failed map[int]string, err error)

// Proposal is an overlay to be proved.
type Proposal struct {
	Title   string
	Notes   []string // comments at its beginning
	Changes []overlay.Change
}

// Proven is what is left of a proposal.
type Proven struct {
	Data    []byte   // the overlay in YAML; nil if no change is left
	Kept    []int    // indexes of the changes in it
	Dropped []string // reasons why the others were left out, each a line
}

// maxRounds is how often an overlay is tried, each time without the changes that have failed.
const maxRounds = 8

// Prove tries the changes of a proposal together, and leaves out those that fail.
func Prove(ctx context.Context, p Proposal, load Loader, judge Judge) (*Proven, error) {
	proven := &Proven{}
	tried := make([]int, len(p.Changes))
	for i := range tried {
		tried[i] = i
	}
	for range maxRounds {
		if len(tried) == 0 {
			return proven, nil
		}
		all := make([]overlay.Change, len(tried))
		for i, at := range tried {
			all[i] = p.Changes[at]
		}
		written := overlay.Write(p.Title, p.Notes, all)
		failed, err := try(ctx, written, tried, load, judge)
		if err != nil {
			return nil, err
		}
		if len(failed) == 0 {
			proven.Data, proven.Kept = written.Data, tried
			return proven, nil
		}
		var left []int
		for _, i := range tried {
			if reason, ok := failed[i]; ok {
				proven.Dropped = append(proven.Dropped, p.Changes[i].Target+": "+reason)
			} else {
				left = append(left, i)
			}
		}
		tried = left
	}
	return nil, errors.New("the overlay could not be proved: with each change left out another one fails")
}

// try loads the document with an overlay and returns the reasons why changes fail, by their indexes.
func try(ctx context.Context, written overlay.Written, tried []int, load Loader, judge Judge) (map[int]string, error) {
	failed := map[int]string{}
	fail := func(line int, reason string) { // records the failure of the change that a line of the overlay belongs to
		i, exact := slices.BinarySearch(written.Lines, line)
		if !exact {
			i--
		}
		if i >= 0 {
			failed[tried[i]] = reason
		}
	}
	doc, api, err := load(ctx, written.Data)
	if err != nil {
		return failed, blame(err, failed, fail)
	}
	for _, action := range doc.Overlays {
		if action.Position.File == Location && action.Matched == 0 {
			fail(action.Position.Line, "it selects nothing")
		}
	}
	for _, p := range api.Problems {
		if p.Position.File == Location {
			fail(p.Position.Line, p.Message)
		}
	}
	if len(failed) > 0 { // the judge could attribute their effects to other changes
		return failed, nil
	}
	return judge(doc, api, tried)
}

// blame records the changes that an error of a load is about, by fail. It returns the error if it is about none of them.
func blame(err error, failed map[int]string, fail func(line int, reason string)) error {
	var fault overlay.Fault
	var faults overlay.Faults
	switch {
	case errors.As(err, &fault):
		faults = overlay.Faults{fault}
	case !errors.As(err, &faults):
		return err
	}
	for _, f := range faults {
		if f.Position.File == Location {
			fail(f.Position.Line, f.Message)
		}
	}
	if len(failed) == 0 {
		return err
	}
	return nil
}
