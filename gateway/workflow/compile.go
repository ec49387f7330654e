package workflow

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// API is an API whose operations steps can call.
type API struct {
	Name, Location string // of its document: a URL, or a path
	Operations     []*openapi.Operation
}

// Compiler binds descriptions to APIs.
type Compiler struct {
	APIs []API
	// Plan returns the plan of an operation that is a tool; nil for any other.
	Plan func(*openapi.Operation) *plan.Plan
	// DefaultScopes are those of callers of the endpoint.
	DefaultScopes []string
	// NameOwner returns what has the name of a tool already; "" if nothing has.
	NameOwner func(name string) string
	// Metrics returns the metrics of a tool.
	Metrics func(tool string) *telemetry.CallMetrics
}

// limits of workflows.
const (
	maxScopeSets = 64       // alternatives of scopes
	maxInputs    = 64 << 10 // bytes of the schema of the inputs
	maxNested    = 5        // workflows within workflows
	maxSteps     = 1000     // of a workflow, with those of the workflows in it
)

// Compile returns the tools of all workflows without a fault, in their order, the faults of the others, and warnings about what no document
// declares, each as "file:line:col: text".
func (c *Compiler) Compile(descriptions []*arazzo.Description) (tools []*Tool, faults, warnings []string) {
	names := map[string]string{} // who has it
	for _, d := range descriptions {
		for _, f := range d.Faults {
			faults = append(faults, f.Error())
		}
		if d.Unlisted > 0 {
			faults = append(faults, fmt.Sprintf("%s: and %d faults more", d.Location, d.Unlisted))
		}
		b := &binder{compiler: c, description: d, done: map[string]*Tool{}}
		for _, w := range d.Workflows {
			b.faults = nil
			owner := cmp.Or(names[w.ID], c.NameOwner(w.ID))
			if owner != "" {
				b.wrong(w.Position, "the name %q of the workflow is already that of %s: rename the workflow", w.ID, owner)
			}
			t := b.workflow(w, nil)
			if len(b.faults) == 0 && t != nil {
				names[w.ID] = fmt.Sprintf("the workflow at %s", w.Position)
				tools = append(tools, t)
			}
			faults = append(faults, b.faults...)
		}
		warnings = append(warnings, b.warnings...)
	}
	return tools, faults, warnings
}

// binder binds the workflows of one description.
type binder struct {
	compiler    *Compiler
	description *arazzo.Description
	done        map[string]*Tool // by workflow
	faults      []string
	warnings    []string
}

func (b *binder) wrong(at tree.Position, format string, args ...any) {
	b.faults = appendOnce(b.faults, at, fmt.Sprintf(format, args...))
}

func (b *binder) warn(at tree.Position, format string, args ...any) {
	b.warnings = appendOnce(b.warnings, at, "warning: "+fmt.Sprintf(format, args...))
}

func appendOnce(all []string, at tree.Position, message string) []string {
	text := arazzo.Fault{Position: at, Message: message}.Error()
	if slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}

// workflow binds a workflow. It is nil if it has a fault. within are the workflows whose steps it is part of.
func (b *binder) workflow(w *arazzo.Workflow, within []string) *Tool {
	if t, ok := b.done[w.ID]; ok {
		return t
	}
	before := len(b.faults)
	if !isToolName(w.ID) {
		b.wrong(w.Position, "the workflowId %q must be made of letters, digits, '-', '_' and '.', at most %d, so that a tool can have it as its name", w.ID, maxName)
	}
	for _, id := range w.DependsOn {
		b.wrong(w.Position, "dependsOn (%s) is not supported: a call runs one workflow; make the other one its first step, by workflowId", id)
	}
	t := &Tool{workflow: w}
	t.inputs = b.inputs(w)
	p := &prover{binder: b, tool: t}
	for i, s := range w.Steps {
		if bound := b.step(w, i, s, append(within, w.ID)); bound != nil {
			t.steps = append(t.steps, bound)
		}
	}
	p.prove()
	t.measure()
	switch {
	case t.depth > maxNested:
		b.wrong(w.Position, "workflows run each other more than %d deep", maxNested)
	case t.size > maxSteps:
		b.wrong(w.Position, "the workflow has %d steps, with those of the workflows in it; at most %d are allowed", t.size, maxSteps)
	case len(b.faults) == before:
		b.complete(t)
	}
	if len(b.faults) > before {
		t = nil
	}
	b.done[w.ID] = t
	return t
}

