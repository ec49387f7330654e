package report

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/text"
)

// Reason codes of operation results. They complement the codes of the document's problems.
const (
	reasonExcluded        = "excluded"         // the configuration excludes the operation
	reasonHidden          = "hidden"           // a trusted document hides the operation
	reasonUnfit           = "arguments-unfit"  // a rule fixes arguments that the operation can't have
	reasonArgumentRenamed = "argument-renamed" // the argument can't have the name of its parameter
	reasonToolRenamed     = "tool-renamed"     // the tool's name was made unique or shortened
)

// API holds the operation results of one API in one generation: for each operation, whether it became a tool, and the
// reasons. It is immutable.
type API struct {
	config   config.API
	maxName  int // maximum length of a tool's name, in characters
	name     string
	api      *openapi.API
	overlays []overlay.Action
	choices  *source.Credentials
	extended *source.Extensions
	rejected *plan.Rejected // settings that can't be applied
	// unapproved gives the reason why an operation is held back for lack of approval.
	unapproved map[*openapi.Operation]string
	// unfit gives the reason why an operation is no tool although the configuration exposes it.
	unfit     map[*openapi.Operation]string
	secrets   *redact.Configured
	tools     map[*openapi.Operation]*catalog.Tool
	resources map[*openapi.Operation]string // URIs of tools that are resources
	Counts    admin.OperationCounts
	Problems  admin.Counts
	Skips     admin.Counts
	access    func(*openapi.Operation) *admin.ToolAccess // access requirements of an operation that is a tool
	usability usability
}

// Options are the parameters of [New].
type Options struct {
	Config *config.Config
	Entry  string // configuration entry of the API, such as apis[0]
	Plans  *plan.Set
	Tools  []*catalog.Tool // of the API
	Pace   *openapi.Pace
	Access func(*plan.Plan) *admin.ToolAccess // access requirements of a tool
}

// New computes the operation results of an API from the compilation of all plans.
func New(s *source.Source, o Options) *API {
	set := o.Plans
	rejected := set.Rejected[s.Name]
	if rejected == nil {
		rejected = &plan.Rejected{}
	}
	a := &API{
		config: s.Config, maxName: o.Config.Tools.MaxName, name: s.Name, secrets: s.Secrets,
		api: s.Document.API, overlays: s.Document.Overlays, choices: s.Document.Credentials, extended: s.Document.Extensions,
		rejected: rejected, unapproved: set.Unapproved, unfit: set.Unfit,
		tools: map[*openapi.Operation]*catalog.Tool{}, resources: map[*openapi.Operation]string{},
		Problems: s.Document.API.ProblemCounts(), Skips: admin.Counts{},
	}
	for _, t := range o.Tools {
		a.tools[t.Operation] = t
		if r := set.ByOperation[t.Operation].Resource; r != nil {
			a.resources[t.Operation] = r.URI.String()
		}
	}
	for _, p := range a.choices.Problems {
		a.Problems[p.Code]++
	}
	for _, p := range slices.Concat(a.extended.Problems, a.rejected.Problems) {
		a.Problems[p.Code]++
	}
	for _, op := range a.api.Operations {
		o.Pace.Step()
		fate := a.of(op)
		if a.Counts.Add(fate); fate == admin.Skipped {
			a.Skips[reasonUnfit]++
		}
	}
	for _, skipped := range a.api.Skipped {
		fate := a.ofSkipped(skipped)
		if a.Counts.Add(fate); fate == admin.Skipped {
			a.Skips[skipped.Code]++
		}
	}
	a.usability = a.usabilityOf(s, o.Config, o.Entry)
	a.access = func(op *openapi.Operation) *admin.ToolAccess { return o.Access(set.ByOperation[op]) }
	return a
}

// IsSame reports whether the results are those of the same document, and as many of each kind.
func (a *API) IsSame(other *API) bool { return a.api == other.api && a.Counts == other.Counts }

// Advice returns deviations of an API's document from the OpenAPI standard, as operators see them.
func Advice(s *source.Source, advice []openapi.Problem) []admin.Problem {
	return (&API{secrets: s.Secrets}).listed(advice)
}

// Counted returns the counts for the metrics; f may be nil.
func (a *API) Counted() telemetry.OperationCounts {
	if a == nil {
		return telemetry.OperationCounts{}
	}
	return telemetry.OperationCounts{Operations: a.Counts, Problems: a.Problems, Skips: a.Skips}
}

