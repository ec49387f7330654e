package arazzo

import (
	"math"
	"strconv"
	"strings"
	"time"

	"drawbridge/openapi/tree"
)

// maxWorkflowSteps limits the steps of one workflow.
const maxWorkflowSteps = 200

var (
	stepFields = []string{"description", "stepId", "operationId", "operationPath", "workflowId", "parameters", "requestBody", "successCriteria", "onSuccess",
		"onFailure", "outputs", "timeout", "dependsOn", "channelPath", "correlationId", "action"}
	actionFields  = []string{"name", "type", "workflowId", "stepId", "parameters", "criteria"}
	failureFields = append([]string{"retryAfter", "retryLimit"}, actionFields...)
)

// workflow reads a Workflow Object.
func (r *reader) workflow(n *tree.Node, seen map[string]bool) *Workflow {
	w := &Workflow{ID: r.identifier(n, "workflowId", seen), Summary: r.text(n, "summary", false), Description: r.text(n, "description", false), Position: n.Position()}
	if inputs := n.Get("inputs"); inputs != nil {
		if target := r.target(inputs); target.Kind() == tree.Object {
			w.Inputs, w.InputsPosition = target.AppendJSON(nil), target.Position()
		} else if target == nil {
			r.wrong(inputs.Get("$ref"), "%q doesn't exist", inputs.Get("$ref").Text())
		} else {
			r.wrong(inputs, "must be a JSON Schema, found %s", target.Kind().String())
		}
	}
	for _, id := range r.names(n, "dependsOn") {
		if !strings.HasPrefix(id, "$") && find(r.root.Get("workflows"), "workflowId", id) == nil {
			r.wrong(n.Get("dependsOn"), "the workflow %q doesn't exist", id)
		}
		w.DependsOn = append(w.DependsOn, id)
	}
	before, after := use{workflow: n}, use{workflow: n, hasResponse: true}
	parameters := r.parameters(n, before)
	onSuccess, onFailure := r.actions(n, "successActions", "successActions", after), r.actions(n, "failureActions", "failureActions", after)
	steps, ids := r.list(n, "steps", true), map[string]bool{}
	if len(steps) > maxWorkflowSteps {
		r.wrong(n.Get("steps"), "has %d steps; a workflow may have at most %d: split it", len(steps), maxWorkflowSteps)
		return w
	}
	for _, at := range steps {
		if !r.isObject(at, stepFields...) {
			continue
		}
		s := r.step(at, n, ids)
		s.Parameters = merge(s.Parameters, parameters, func(p Parameter) string { return p.In + " " + p.Name })
		s.OnSuccess = merge(s.OnSuccess, onSuccess, func(a Action) string { return a.Name })
		s.OnFailure = merge(s.OnFailure, onFailure, func(a Action) string { return a.Name })
		w.Steps = append(w.Steps, s)
	}
	w.Outputs = r.outputs(n, before)
	return w
}

// merge returns the entries of a step with those of its workflow that the step does not override.
func merge[T any](own, common []T, key func(T) string) []T {
	seen := map[string]bool{}
	for _, entry := range own {
		seen[key(entry)] = true
	}
	for _, entry := range common {
		if !seen[key(entry)] {
			own = append(own, entry)
		}
	}
	return own
}

