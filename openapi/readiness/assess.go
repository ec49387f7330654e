package readiness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/tree"
)

// A Tool is an operation as models see it.
type Tool struct {
	Operation *openapi.Operation
	// Name is the name of the tool; "" for the id of the operation, or else its method and path.
	Name string
	// Described reports that the configuration gives the description, so that the document's texts don't count.
	Described bool
	// ReadOnly reports that the tool is known to change nothing.
	ReadOnly bool
	// Settled are arguments that the configuration hides or describes.
	Settled []string
	// ChoosesFields reports that callers can choose the members of the answer whatever the document says.
	ChoosesFields bool
	// Lenient reports that members of the body may have another type than the document declares.
	Lenient bool
}

// ToolsOf returns all operations of an API as tools without a configuration.
func ToolsOf(api *openapi.API) []Tool {
	tools := make([]Tool, len(api.Operations))
	for i, op := range api.Operations {
		tools[i] = Tool{Operation: op}
	}
	return tools
}

// An Assessment is the report on a document, with what is needed to mend it.
type Assessment struct {
	Report *Report

	document *document
	subjects []*subject
	skipped  []openapi.Skipped
}

// subject is a tool with its parts in the document and its findings.
type subject struct {
	Tool
	place
	title      string // name of the tool, or else what identifies the operation
	arguments  map[string]*jsonschema.Schema
	parameters []parameter
	body       *body // nil if there is none
	answer     answer
	walk       *walk
	twins      []*subject // operations with the same first words, this one included
	findings   []found
}

// found is a finding with the values that a change needs.
type found struct {
	code    Code
	at      *tree.Node
	place   Place // if at is nil
	message string

	parameter *parameter // of a finding about a parameter
	reason    string     // of the change of a parameter
	member    *member    // of a finding about a member of the body
}

// Assess scores the tools of a document, whose operations are those of api. skipped are operations that a caller would
// want and that can't be called. It looks at each operation in limited time, whatever the document holds.
func Assess(d *openapi.Document, api *openapi.API, tools []Tool, skipped []openapi.Skipped) *Assessment {
	a := &Assessment{document: newDocument(d), skipped: skipped}
	for _, t := range tools {
		if s := newSubject(a.document, t); s != nil {
			a.subjects = append(a.subjects, s)
		}
	}
	for _, s := range a.subjects {
		s.checkTexts()
		s.checkName()
		s.checkArguments()
		s.checkBody(a.document)
		s.checkTypes()
		s.checkExamples(api)
		s.checkAnswer()
		s.checkSafety()
	}
	findPaths(a.document, a.subjects)
	findTwins(a.subjects)
	findNoise(a.subjects)
	a.Report = newReport(a.subjects, skipped)
	return a
}

func newSubject(d *document, t Tool) *subject {
	where, ok := d.operations[operationKey(t.Operation.Method, t.Operation.Path)]
	if !ok {
		return nil
	}
	s := &subject{Tool: t, place: where, title: cmp.Or(t.Name, t.Operation.ID, t.Operation.Method+" "+t.Operation.Path), arguments: map[string]*jsonschema.Schema{}, walk: d.walk()}
	input, _ := t.Operation.Published(openapi.ProfileFull)
	for _, m := range jsonschema.Parse(input).Members() {
		if !slices.Contains(t.Settled, m.Name) {
			s.arguments[m.Name] = m.Schema
		}
	}
	s.parameters, s.body, s.answer = d.parameters(where), d.body(where), d.answer(where)
	return s
}

// argument returns the published schema of a parameter or of a member of the body, and false if callers can't give it.
func (s *subject) argument(in, name string) (*jsonschema.Schema, bool) {
	if in == "formData" {
		in = "body"
	}
	pointer := ""
	if in == "body" {
		pointer, name = jsonscan.PointerTo(name), ""
	}
	argument, rest, ok := s.Operation.ArgumentFor(in, name, pointer)
	if !ok {
		return nil, false
	}
	schema, ok := s.arguments[argument]
	if rest != "" && ok { // a member of the argument that is the whole body
		if schema = schema.Resolve(); schema != nil {
			for _, m := range schema.Members() {
				if jsonscan.PointerTo(m.Name) == rest {
					return m.Schema, true
				}
			}
		}
		return nil, false
	}
	return schema, ok
}

// find records a finding.
func (s *subject) find(code Code, at *tree.Node, format string, args ...any) {
	s.add(found{code: code, at: at, message: fmt.Sprintf(format, args...)})
}

func (s *subject) add(f found) {
	if f.at == nil && f.place == (Place{}) {
		f.at = s.node
	}
	if f.at != nil {
		f.place = placeOf(f.at)
	}
	s.findings = append(s.findings, f)
}

func newReport(subjects []*subject, skipped []openapi.Skipped) *Report {
	r := &Report{Tools: len(subjects), Skipped: len(skipped), Kinds: []Kind{}, Operations: []Operation{}}
	kinds := map[Code]*Kind{}
	count := func(f Finding) Finding {
		k := kinds[f.Code]
		if k == nil {
			k = &Kind{Code: f.Code, Title: f.Code.Title()}
			kinds[f.Code] = k
		}
		k.Findings++
		k.Weight += f.Weight
		return f
	}
	sum := 0
	for _, s := range subjects {
		op := Operation{Tool: s.title, Method: s.Operation.Method, Path: s.Operation.Path, Score: 100, Findings: []Finding{}, order: s.order}
		taken := map[Code]int{}
		for _, f := range s.findings {
			rule := rules[f.code]
			weight := min(rule.weight, rule.most-taken[f.code])
			taken[f.code] += weight
			op.Score = max(0, op.Score-weight)
			op.Findings = append(op.Findings, count(Finding{f.code, weight, f.message, f.place}))
		}
		slices.SortStableFunc(op.Findings, func(a, b Finding) int { return b.Weight - a.Weight })
		sum += op.Score
		r.Operations = append(r.Operations, op)
	}
	for i, s := range skipped {
		at := s.Position
		f := Finding{Skipped, rules[Skipped].weight, s.Reason, Place{at.File, at.Line, at.Column, s.Pointer}}
		r.Operations = append(r.Operations, Operation{Method: s.Method, Path: s.Path, Findings: []Finding{count(f)}, order: i})
	}
	if n := len(r.Operations); n > 0 {
		r.Score = float64(sum*10/n) / 10
	}
	slices.SortStableFunc(r.Operations, func(a, b Operation) int { return cmp.Or(a.Score-b.Score, a.order-b.order) })
	for _, code := range slices.Sorted(maps.Keys(kinds)) {
		r.Kinds = append(r.Kinds, *kinds[code])
	}
	slices.SortStableFunc(r.Kinds, func(a, b Kind) int { return b.Weight - a.Weight })
	return r
}

func placeOf(n *tree.Node) Place {
	at := n.Position()
	return Place{at.File, at.Line, at.Column, n.Pointer()}
}