// Fate returns the fate of an operation of the document.
func (a *API) Fate(op *openapi.Operation) admin.Fate { return a.of(op) }

func (a *API) of(op *openapi.Operation) admin.Fate {
	switch t := a.tools[op]; {
	case a.unapproved[op] != "":
		return admin.HeldBack
	case a.unfit[op] != "":
		return admin.Skipped
	case t == nil:
		return admin.Excluded
	case t.Wanted != "" || a.api.Changed(op):
		return admin.Changed
	}
	return admin.Exposed
}

// ofSkipped returns Excluded for an unusable operation that the configuration excludes anyway, else Skipped.
func (a *API) ofSkipped(s openapi.Skipped) admin.Fate {
	if a.config.Exposes(source.SkippedSubject(a.name, s)) {
		return admin.Skipped
	}
	return admin.Excluded
}

// Wants reports whether the configuration exposes an operation that can't be a tool.
func (a *API) Wants(s openapi.Skipped) bool { return a.ofSkipped(s) == admin.Skipped }

// Describe sets the counts in the status of the API.
func (a *API) Describe(state *admin.API) {
	state.Operations, state.ProblemCodes, state.SkipCodes = a.Counts, a.Problems, a.Skips
	state.Webhooks, state.Callbacks = a.api.Incoming.Webhooks, a.api.Incoming.Callbacks
	state.Notes, state.Faults = a.usability.notes, a.usability.faults
	if a.usability.uncallable && state.State == admin.Ready { // the other states say more about the document
		state.State = admin.Uncallable
	}
	state.Tools, state.Skipped, state.Problems = 0, a.Counts.Skipped, a.Problems.Sum()
	for _, t := range a.tools {
		if !t.Hidden {
			state.Tools++
		}
	}
}

// Report returns the load report of the API; a is its status.
func (a *API) Report(state admin.API) admin.Report {
	a.Describe(&state)
	r := admin.Report{API: state, Operations: make([]admin.Operation, 0, a.Counts.Total), Problems: a.listed(a.api.Problems)}
	for _, p := range a.choices.Problems {
		p.Message = a.shown(p.Message)
		r.Problems = append(r.Problems, p)
	}
	r.Problems = append(r.Problems, a.listed(a.extended.Problems)...)
	for i, p := range a.listed(a.rejected.Problems) {
		p.Setting = a.rejected.Settings[i]
		r.Problems = append(r.Problems, p)
	}
	for _, action := range a.overlays {
		r.Overlays = append(r.Overlays, admin.OverlayAction{Action: string(action.Kind), Target: a.shown(action.Target), Matched: action.Matched, Optional: action.Optional, Place: a.place(action.Position, "")})
	}
	for _, op := range a.api.Operations {
		o := a.operation(op)
		for _, i := range o.Problems {
			r.Problems[i].Operations++
		}
		r.Operations = append(r.Operations, o)
	}
	for _, s := range a.api.Skipped {
		o := admin.Operation{
			Method: a.shown(s.Method), Path: a.shown(s.Path), ID: a.shown(s.ID), Fate: a.ofSkipped(s), Place: a.place(s.Position, s.Pointer),
		}
		if o.Fate == admin.Excluded {
			o.Reasons = []admin.Reason{a.exclusion(source.SkippedSubject(a.name, s))}
		} else {
			o.Reasons = []admin.Reason{{Code: s.Code, Message: a.shown(s.Reason)}}
		}
		r.Operations = append(r.Operations, o)
	}
	return r
}

