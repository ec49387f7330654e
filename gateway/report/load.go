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
	"drawbridge/openapi/truncate"
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
	faults    []string                                   // reasons why the API can't be used
}

// Options are the parameters of [New].
type Options struct {
	Config *config.Config
	Entry  string // configuration entry of the API, such as apis[0]
	Plans  *plan.Set
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
	f := &API{
		config: s.Config, maxName: o.Config.Tools.MaxName, name: s.Name, secrets: s.Secrets,
		api: s.Document.API, overlays: s.Document.Overlays, choices: s.Document.Credentials, extended: s.Document.Extensions,
		rejected: rejected, unapproved: set.Unapproved, unfit: set.Unfit,
		tools: map[*openapi.Operation]*catalog.Tool{}, resources: map[*openapi.Operation]string{},
		Problems: s.Document.API.ProblemCounts(), Skips: admin.Counts{},
	}
	for _, t := range set.Catalog.All() {
		if t.API == s.Name {
			f.tools[t.Operation] = t
			if r := set.ByOperation[t.Operation].Resource; r != nil {
				f.resources[t.Operation] = r.URI.String()
			}
		}
	}
	for _, p := range f.choices.Problems {
		f.Problems[p.Code]++
	}
	for _, p := range slices.Concat(f.extended.Problems, f.rejected.Problems) {
		f.Problems[p.Code]++
	}
	for _, op := range f.api.Operations {
		o.Pace.Step()
		fate := f.of(op)
		if f.Counts.Add(fate); fate == admin.Skipped {
			f.Skips[reasonUnfit]++
		}
	}
	for _, skipped := range f.api.Skipped {
		fate := f.ofSkipped(skipped)
		if f.Counts.Add(fate); fate == admin.Skipped {
			f.Skips[skipped.Code]++
		}
	}
	f.access = func(op *openapi.Operation) *admin.ToolAccess { return o.Access(set.ByOperation[op]) }
	f.faults = f.faultsOf(o.Config, o.Entry)
	return f
}

// IsSame reports whether the results are those of the same document, and as many of each kind.
func (f *API) IsSame(other *API) bool { return f.api == other.api && f.Counts == other.Counts }

// Advice returns deviations of an API's document from the OpenAPI standard, as operators see them.
func Advice(s *source.Source, advice []openapi.Problem) []admin.Problem {
	return (&API{secrets: s.Secrets}).listed(advice)
}

// Counted returns the counts for the metrics; f may be nil.
func (f *API) Counted() telemetry.OperationCounts {
	if f == nil {
		return telemetry.OperationCounts{}
	}
	return telemetry.OperationCounts{Operations: f.Counts, Problems: f.Problems, Skips: f.Skips}
}

func (f *API) of(op *openapi.Operation) admin.Fate {
	switch t := f.tools[op]; {
	case f.unapproved[op] != "":
		return admin.HeldBack
	case f.unfit[op] != "":
		return admin.Skipped
	case t == nil:
		return admin.Excluded
	case t.Wanted != "" || f.api.Changed(op):
		return admin.Changed
	}
	return admin.Exposed
}

// ofSkipped returns Excluded for an unusable operation that the configuration excludes anyway, else Skipped.
func (f *API) ofSkipped(s openapi.Skipped) admin.Fate {
	if f.config.Exposes(source.SkippedSubject(f.name, s)) {
		return admin.Skipped
	}
	return admin.Excluded
}

// Describe sets the counts in the status of the API.
func (f *API) Describe(a *admin.API) {
	a.Operations, a.ProblemCodes, a.SkipCodes = f.Counts, f.Problems, f.Skips
	a.Webhooks, a.Callbacks = f.api.Incoming.Webhooks, f.api.Incoming.Callbacks
	if f.choices.Note != "" {
		a.Notes = []string{f.shown(f.choices.Note)}
	}
	a.Faults = f.faults
	a.Tools, a.Skipped, a.Problems = 0, f.Counts.Skipped, f.Problems.Sum()
	for _, t := range f.tools {
		if !t.Hidden {
			a.Tools++
		}
	}
}

// Report returns the load report of the API; a is its status.
func (f *API) Report(a admin.API) admin.Report {
	f.Describe(&a)
	r := admin.Report{API: a, Operations: make([]admin.Operation, 0, f.Counts.Total), Problems: f.listed(f.api.Problems)}
	for _, p := range f.choices.Problems {
		p.Message = f.shown(p.Message)
		r.Problems = append(r.Problems, p)
	}
	r.Problems = append(r.Problems, f.listed(f.extended.Problems)...)
	for i, p := range f.listed(f.rejected.Problems) {
		p.Setting = f.rejected.Settings[i]
		r.Problems = append(r.Problems, p)
	}
	for _, a := range f.overlays {
		r.Overlays = append(r.Overlays, admin.OverlayAction{Action: string(a.Kind), Target: f.shown(a.Target), Matched: a.Matched, Optional: a.Optional, Place: f.place(a.Position, "")})
	}
	for _, op := range f.api.Operations {
		o := f.operation(op)
		for _, i := range o.Problems {
			r.Problems[i].Operations++
		}
		r.Operations = append(r.Operations, o)
	}
	for _, s := range f.api.Skipped {
		o := admin.Operation{
			Method: f.shown(s.Method), Path: f.shown(s.Path), ID: f.shown(s.ID), Fate: f.ofSkipped(s), Place: f.place(s.Position, s.Pointer),
		}
		if o.Fate == admin.Excluded {
			o.Reasons = []admin.Reason{f.exclusion(source.SkippedSubject(f.name, s))}
		} else {
			o.Reasons = []admin.Reason{{Code: s.Code, Message: f.shown(s.Reason)}}
		}
		r.Operations = append(r.Operations, o)
	}
	return r
}

