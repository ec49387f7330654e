package arazzo

import (
	"crypto/sha256"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"drawbridge/openapi/tree"
)

// Description is an Arazzo Description. It is immutable.
type Description struct {
	Location string // where it was read
	Version  string // of the specification: "1.0.1", "1.1.0"
	Self     string // $self; "" if there is none
	Title    string
	Digest   [sha256.Size]byte // of the file
	Sources  []SourceDescription
	// Workflows are those without faults, in the author's order.
	Workflows []*Workflow
	// Faults are those of the other workflows, at most 100, of which Unlisted more are not listed.
	Faults   []Fault
	Unlisted int
}

// SourceDescription is a Source Description Object.
type SourceDescription struct {
	Name, URL string
	Type      string // "openapi", "arazzo", or "" if it is not said
	Position  tree.Position
}

// Workflow is a Workflow Object.
type Workflow struct {
	ID, Summary, Description string
	Inputs                   json.RawMessage // a JSON Schema 2020-12; nil if there is none
	InputsPosition           tree.Position
	DependsOn                []string
	Steps                    []*Step
	Outputs                  []Output
	Position                 tree.Position
}

// Step is a Step Object with the parameters and actions that its workflow adds.
type Step struct {
	ID, Description string
	// OperationID, OperationPath or WorkflowID is the target; the others are "".
	OperationID, OperationPath, WorkflowID string
	Parameters                             []Parameter
	Body                                   *RequestBody // nil if there is none
	Success                                []*Criterion
	OnSuccess, OnFailure                   []Action
	Outputs                                []Output
	DependsOn                              []string
	Timeout                                time.Duration // 0 if there is none
	Position                               tree.Position
}

// Parameter is a Parameter Object.
type Parameter struct {
	Name  string
	In    string // "path", "query", "header", "cookie"; "" for an input of a workflow
	Value Value
	// Position is that of the value.
	Position tree.Position
}

// RequestBody is a Request Body Object.
type RequestBody struct {
	ContentType  string // "" for that of the operation
	Payload      Value
	Replacements []Replacement
	Position     tree.Position // of the payload, or else of the object
}

// Replacement is a Payload Replacement Object.
type Replacement struct {
	Target   string // JSON Pointer
	Value    Value
	Position tree.Position // of the value
}

// Action is a Success or Failure Action Object.
type Action struct {
	Name, Type         string // the type is "end", "goto" or "retry"
	StepID, WorkflowID string // the target, or ""
	Parameters         []Parameter
	Criteria           []*Criterion
	RetryAfter         time.Duration
	RetryLimit         int
	Position           tree.Position
}

// Output is a named output of a step or workflow.
type Output struct {
	Name     string
	Value    Value
	Position tree.Position // of the value
}

// MaxBytes is the maximum size of a description, in bytes.
const MaxBytes = 16 << 20

var (
	versions      = regexp.MustCompile(`\A1\.[01]\.\d+\z`)
	maximum       = tree.Limits{Bytes: MaxBytes, Nodes: 200_000, Files: 1}
	workflowNames = []string{"workflowId", "summary", "description", "inputs", "dependsOn", "steps", "successActions", "failureActions", "outputs", "parameters"}
)

// Read reads a description, JSON or YAML. data belongs to it afterwards and must not be changed. The error is a [*Faults], with all
// faults, if the description has one outside its workflows, or one of package tree.
func Read(location string, data []byte) (*Description, error) {
	root, err := tree.Parse(location, data, maximum)
	if err != nil {
		return nil, err
	}
	r := &reader{description: &Description{Location: location, Digest: sha256.Sum256(data)}, root: root}
	r.read()
	if r.unusable {
		return nil, &r.faults
	}
	r.description.Faults, r.description.Unlisted = r.faults.Listed, r.faults.More
	return r.description, nil
}

func (r *reader) read() {
	if !r.isObject(r.root, "arazzo", "$self", "info", "sourceDescriptions", "workflows", "components") {
		r.unusable = r.root.Kind() != tree.Object
	}
	if r.unusable {
		return
	}
	d := r.description
	if d.Version = r.text(r.root, "arazzo", true); d.Version != "" && !versions.MatchString(d.Version) {
		r.wrong(r.root.Get("arazzo"), "the version %q is not supported; it must be 1.0.N or 1.1.N, such as 1.0.1", d.Version)
	}
	d.Self = r.text(r.root, "$self", false)
	r.since11(r.root, "$self")
	if info := r.root.Get("info"); info == nil {
		r.wrong(r.root, "info is missing")
	} else if r.isObject(info, "title", "summary", "description", "version") {
		d.Title = r.text(info, "title", true)
		r.text(info, "version", true)
	}
	seen := map[string]bool{}
	for _, n := range r.list(r.root, "sourceDescriptions", true) {
		if !r.isObject(n, "name", "url", "type") {
			continue
		}
		s := SourceDescription{Name: r.identifier(n, "name", seen), URL: r.text(n, "url", true), Type: r.text(n, "type", false), Position: n.Position()}
		switch {
		case s.Name != "" && !isIdentifier(s.Name, ""):
			r.wrong(n.Get("name"), "%q must be made of letters, digits, '-' and '_'", s.Name)
		case s.Type == "asyncapi":
			r.wrong(n.Get("type"), "AsyncAPI is not supported")
		case s.Type != "" && s.Type != "openapi" && s.Type != "arazzo":
			r.wrong(n.Get("type"), "%q is unknown; known are openapi, arazzo", s.Type)
		}
		d.Sources = append(d.Sources, s)
	}
	seen = map[string]bool{}
	workflows := r.list(r.root, "workflows", true)
	r.unusable = r.faults.count() > 0
	for _, n := range workflows {
		before := r.faults.count()
		if !r.isObject(n, workflowNames...) {
			continue
		}
		if w := r.workflow(n, seen); r.faults.count() == before {
			d.Workflows = append(d.Workflows, w)
		}
	}
}

// since11 reports a field that version 1.0 does not have.
func (r *reader) since11(n *tree.Node, name string) {
	if at := n.Get(name); at != nil && strings.HasPrefix(r.description.Version, "1.0.") {
		r.wrong(at, "needs arazzo: 1.1.0")
	}
}