// operation reports an operation that can be a tool.
func (a *API) operation(op *openapi.Operation) admin.Operation {
	o := admin.Operation{
		Method: a.shown(op.Method), Path: a.shown(op.Path), ID: a.shown(op.ID), Fate: a.of(op), Place: a.place(op.Position, op.Pointer),
	}
	t := a.tools[op]
	if why := a.unapproved[op]; why != "" {
		o.Reasons = []admin.Reason{heldReason(a.shown(why))}
		return o
	}
	if why := a.unfit[op]; why != "" {
		o.Problems = a.rejectedOf(op)
		o.Reasons = []admin.Reason{{Code: reasonUnfit, Message: a.shown(why)}}
		return o
	}
	if t == nil {
		o.Reasons = []admin.Reason{a.exclusion(source.Subject(a.name, op))}
		return o
	}
	o.Resource, o.Problems = a.shown(a.resources[op]), op.Problems
	if !t.Hidden {
		o.Tool = t.Name
	}
	if at, lacks := a.choices.Missing[op]; lacks {
		o.Problems = append(slices.Clip(o.Problems), len(a.api.Problems)+at)
	}
	for _, at := range a.extended.Faulty[op] {
		o.Problems = append(slices.Clip(o.Problems), len(a.api.Problems)+len(a.choices.Problems)+at)
	}
	o.Problems = append(slices.Clip(o.Problems), a.rejectedOf(op)...)
	if t.Wanted != "" || t.Digit {
		o.Reasons = append(o.Reasons, admin.Reason{Code: reasonToolRenamed,
			Message: a.shown(a.renamed(t))})
	}
	for _, renamed := range op.Renamed() {
		if len(o.Reasons) == maxReasons {
			break
		}
		o.Reasons = append(o.Reasons, admin.Reason{Code: reasonArgumentRenamed,
			Message: a.shown(fmt.Sprintf("the argument %s is %q in the %s", renamed.Argument, renamed.Name, renamed.In))})
	}
	if op.Base == nil {
		o.Uncallable = a.shown(op.BaseProblem)
	}
	o.Access = a.access(op)
	return o
}

// rejectedOf returns the indexes of the settings of an operation that can't be applied, among the problems of the report.
func (a *API) rejectedOf(op *openapi.Operation) (all []int) {
	for _, at := range a.rejected.Of[op] {
		all = append(all, len(a.api.Problems)+len(a.choices.Problems)+len(a.extended.Problems)+at)
	}
	return all
}

// renamed returns the reason why a tool did not get the name it should have.
func (a *API) renamed(t *catalog.Tool) string {
	wanted := t.Wanted
	switch {
	case wanted == "":
		return fmt.Sprintf("the name %q begins with a digit, which some models' APIs refuse", strings.TrimPrefix(t.Name, "_"))
	case len(wanted) > a.maxName:
		return fmt.Sprintf("the name %q has %d characters, more than tools.max_name, %d", wanted, len(wanted), a.maxName)
	case t.Lost:
		return fmt.Sprintf("the name %q is transliterated, and others may read the same", wanted)
	}
	return fmt.Sprintf("more than one operation would have the name %q", wanted)
}

// maxReasons is the maximum number of reasons listed for an operation.
const maxReasons = 100

// exclusion returns the part of the configuration that excludes an operation.
func (a *API) exclusion(s config.Subject) admin.Reason {
	if a.config.Hides(s) {
		return admin.Reason{Code: reasonHidden, Message: "the document hides it from models: " + s.HiddenBy}
	}
	message := "an entry of tools.exclude matches it"
	if include := a.config.Tools.Include; len(include) > 0 && !include.Match(s) {
		message = "no entry of tools.include matches it"
	}
	return admin.Reason{Code: reasonExcluded, Message: message}
}

// listed converts problems of the document to problems of a report.
func (a *API) listed(all []openapi.Problem) []admin.Problem {
	out := make([]admin.Problem, 0, len(all))
	for _, p := range all {
		out = append(out, admin.Problem{Code: p.Code, Message: a.shown(p.Message), Place: a.place(p.Position, p.Pointer), Of: p.Of, Count: p.Count})
	}
	return out
}

func (a *API) place(at openapi.Position, pointer string) admin.Place {
	return admin.Place{File: a.shown(at.File), Line: at.Line, Column: at.Column, Pointer: a.shown(pointer)}
}

// Shown redacts and truncates a text from the document for operators, to at most [admin.MaxText] bytes.
func (a *API) Shown(text string) string { return a.shown(text) }

// Redacted redacts a text from the document for operators, without truncating it.
func (a *API) Redacted(text string) string { return a.secrets.Operator(text) }

// shown redacts and truncates a text from or about the document for operators.
func (a *API) shown(raw string) string {
	return text.Truncate(a.secrets.Operator(raw), admin.MaxText)
}

// CodeList formats counts by code for the log, the most frequent first.
func CodeList(counts admin.Counts) string {
	var b strings.Builder
	for i, code := range counts.Codes() {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%d", code, counts[code])
	}
	return b.String()
}

// reasonUnapproved is the reason code of a tool that is held back for lack of approval.
const reasonUnapproved = "not-approved"

// heldReason returns the reason for operators why a tool is held back.
func heldReason(why string) admin.Reason {
	return admin.Reason{Code: reasonUnapproved, Message: why + "; drawbridge lock --config FILE approves it"}
}