// operation reports an operation that can be a tool.
func (f *API) operation(op *openapi.Operation) admin.Operation {
	o := admin.Operation{
		Method: f.shown(op.Method), Path: f.shown(op.Path), ID: f.shown(op.ID), Fate: f.of(op), Place: f.place(op.Position, op.Pointer),
	}
	t := f.tools[op]
	if why := f.unapproved[op]; why != "" {
		o.Reasons = []admin.Reason{heldReason(f.shown(why))}
		return o
	}
	if why := f.unfit[op]; why != "" {
		o.Problems = f.rejectedOf(op)
		o.Reasons = []admin.Reason{{Code: reasonUnfit, Message: f.shown(why)}}
		return o
	}
	if t == nil {
		o.Reasons = []admin.Reason{f.exclusion(source.Subject(f.name, op))}
		return o
	}
	o.Resource, o.Problems = f.shown(f.resources[op]), op.Problems
	if !t.Hidden {
		o.Tool = t.Name
	}
	if at, lacks := f.choices.Missing[op]; lacks {
		o.Problems = append(slices.Clip(o.Problems), len(f.api.Problems)+at)
	}
	for _, at := range f.extended.Faulty[op] {
		o.Problems = append(slices.Clip(o.Problems), len(f.api.Problems)+len(f.choices.Problems)+at)
	}
	o.Problems = append(slices.Clip(o.Problems), f.rejectedOf(op)...)
	if t.Wanted != "" {
		o.Reasons = append(o.Reasons, admin.Reason{Code: reasonToolRenamed,
			Message: f.shown(f.renamed(t))})
	}
	for _, renamed := range op.Renamed() {
		if len(o.Reasons) == maxReasons {
			break
		}
		o.Reasons = append(o.Reasons, admin.Reason{Code: reasonArgumentRenamed,
			Message: f.shown(fmt.Sprintf("the argument %s is %q in the %s", renamed.Argument, renamed.Name, renamed.In))})
	}
	if op.Base == nil && f.config.BaseURL == nil {
		o.Uncallable = f.shown(op.BaseProblem)
	}
	o.Access = f.access(op)
	return o
}

// rejectedOf returns the indexes of the settings of an operation that can't be applied, among the problems of the report.
func (f *API) rejectedOf(op *openapi.Operation) (all []int) {
	for _, at := range f.rejected.Of[op] {
		all = append(all, len(f.api.Problems)+len(f.choices.Problems)+len(f.extended.Problems)+at)
	}
	return all
}

// renamed returns the reason why a tool did not get the name it should have.
func (f *API) renamed(t *catalog.Tool) string {
	wanted := t.Wanted
	switch {
	case len(wanted) > f.maxName:
		return fmt.Sprintf("the name %q has %d characters, more than tools.max_name, %d", wanted, len(wanted), f.maxName)
	case t.Lost:
		return fmt.Sprintf("the name %q is transliterated, and others may read the same", wanted)
	}
	return fmt.Sprintf("more than one operation would have the name %q", wanted)
}

// maxReasons is the maximum number of reasons listed for an operation.
const maxReasons = 100

// exclusion returns the part of the configuration that excludes an operation.
func (f *API) exclusion(s config.Subject) admin.Reason {
	if f.config.Hides(s) {
		return admin.Reason{Code: reasonHidden, Message: "the document hides it from models: " + s.HiddenBy}
	}
	message := "an entry of tools.exclude matches it"
	if include := f.config.Tools.Include; len(include) > 0 && !include.Match(s) {
		message = "no entry of tools.include matches it"
	}
	return admin.Reason{Code: reasonExcluded, Message: message}
}

// listed converts problems of the document to problems of a report.
func (f *API) listed(all []openapi.Problem) []admin.Problem {
	out := make([]admin.Problem, 0, len(all))
	for _, p := range all {
		out = append(out, admin.Problem{Code: p.Code, Message: f.shown(p.Message), Place: f.place(p.Position, p.Pointer), Of: p.Of, Count: p.Count})
	}
	return out
}

func (f *API) place(at openapi.Position, pointer string) admin.Place {
	return admin.Place{File: f.shown(at.File), Line: at.Line, Column: at.Column, Pointer: f.shown(pointer)}
}

// shown redacts and truncates a text from or about the document for operators.
func (f *API) shown(text string) string {
	return truncate.Bytes(f.secrets.Operator(text), admin.MaxText)
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

// faultsOf lists the reasons why an API can't be used although its document could be read.
func (f *API) faultsOf(c *config.Config, entry string) (all []string) {
	tools, uncallable, why := 0, 0, ""
	for op := range f.tools {
		tools++
		if op.Base == nil && f.config.BaseURL == nil {
			if uncallable++; why == "" || op.BaseProblem < why {
				why = op.BaseProblem
			}
		}
	}
	switch {
	case f.Counts.Total == 0:
		all = append(all, "the document has no operation")
	case tools == 0 && f.Counts.HeldBack == 0 && f.Counts.Excluded > 0:
		key := entry + ".tools.exclude"
		if len(f.config.Tools.Include) > 0 {
			key = entry + ".tools.include"
		}
		all = append(all, fmt.Sprintf("%s: no operation becomes a tool", c.Origin(key)))
	case tools > 0 && uncallable == tools:
		all = append(all, f.shown("no call can be made: "+why))
	}
	return all
}

// reasonUnapproved is the reason code of a tool that is held back for lack of approval.
const reasonUnapproved = "not-approved"

// heldReason returns the reason for operators why a tool is held back.
func heldReason(why string) admin.Reason {
	return admin.Reason{Code: reasonUnapproved, Message: why + "; drawbridge lock --config FILE approves it"}
}