func (r *reader) step(n, workflow *tree.Node, ids map[string]bool) *Step {
	before, after := use{workflow: workflow}, use{workflow: workflow, hasResponse: true}
	s := &Step{
		ID: r.identifier(n, "stepId", ids), Description: r.text(n, "description", false), OperationID: r.text(n, "operationId", false),
		OperationPath: r.text(n, "operationPath", false), WorkflowID: r.text(n, "workflowId", false), Position: n.Position(),
	}
	targets := 0
	for _, name := range []string{"operationId", "operationPath", "workflowId"} {
		if n.Get(name) != nil {
			targets++
		}
	}
	for _, name := range []string{"channelPath", "correlationId", "action"} {
		if at := n.Get(name); at != nil {
			r.wrong(at, "is of AsyncAPI, which is not supported")
			targets = 1
		}
	}
	if targets != 1 {
		r.wrong(n, "must have exactly one of operationId, operationPath and workflowId, found %d", targets)
	}
	if id := s.WorkflowID; id != "" && !strings.HasPrefix(id, "$") && find(r.root.Get("workflows"), "workflowId", id) == nil {
		r.wrong(n.Get("workflowId"), "the workflow %q doesn't exist", id)
	}
	for _, of := range []string{s.OperationID, s.WorkflowID} {
		if strings.HasPrefix(of, "$") {
			e, err := ParseExpression(of)
			r.failed(n, err)
			if err == nil {
				r.refers(n, e, before)
			}
		}
	}
	s.Parameters = r.parameters(n, before)
	s.Body = r.body(n, before)
	s.Success = r.criteria(n, "successCriteria", after)
	s.OnSuccess, s.OnFailure = r.actions(n, "onSuccess", "successActions", after), r.actions(n, "onFailure", "failureActions", after)
	s.Outputs = r.outputs(n, after)
	r.since11(n, "timeout")
	r.since11(n, "dependsOn")
	s.Timeout = time.Duration(r.number(n, "timeout", true, 0)) * time.Millisecond
	for _, id := range r.names(n, "dependsOn") {
		if find(workflow.Get("steps"), "stepId", id) == nil {
			r.wrong(n.Get("dependsOn"), "the step %q doesn't exist in the workflow", id)
		}
		s.DependsOn = append(s.DependsOn, id)
	}
	return s
}

// number returns a member that must be a number of at least 0.
func (r *reader) number(of *tree.Node, name string, whole bool, absent float64) float64 {
	n := of.Get(name)
	if n == nil {
		return absent
	}
	value, err := strconv.ParseFloat(n.Text(), 64)
	const most = 86_400_000 // a day in milliseconds
	if n.Kind() != tree.Number || err != nil || value < 0 || value > most || whole && value != math.Trunc(value) {
		r.wrong(n, "must be a number from 0 to %d, found %s", most, string(n.AppendJSON(nil)))
		return absent
	}
	return value
}

// reused returns the object that a Reusable Object refers to, or the object itself. override is the value that replaces that of a parameter.
func (r *reader) reused(n *tree.Node, kind string) (target, override *tree.Node) {
	reference := n.Get("reference")
	if reference == nil {
		return n, nil
	}
	fields := []string{"reference"}
	if kind == "parameters" {
		fields = append(fields, "value")
	}
	if !r.isObject(n, fields...) {
		return nil, nil
	}
	e, err := ParseExpression(r.text(n, "reference", true))
	switch {
	case err != nil:
		r.failed(reference, err)
	case e.Source != Components || e.Field != kind:
		r.wrong(reference, "%s must be of the form $components.%s.NAME", e.String(), kind)
	default:
		if target = r.root.Get("components").Get(kind).Get(e.Name); target == nil {
			r.wrong(reference, "%s doesn't exist", e.String())
		}
	}
	return target, n.Get("value")
}

func (r *reader) parameters(of *tree.Node, use use) (all []Parameter) {
	seen := map[string]bool{}
	for _, item := range r.list(of, "parameters", false) {
		n, override := r.reused(item, "parameters")
		if n == nil || !r.isObject(n, "name", "in", "value") {
			continue
		}
		p := Parameter{Name: r.text(n, "name", true), In: r.choice(n, "in", of.Get("operationId") != nil || of.Get("operationPath") != nil, "path", "query", "header", "cookie")}
		if key := p.In + " " + p.Name; seen[key] {
			r.wrong(item, "the parameter %q is there twice", p.Name)
		} else {
			seen[key] = true
		}
		value := n.Get("value")
		if override != nil {
			value = override
		}
		if value == nil {
			r.wrong(n, "value is missing")
			continue
		}
		p.Value, p.Position = r.value(value, use), value.Position()
		all = append(all, p)
	}
	return all
}