// measure counts the steps and levels of a workflow from those of the workflows in it, which were measured before, in whatever order they stand.
func (t *Tool) measure() {
	for _, s := range t.steps {
		if s.nested == nil {
			t.size++
			continue
		}
		t.size, t.depth = t.size+s.nested.size, max(t.depth, s.nested.depth+1)
	}
}

const maxName = 64

func isToolName(name string) bool {
	return len(name) <= maxName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// inputs compiles the schema of the inputs.
func (b *binder) inputs(w *arazzo.Workflow) inputs {
	in := inputs{text: []byte(`{"type":"object"}`)}
	if w.Inputs != nil {
		in.text = w.Inputs
	}
	parsed := jsonschema.Parse(in.text)
	in.schema = parsed
	switch types := parsed.Types(); {
	case len(in.text) > maxInputs:
		b.wrong(w.InputsPosition, "the schema of the inputs has %d bytes; at most %d are allowed", len(in.text), maxInputs)
		return in
	case len(types) == 0 && jsonscan.KindOf(in.text) == jsonscan.Object:
		in.text = append([]byte(`{"type":"object"`), withComma(in.text[1:])...)
		in.schema = jsonschema.Parse(in.text)
	case !slices.Equal(types, []string{"object"}):
		b.wrong(w.InputsPosition, "the schema of the inputs must be of type object, since they are the arguments of a tool; found %s", strings.Join(types, ", "))
		return in
	}
	var err error
	if in.validator, err = schema.Compile(in.text); err != nil {
		b.wrong(w.InputsPosition, "the schema of the inputs can't be used: %v", err)
	}
	return in
}

// withComma returns the rest of an object behind its opening brace, as it goes on behind a member.
func withComma(rest []byte) []byte {
	if strings.TrimSpace(string(rest)) == "}" {
		return rest
	}
	return append([]byte{','}, rest...)
}

// step binds a step. It is nil if it has a fault.
func (b *binder) step(w *arazzo.Workflow, index int, s *arazzo.Step, within []string) *step {
	for _, id := range s.DependsOn {
		if slices.IndexFunc(w.Steps, func(o *arazzo.Step) bool { return o.ID == id }) >= index {
			b.wrong(s.Position, "the step %q depends on the step %q, which comes after it: steps run in their order", s.ID, id)
		}
	}
	for _, a := range slices.Concat(s.OnSuccess, s.OnFailure) {
		switch {
		case a.Type == "retry" && (a.StepID != "" || a.WorkflowID != ""):
			b.wrong(a.Position, "retry with stepId or workflowId is not supported: use goto")
		case a.WorkflowID != "":
			b.wrong(a.Position, "goto to another workflow is not supported: make it a step, by workflowId, and go to that step")
		}
	}
	if s.WorkflowID != "" {
		return b.nested(s, within)
	}
	api, op := b.operation(s)
	if op == nil {
		return nil
	}
	p := b.compiler.Plan(op)
	if p == nil || p.Tool.Hidden {
		b.wrong(s.Position, "the operation %s %s of %s is not served as a tool, so that no step can call it: expose it, or leave the step out", op.Method, op.Path, api)
		return nil
	}
	return &step{Step: s, name: p.Tool.Name, plan: p, operation: p.CallerOperation()}
}

// nested binds a step that runs another workflow of the description.
func (b *binder) nested(s *arazzo.Step, within []string) *step {
	switch i := slices.IndexFunc(b.description.Workflows, func(w *arazzo.Workflow) bool { return w.ID == s.WorkflowID }); {
	case slices.Contains(within, s.WorkflowID):
		b.wrong(s.Position, "the workflow %q would run itself, by way of %s", s.WorkflowID, strings.Join(within, ", "))
	case i < 0:
		b.wrong(s.Position, "the workflow %q is not in this description, or has faults", s.WorkflowID)
	default:
		if t := b.workflow(b.description.Workflows[i], within); t != nil {
			return &step{Step: s, name: t.workflow.ID, nested: t}
		}
		b.wrong(s.Position, "the workflow %q has faults", s.WorkflowID)
	}
	return nil
}

// operation returns the operation of a step, and the name of its API.
func (b *binder) operation(s *arazzo.Step) (name string, op *openapi.Operation) {
	source, id, path, method := "", s.OperationID, "", ""
	if rest, ok := strings.CutPrefix(id, "$sourceDescriptions."); ok {
		source, id, _ = strings.Cut(rest, ".")
	}
	if s.OperationPath != "" {
		var pointer string
		source, pointer, _ = strings.Cut(s.OperationPath, "#")
		source = strings.TrimSuffix(strings.TrimPrefix(strings.Trim(source, "{}"), "$sourceDescriptions."), ".url")
		tokens := jsonscan.Tokens(pointer)
		if len(tokens) != 3 || tokens[0] != "paths" {
			b.wrong(s.Position, "operationPath %q must be of the form {$sourceDescriptions.NAME.url}#/paths/~1orders~1{id}/get", s.OperationPath)
			return "", nil
		}
		path, method = tokens[1], strings.ToUpper(tokens[2])
	}
	apis := b.sources(s, source)
	var found []*openapi.Operation
	var known []string
	for _, api := range apis {
		for _, o := range api.Operations {
			if o.ID != "" {
				known = append(known, o.ID)
			}
			if s.OperationPath == "" && o.ID == id || s.OperationPath != "" && o.Path == path && o.Method == method {
				found, name = append(found, o), api.Name
			}
		}
	}
	switch {
	case len(apis) == 0:
	case len(found) == 0 && s.OperationPath != "":
		b.wrong(s.Position, "the operation %s %s doesn't exist in the document of %s", method, path, namesOf(apis))
	case len(found) == 0:
		b.wrong(s.Position, "the operation %q doesn't exist in the document of %s%s", id, namesOf(apis), text.DidYouMean(text.NearestFew(id, known, 1)...))
	case len(found) > 1:
		b.wrong(s.Position, "several operations have the operationId %q: use operationPath", id)
	default:
		return name, found[0]
	}
	return "", nil
}

func namesOf(apis []API) string {
	var names []string
	for _, a := range apis {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// sources returns the APIs of a source description, or of all if name is "".
func (b *binder) sources(s *arazzo.Step, name string) (all []API) {
	known := false
	for _, source := range b.description.Sources {
		if name != "" && source.Name != name || source.Type == "arazzo" {
			continue
		}
		known = true
		i := slices.IndexFunc(b.compiler.APIs, func(a API) bool { return b.isOf(source.URL, a.Location) })
		if i < 0 {
			i = slices.IndexFunc(b.compiler.APIs, func(a API) bool { return a.Name == source.Name })
		}
		if i < 0 {
			b.wrong(source.Position, "the source description %q (%s) is the document of no API that is served: give an API that spec, or the name %[1]q", source.Name, source.URL)
			continue
		}
		all = append(all, b.compiler.APIs[i])
	}
	if !known {
		b.wrong(s.Position, "the source description %q doesn't exist", name)
	}
	return all
}

// isOf reports whether the URL of a source description leads to the document of an API.
func (b *binder) isOf(source, location string) bool {
	if source == location {
		return true
	}
	if strings.Contains(source, "://") || strings.Contains(location, "://") {
		return false
	}
	if !filepath.IsAbs(source) {
		source = filepath.Join(filepath.Dir(b.description.Location), filepath.FromSlash(source))
	}
	given, err := filepath.Abs(source)
	has, failed := filepath.Abs(location)
	return err == nil && failed == nil && given == has
}

// complete makes the definition of a bound workflow.
func (b *binder) complete(t *Tool) {
	w := t.workflow
	if t.scopes = t.unionOfScopes(b.compiler.DefaultScopes); t.scopes == nil && t.hasScopes() {
		b.wrong(w.Position, "the steps need more than %d combinations of scopes: set scopes by rules", maxScopeSets)
		return
	}
	a := catalog.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true}
	for p := range t.plans() {
		of := p.Tool.Annotations
		a.ReadOnly, a.Idempotent, a.Destructive = a.ReadOnly && of.ReadOnly, a.Idempotent && of.Idempotent, a.Destructive || of.Destructive
	}
	t.definition = catalog.NewTool(catalog.Definition{
		Name: w.ID, Title: text.Truncate(schema.Prose(cmp.Or(w.Summary, w.ID), 0), maxTitle), Description: t.describe(),
		Input: t.inputs.text, Output: t.outputSchema(), Annotations: a,
	})
	t.metrics, t.redaction, t.digest = b.compiler.Metrics(w.ID), t.unionOfRedactions(), b.digestOf(t)
	for _, s := range t.steps {
		s.arguments = nil
	}
}
