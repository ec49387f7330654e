package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/drift"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/proof"
	"drawbridge/openapi/tree"
)

// An Observed difference of an operation is one that calls have shown.
type Observed struct {
	Method, Path string
	drift.Difference
	// Text describes it with how often it occurred, in one line.
	Text string
}

// A DriftFix is an overlay that makes a document declare what calls have shown, as it was proved.
type DriftFix struct {
	// Data is the overlay in YAML; nil if there is nothing to change.
	Data []byte
	// Mends say for each observed difference what the overlay does about it, or why it does nothing.
	Mends []Mend
	// Dropped are the reasons why changes were left out, each a line.
	Dropped []string
	// Settings are lines for the configuration that send arguments of another type without a change of the document.
	Settings []string
}

// A Mend is what an overlay does about one difference.
type Mend struct {
	Mended bool
	Text   string // what is done, or why nothing is
}

// FixDrift derives an overlay from observed differences and proves it: every action selects something, none leads to a new problem, every
// operation is still there, and the document declares what was observed. api names the API in the lines for the configuration.
//
// An overlay widens: a document that declares more refuses less, and promises less. So a person has to decide whether the service or the
// document is right.
func FixDrift(ctx context.Context, d *openapi.Document, compiled *openapi.API, api string, observed []Observed, load proof.Loader) (*DriftFix, error) {
	m := newMender(d, compiled, observed)
	m.derive()
	fix := &DriftFix{Mends: m.mends, Settings: m.settings(api)}
	p := proof.Proposal{Title: "Drift of " + d.Title, Notes: m.notes(fix.Settings)}
	for _, c := range m.changes {
		p.Changes = append(p.Changes, c.Change)
	}
	proven, err := proof.Prove(ctx, p, load, m.judge)
	if err != nil {
		return nil, err
	}
	fix.Data, fix.Dropped = proven.Data, proven.Dropped
	for i, c := range m.changes {
		if slices.Contains(proven.Kept, i) {
			continue
		}
		for _, of := range c.observed {
			fix.Mends[of] = Mend{Text: "no overlay that was proved"}
		}
	}
	return fix, nil
}

// notes returns the comments with which an overlay begins.
func (m *mender) notes(settings []string) []string {
	notes := []string{
		"Written by drawbridge drift --overlay. Each action makes the document declare what calls have shown. Delete those where the document is right,",
		"and the service or the caller is not; then list the file in apis[].overlays.",
	}
	if len(settings) > 0 {
		notes = append(notes, "Instead of changing what the document declares of JSON bodies, the gateway can send other types:")
		notes = append(notes, settings...)
	}
	return notes
}