func (r *reader) body(step *tree.Node, use use) *RequestBody {
	n := step.Get("requestBody")
	if n == nil || !r.isObject(n, "contentType", "payload", "replacements") {
		return nil
	}
	b := &RequestBody{ContentType: r.text(n, "contentType", false), Position: n.Position()}
	if payload := n.Get("payload"); payload != nil {
		b.Payload, b.Position = r.value(payload, use), payload.Position()
	}
	for _, at := range r.list(n, "replacements", false) {
		if !r.isObject(at, "target", "targetSelectorType", "value") {
			continue
		}
		if kind := at.Get("targetSelectorType"); kind != nil && kind.Text() != string(JSONPointer) {
			r.wrong(kind, "is not supported; the target of a replacement must be a JSON Pointer")
		}
		target, err := checkPointer(r.text(at, "target", true))
		r.failed(at, err)
		if value := at.Get("value"); value != nil {
			b.Replacements = append(b.Replacements, Replacement{target, r.value(value, use), value.Position()})
		} else {
			r.wrong(at, "value is missing")
		}
	}
	return b
}

func (r *reader) criteria(of *tree.Node, name string, use use) (all []*Criterion) {
	for _, n := range r.list(of, name, false) {
		if !r.isObject(n, "context", "condition", "type") {
			continue
		}
		kind, version := r.queryType(n)
		c, err := ParseCriterion(r.text(n, "context", false), r.text(n, "condition", true), kind, version)
		r.failed(n, err)
		if c != nil {
			r.refersAll(n, c.expressions, use)
			c.Position = n.Get("condition").Position()
			all = append(all, c)
		}
	}
	return all
}

func (r *reader) actions(of *tree.Node, name, kind string, use use) (all []Action) {
	fields, types := actionFields, []string{"end", "goto"}
	if kind == "failureActions" {
		fields, types = failureFields, []string{"end", "goto", "retry"}
	}
	for _, item := range r.list(of, name, false) {
		n, _ := r.reused(item, kind)
		if n == nil || !r.isObject(n, fields...) {
			continue
		}
		a := Action{Name: r.text(n, "name", true), Type: r.choice(n, "type", true, types...), StepID: r.text(n, "stepId", false), WorkflowID: r.text(n, "workflowId", false)}
		if a.Type == "goto" && (a.StepID == "") == (a.WorkflowID == "") {
			r.wrong(n, "goto must have exactly one of stepId and workflowId")
		}
		if a.StepID != "" && find(use.workflow.Get("steps"), "stepId", a.StepID) == nil {
			r.wrong(n.Get("stepId"), "the step %q doesn't exist in the workflow %q", a.StepID, use.workflow.Get("workflowId").Text())
		}
		if id := a.WorkflowID; id != "" && !strings.HasPrefix(id, "$") && find(r.root.Get("workflows"), "workflowId", id) == nil {
			r.wrong(n.Get("workflowId"), "the workflow %q doesn't exist", id)
		}
		a.Position = n.Position()
		r.since11(n, "parameters")
		a.Parameters = r.parameters(n, use)
		a.Criteria = r.criteria(n, "criteria", use)
		a.RetryAfter = time.Duration(r.number(n, "retryAfter", false, 0) * float64(time.Second))
		a.RetryLimit = int(r.number(n, "retryLimit", true, 1))
		all = append(all, a)
	}
	return all
}

func (r *reader) outputs(of *tree.Node, use use) (all []Output) {
	n := of.Get("outputs")
	if n == nil {
		return nil
	}
	if n.Kind() != tree.Object {
		r.wrong(n, "must be an object, found %s", n.Kind().String())
		return nil
	}
	for name, at := range n.Members() {
		if !isIdentifier(name, ".") {
			r.wrong(at, "the name must be made of letters, digits, '.', '-' and '_'")
		}
		if !isSelector(at) && !strings.HasPrefix(at.Text(), "$") {
			r.wrong(at, "must be a runtime expression or a Selector Object")
			continue
		}
		all = append(all, Output{name, r.value(at, use), at.Position()})
	}
	return all
}
