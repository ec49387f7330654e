package gateway

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/endpoint"
)

// Status returns the state of the gateway and of each API, without secrets.
func (s *served) Status() admin.Status {
	status := *s.status.Load()
	status.APIs = slices.Clone(status.APIs)
	kinds := s.kindsOf()
	for i := range status.APIs {
		s.traffic.Load().describe(&status.APIs[i])
		status.APIs[i].Service = serviceOf(&status.APIs[i], kinds)
		status.APIs[i].Drift = s.drift.Summary(status.APIs[i].Name)
	}
	s.judge(&status)
	status.Shared = s.sharedStatus()
	if found := s.discovered(); len(found.Providers) > 0 {
		status.Discovery = &admin.Discovery{Providers: found.Providers, Services: found.Services}
	}
	return status
}

// kindsOf returns the kinds of the providers by their names.
func (s *served) kindsOf() map[string]string {
	kinds := map[string]string{}
	for _, p := range s.discovered().Providers {
		kinds[p.Name] = p.Kind
	}
	return kinds
}

// serviceOf returns the service that an API was made of, with the kind of its provider; nil if the configuration has the API.
func serviceOf(a *admin.API, kinds map[string]string) *admin.Service {
	if a.Service == nil {
		return nil
	}
	of := *a.Service
	of.Kind = kinds[of.Provider]
	return &of
}

// Report returns the load report of an API, by its name in [Gateway.Status], and false if there is no such API. The
// report of an API that is not served contains only its state.
func (s *served) Report(name string) (admin.Report, bool) {
	for _, a := range s.status.Load().APIs {
		if a.Name != name {
			continue
		}
		a.Service = serviceOf(&a, s.kindsOf())
		if gen := s.current.Load(); gen != nil && gen.Reports[name] != nil {
			report := gen.Reports[name].Report(a)
			report.API.Drift = s.driftOf(name, gen.Reports[name].Redacted)
			return report, true
		}
		return admin.Report{API: a, Problems: []admin.Problem{}, Operations: []admin.Operation{}}, true
	}
	return admin.Report{}, false
}

// driftOf returns the differences of an API, without the secrets of its configuration.
func (s *served) driftOf(api string, redacted func(string) string) *admin.Drift {
	d := s.drift.Report(api)
	if d != nil {
		for i := range d.Differences {
			d.Differences[i].Path, d.Differences[i].Pointer = redacted(d.Differences[i].Path), redacted(d.Differences[i].Pointer)
		}
	}
	return d
}

// Lists describes what the lists of tools of all endpoints show.
func (s *served) Lists() []endpoint.ToolList { return s.endpoints().Lists() }

// Some problems of a configuration only show once the documents are known.

// SelectorProblems returns the selectors of the configuration that match no operation. Those that would keep serve from
// starting are errors, all others are warnings, including those that may match a document that could not be read.
func (s *served) SelectorProblems() config.Problems {
	if gen := s.current.Load(); gen != nil {
		return slices.Concat(gen.Selectors.Unmatched, gen.Selectors.Undecided)
	}
	return nil
}

// NameClashes describes the names of APIs and tools that depend on whether other documents can be read.
func (s *served) NameClashes() []string { return slices.Clone(s.Status().Config.Clashes) }

// PassedOver returns the files of the configured directories that are not documents and therefore no APIs.
func (s *served) PassedOver() []string { return s.Status().Config.PassedOver }

// PromptProblems returns the reasons why prompts of the configuration can't be served, with positions in its files.
func (s *served) PromptProblems() []string { return slices.Clone(s.Status().Config.Prompts) }

// WorkflowProblems returns the reasons why workflows of the configuration can't be served, with positions in their files.
func (s *served) WorkflowProblems() []string { return slices.Clone(s.Status().Config.Workflows) }

// WorkflowWarnings returns the expressions of workflows that refer to what no document declares, with positions in their files.
func (s *served) WorkflowWarnings() []string {
	if gen := s.current.Load(); gen != nil {
		return slices.Clone(gen.WorkflowWarnings)
	}
	return nil
}

// whyNothing explains to the operator why no API can be served at the endpoint of that name.
func (s *served) whyNothing(name string) string {
	var b strings.Builder
	b.WriteString("no API can be served; it is tried again")
	for _, a := range s.Status().APIs {
		switch {
		case a.State.IsServed():
			return fmt.Sprintf("the configuration in use has no endpoint %q any more", name)
		case a.Error != "":
			fmt.Fprintf(&b, "\n%s: %s", a.Name, a.Error)
		}
	}
	return b.String()
}
