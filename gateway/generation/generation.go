package generation

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/report"
	"drawbridge/gateway/skill"
	"drawbridge/gateway/source"
	"drawbridge/gateway/task"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/workflow"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// Generation is an immutable snapshot of everything that is served at one moment: the catalog, the plans and the
// endpoints. Only the views of its endpoints change.
type Generation struct {
	*endpoint.Table
	*plan.Set
	// Catalog has all tools: those of Set, and the workflows.
	Catalog  *catalog.Catalog
	Config   *config.Config
	Settings *RequestSettings
	// Reports are the results of the operations, by API name.
	Reports map[string]*report.API
	Finder  *embedding.Finder // of tools
	// Published are the short names of the tools of this generation and of those before it.
	Published catalog.Published
	// Updated is when the list of tools last changed.
	Updated time.Time
	// PromptFaults lists the reasons why prompts are not served, with their positions.
	PromptFaults []string
	// WorkflowFaults lists the reasons why workflows are not served, with their positions.
	WorkflowFaults []string
	// WorkflowWarnings lists the expressions of workflows that refer to what no document declares, with their positions.
	WorkflowWarnings []string
	// Clashes describes the names that depend on whether other documents can be read.
	Clashes []string
	// Selectors lists the selectors of the configuration that match nothing, with the names of tools in skills.
	Selectors source.SelectorResult
	// Entries maps each source to its configuration entry, such as apis[0].
	Entries map[*source.Source]string
	// Rates are the rate limits of the configuration.
	Rates admission.RequestRateLimits

	// callerWebhooks sends webhooks to callers; nil if they are off.
	callerWebhooks *task.CallerWebhooks
	jobs           call.Continuation // of calls
	// Files tells where the bytes of each API's document are, by name of the API.
	Files map[string]DocumentFiles
	// documents maps the names of APIs to the locations of the documents that were read.
	documents map[string]string
	links     *mcp.SealedHandles
	skills    *skill.Set
	workflows []*workflow.Tool // of the main endpoint
	files     *filestore.Store
}

// DocumentFiles tells where the bytes of a document are.
type DocumentFiles struct {
	ID    string // in the last-known-good store; "" if they are not kept there
	Stamp fetch.Stamp
	// Reread reads them from their origin again, which may have others by now: the error is [fetch.ErrChanged] then.
	Reread func(context.Context, fetch.Stamp) (*fetch.Copy, error)
	// Read reads and compiles the document again, for a report. ReadWith does so with the text of that, which
	// [openapi.Document.Copy] holds, and one further overlay.
	Read     func(context.Context) (*openapi.Document, *openapi.API, error)
	ReadWith func(context.Context, *fetch.Copy, fetch.File) (*openapi.Document, *openapi.API, error)
}

// Builder builds generations.
type Builder struct {
	Version    string          // of the program
	PublicURL  func() string   // at which services reach the gateway, without a path of its own
	GuessedJob *job.Definition // definition of jobs that neither a rule nor a document describes
	Tasks      *task.Tasks
	Links      *mcp.SealedHandles // seals the URIs of responses that are read later
	Files      *filestore.Store   // of callers; nil if none are kept
	Embeddings *embedding.Embedder
	// Published are the names under which tools were published before the first generation.
	Published catalog.Published
	// Handler returns the MCP handler of an endpoint.
	Handler func(name, title, instructions string) http.Handler
	Pace    *openapi.Pace
	Metrics *telemetry.Metrics
	Log     *slog.Logger
}