// settings returns lines for the configuration: operations whose bodies were refused for their types, to be validated leniently.
func (m *mender) settings(api string) (lines []string) {
	ids := map[string]int{}
	for _, op := range m.operations {
		ids[op.ID]++
	}
	for _, o := range m.observed {
		s := m.subject(o)
		if o.Kind != drift.ArgumentType || s == nil || !m.inBody(s, o.Pointer) || len(lines) == maxSelected {
			continue
		}
		if match := s.selector(api, ids[s.Operation.ID] == 1); match != "" {
			if line := "  - {match: " + match + ", set: {validation: lenient}}"; !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) > 0 {
		lines = slices.Insert(lines, 0, "rules:")
	}
	return lines
}

// inBody reports whether a place in the arguments is a member of the body.
func (m *mender) inBody(s *subject, pointer string) bool {
	first, rest := jsonscan.CutToken(pointer)
	at := m.body(s, first)
	return at != nil && (at != s.body.schema || rest != "")
}

// judge returns why changes fail, by their indexes: another part of their mend has failed, or the document with the overlay still does not
// declare what was observed.
func (m *mender) judge(_ *openapi.Document, api *openapi.API, tried []int) (map[int]string, error) {
	after := operationsOf(api)
	for key := range m.operations {
		if after[key] == nil {
			return nil, fmt.Errorf("with the overlay %s is no tool any more", key)
		}
	}
	failed := map[int]string{}
	for _, i := range tried {
		c := m.changes[i]
		if c.with >= 0 && !slices.Contains(tried, c.with) {
			failed[i] = "it belongs to another action, which fails"
		}
		for _, at := range c.observed {
			if o := m.observed[at]; differs(after[operationKey(o.Method, o.Path)], o.Difference) {
				failed[i] = o.Text + ": it is still so"
			}
		}
	}
	return failed, nil
}

// differs reports whether an operation still differs from what was observed.
func differs(op *openapi.Operation, d drift.Difference) bool {
	above, name := lastToken(d.Pointer)
	switch d.Kind {
	case drift.ArgumentType, drift.ArgumentSent:
		_, at := drift.InSchema(jsonschema.Parse(op.Input), d.Pointer)
		allowed := at.Allowed()
		return len(allowed) > 0 && !slices.Contains(allowed, d.Got)
	case drift.ArgumentMissing:
		_, at := drift.InSchema(jsonschema.Parse(op.Input), above)
		return slices.ContainsFunc(at.Members(), func(m jsonschema.Member) bool { return m.Name == name && m.Required })
	case drift.AnswerType:
		_, at := drift.InShape(op.Answers.Shape(), d.Pointer)
		kind := kindNamed(d.Got)
		return at != nil && (!at.Kinds.Has(kind) || kind == jsonscan.Number && at.Integer)
	case drift.AnswerMissing:
		_, at := drift.InShape(op.Answers.Shape(), above)
		return at != nil && slices.ContainsFunc(at.Properties, func(p jsonscan.Property) bool { return p.Name == name && p.Required })
	case drift.AnswerStatus, drift.AnswerMediaType:
		status, media := statusOf(d)
		_, differs := op.Answers.Undeclared(status, media)
		return differs
	case drift.ArgumentUnknown, drift.ArgumentValue:
	}
	return false
}

// kindNamed returns the kind of that name, or 0.
func kindNamed(name string) jsonscan.Kind {
	for _, k := range []jsonscan.Kind{jsonscan.Null, jsonscan.Bool, jsonscan.Number, jsonscan.String, jsonscan.Array, jsonscan.Object} {
		if k.String() == name {
			return k
		}
	}
	return 0
}

// lastToken returns the pointer without its last token, and that token, unescaped.
func lastToken(pointer string) (above, token string) {
	i := max(0, strings.LastIndexByte(pointer, '/'))
	return pointer[:i], jsonscan.UnescapeToken(strings.TrimPrefix(pointer[i:], "/"))
}

// mender derives changes from observed differences.
type mender struct {
	document   *document
	standard   string
	operations map[string]*openapi.Operation
	observed   []Observed
	mends      []Mend
	changes    []mendChange
	known      map[string]int // changes by target and value
	widened    map[*tree.Node]*widening
	order      []*tree.Node // of widened
	subjects   map[string]*subject
}

// mendChange is a change with the observed differences that it is for.
type mendChange struct {
	overlay.Change
	observed []int
	with     int // the change without which this one is not to be made; -1 if there is none
}

func newMender(d *openapi.Document, api *openapi.API, observed []Observed) *mender {
	return &mender{
		document: newDocument(d), standard: d.Standard, operations: operationsOf(api), observed: observed, mends: make([]Mend, len(observed)),
		known: map[string]int{}, widened: map[*tree.Node]*widening{}, subjects: map[string]*subject{},
	}
}

func operationsOf(api *openapi.API) map[string]*openapi.Operation {
	all := map[string]*openapi.Operation{}
	for _, op := range api.Operations {
		all[operationKey(op.Method, op.Path)] = op
	}
	return all
}

// subject returns the operation of a difference; nil if the document has none.
func (m *mender) subject(o Observed) *subject {
	key := operationKey(o.Method, o.Path)
	s, known := m.subjects[key]
	if op := m.operations[key]; !known && op != nil {
		s = newSubject(m.document, Tool{Operation: op})
		m.subjects[key] = s
	}
	return s
}
