package generation

import (
	"errors"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/workflow"
	"drawbridge/openapi"
	"drawbridge/openapi/arazzo"
)

// readDescriptions reads the Arazzo descriptions of a configuration. The error has all faults outside of their workflows.
func readDescriptions(c *config.Config) (all []*arazzo.Description, err error) {
	var errs []error
	for _, file := range c.WorkflowFiles() {
		d, err := arazzo.Read(file.Path, file.Data)
		var faults *arazzo.Faults
		switch {
		case errors.As(err, &faults):
			for _, f := range faults.Listed {
				errs = append(errs, f)
			}
		case err != nil:
			errs = append(errs, err)
		default:
			all = append(all, d)
		}
	}
	return all, errors.Join(errs...)
}

// addWorkflows compiles the workflows from the plans of the generation, and completes its catalog.
func (gen *Generation) addWorkflows(d *Deployment, m *telemetry.Metrics) {
	gen.Catalog = gen.Set.Catalog
	if len(d.descriptions) == 0 {
		return
	}
	c := &workflow.Compiler{
		Plan:          func(op *openapi.Operation) *plan.Plan { return gen.ByOperation[op] },
		DefaultScopes: gen.defaultScopes(), Metrics: m.OwnCall,
		NameOwner: func(name string) string {
			if gen.Set.Catalog.Lookup(name) != nil {
				return "a tool"
			}
			for _, reserved := range gen.Config.ReservedToolNames() {
				if name == reserved {
					return "a built-in tool"
				}
			}
			return ""
		},
	}
	for _, s := range d.APIs.Sources {
		if s.Document != nil {
			c.APIs = append(c.APIs, workflow.API{Name: s.Name, Location: s.Config.Spec.String(), Operations: s.Document.API.Operations})
		}
	}
	gen.workflows, gen.WorkflowFaults, gen.WorkflowWarnings = c.Compile(d.descriptions)
	if server := &gen.Config.Server; gen.Config.State.Redis == nil && (len(server.SealKeys) > 0 || server.SealKeyFile != "") &&
		slices.ContainsFunc(gen.workflows, (*workflow.Tool).AsksUser) {
		gen.WorkflowWarnings = append(gen.WorkflowWarnings, "warning: workflows ask the user, and replicas share server.seal_keys but no state.redis: "+
			"an answer that is sent to two replicas counts at both, and the steps after it run twice; give them state.redis, or run one replica")
	}
	definitions := make([]*catalog.Tool, len(gen.workflows))
	for i, w := range gen.workflows {
		definitions[i] = w.Definition()
	}
	gen.Catalog = gen.Set.Catalog.With(definitions)
}

// defaultScopes returns the default scopes of callers; nil if no token is required.
func (gen *Generation) defaultScopes() []string {
	if gen.Config.Auth == nil {
		return nil
	}
	return gen.Config.Auth.DefaultScopes
}