// Build builds a generation from the documents that the deployment's sources have loaded so far. before are the endpoints
// that are served until now, and old is the generation that has them, nil if there is none. The difference is that of the
// two catalogs.
func (b *Builder) Build(d *Deployment, before *endpoint.Table, old *Generation) (*Generation, catalog.Diff) {
	clashes := d.APIs.NameSources()
	selectors := d.APIs.CheckSelectors()
	gen := &Generation{
		Table: &endpoint.Table{Screening: d.Settings.Table.Screening, Named: map[string]*endpoint.Endpoint{}}, Config: d.Config, Settings: d.Settings, Rates: d.rates,
		callerWebhooks: d.CallerWebhooks, jobs: &task.Continuation{Tasks: b.Tasks, Webhooks: d.CallerWebhooks},
		Reports: map[string]*report.API{}, documents: map[string]string{}, Files: map[string]DocumentFiles{}, links: b.Links, files: b.Files, skills: skill.Compile(d.Config.Skills), Selectors: selectors, Entries: d.APIs.Entries,
	}
	earlier := b.Published
	if old != nil {
		earlier = old.Published
	}
	gen.Set = plan.Compile(b.compileOptions(d, old, earlier))
	if gen.Published = earlier; d.keepsNames() {
		gen.Published = earlier.With(gen.Set.Catalog)
	}
	gen.Clashes = append(clashes, clashesOf(gen.Set.Catalog)...)
	gen.addWorkflows(d, b.Metrics)
	tools := map[string][]*catalog.Tool{} // by API
	for _, t := range gen.Catalog.All() {
		tools[t.API] = append(tools[t.API], t)
	}
	for _, s := range d.APIs.Sources {
		if s.Document != nil {
			gen.documents[s.Name] = s.Config.Spec.String()
			gen.Files[s.Name] = DocumentFiles{ID: s.StoreID, Stamp: s.Document.Stamp, Reread: s.Reread, Read: s.Read, ReadWith: s.ReadWith}
			gen.Reports[s.Name] = report.New(s, report.Options{Config: d.Config, Entry: gen.Entries[s], Plans: gen.Set, Tools: tools[s.Name], Pace: b.Pace, Access: gen.Access})
		}
	}
	gen.Finder = b.Embeddings.NewFinder(d.Config.Embeddings(), gen.Catalog.All())
	gen.addEndpoints(d, before, b.Handler)
	if !d.Tried() {
		gen.PromptFaults, gen.WorkflowFaults = nil, nil // their tools may still be loaded
	} else {
		gen.Selectors.Unmatched = append(gen.Selectors.Unmatched, gen.skills.CheckTools(gen.Main.Endpoint, d.Config.ReservedToolNames())...)
	}
	gen.Updated = time.Now()
	var diff catalog.Diff
	if old != nil {
		if diff = gen.Catalog.Diff(old.Catalog); diff.Empty() {
			gen.Updated = old.Updated
		}
	}
	if d.Config.Server.Manifest {
		gen.Manifest = endpoint.NewManifest(gen.Main, d.Config, b.Version, gen.Updated)
	}
	return gen, diff
}

// Access returns the access requirements of a tool and the way its calls reach the service, each with the setting that
// decides it.
func (gen *Generation) Access(p *plan.Plan) *admin.ToolAccess {
	return (&report.AccessReporter{Config: gen.Config, Entries: gen.Entries, HasGuard: gen.Main.Guard != nil}).Access(p)
}

// compileOptions returns the parameters of the compilation of a deployment's plans; old is the generation before, if any, and earlier are
// the names that tools had.
func (b *Builder) compileOptions(d *Deployment, old *Generation, earlier catalog.Published) plan.Options {
	o := plan.Options{
		Config: d.Config, APIs: d.APIs, Count: d.apiCount(), Conditions: d.conditions, Programs: d.programs, Lock: d.lock, Published: earlier, GuessedJob: b.GuessedJob, PublicURL: b.PublicURL,
		Pace: b.Pace, Metrics: b.Metrics, Logger: b.Log,
	}
	if d.keepsNames() {
		o.Published = earlier.Under(d.approvedNames)
	}
	if old != nil {
		o.Before = old.Set
	}
	for _, w := range d.descriptions {
		for _, one := range w.Workflows {
			o.Reserved = append(o.Reserved, one.ID)
		}
	}
	if d.Guard != nil {
		o.DefaultScopes = d.Config.Auth.DefaultScopes
	}
	return o
}
