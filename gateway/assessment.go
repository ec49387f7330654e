package gateway

import (
	"context"
	"errors"
	"time"
	"weak"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/plan"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/proof"
	"drawbridge/openapi/readiness"
)

// Assessment is the score of the tools of an API.
type Assessment struct {
	*readiness.Assessment
	// Load loads the document of the assessment with one further overlay, see [readiness.Assessment.Fix].
	Load proof.Loader
}

// reading is the document of an API that was read again.
type reading struct {
	gen  *generation.Generation
	doc  *openapi.Document
	api  *openapi.API
	load proof.Loader // loads it with one further overlay
}

// reread reads the document of an API again. It is the newest one, which may be held.
func (s *served) reread(ctx context.Context, api string) (r reading, err error) {
	r.gen = s.current.Load()
	if r.gen == nil || r.gen.Reports[api] == nil {
		return r, errors.New("no API of that name is served")
	}
	files := r.gen.Files[api]
	if r.doc, r.api, err = files.Read(ctx); err != nil {
		return r, err
	}
	text := r.doc.Copy
	r.load = func(ctx context.Context, overlay []byte) (*openapi.Document, *openapi.API, error) {
		return files.ReadWith(ctx, text, fetch.File{Location: proof.Location, Data: overlay})
	}
	return r, nil
}

// Assess reads the document of an API again and scores the tools that are made of it, with the settings that the
// configuration gives them.
func (s *served) Assess(ctx context.Context, api string) (*Assessment, error) {
	r, err := s.reread(ctx, api)
	if err != nil {
		return nil, err
	}
	var skipped []openapi.Skipped
	for _, s := range r.api.Skipped {
		if r.gen.Reports[api].Wants(s) {
			skipped = append(skipped, s)
		}
	}
	a := &Assessment{Assessment: readiness.Assess(r.doc, r.api, assessed(r.gen, api, r.api), skipped), Load: r.load}
	a.Report.ShowFiles(r.gen.Reports[api].Shown)
	return a, nil
}

// FixDrift reads the document of an API again and derives the overlay that makes it declare what was observed.
func (s *served) FixDrift(ctx context.Context, api string, d *admin.Drift) (*readiness.DriftFix, error) {
	r, err := s.reread(ctx, api)
	if err != nil {
		return nil, err
	}
	observed := make([]readiness.Observed, len(d.Differences))
	for i := range d.Differences {
		of := &d.Differences[i]
		observed[i] = readiness.Observed{Method: of.Method, Path: of.Path, Difference: of.Difference, Text: of.Text()}
	}
	return readiness.FixDrift(ctx, r.doc, r.api, api, observed, r.load)
}

// scoreLifetime is how long a score is kept: an operator goes from one of its pages to the next, and to score a large document takes seconds.
const scoreLifetime = time.Minute

// score is a score that is kept.
type score struct {
	api    string
	gen    weak.Pointer[generation.Generation] // the one in use
	report *readiness.Report
}

// Readiness returns the report of [Gateway.Assess], which may be up to a minute old if the same generation is in use. It must not be changed.
func (s *served) Readiness(ctx context.Context, api string) (*readiness.Report, error) {
	gen := weak.Make(s.current.Load())
	if kept := s.score.Load(); kept != nil && kept.api == api && kept.gen == gen {
		return kept.report, nil
	}
	a, err := s.Assess(ctx, api)
	if err != nil {
		return nil, err
	}
	kept := &score{api, gen, a.Report}
	s.score.Store(kept)
	time.AfterFunc(scoreLifetime, func() { s.score.CompareAndSwap(kept, nil) })
	return kept.report, nil
}

// assessed returns the tools of an API with the operations of a document that has just been compiled.
func assessed(gen *generation.Generation, api string, compiled *openapi.API) (tools []readiness.Tool) {
	type key struct{ method, path string }
	operations := map[key]*openapi.Operation{}
	for _, op := range compiled.Operations {
		operations[key{op.Method, op.Path}] = op
	}
	for _, t := range gen.Catalog.All() {
		op := operations[key{t.Method, t.Path}]
		if t.API != api || t.Operation == nil || op == nil {
			continue
		}
		settled, chooses := settledArguments(t, op)
		tools = append(tools, readiness.Tool{Operation: op, Name: t.Name, Described: t.Described, ReadOnly: t.Annotations.ReadOnly, Settled: settled, ChoosesFields: chooses || gen.Main.Presentation.Search,
			Lenient: gen.ByTool[t.Name] != nil && gen.ByTool[t.Name].Requests.IsLenient()})
	}
	return tools
}

// settledArguments returns the arguments of an operation that the tool doesn't show, and those that it describes although
// the document does not. chooses reports whether callers can choose the fields of the answer.
func settledArguments(t *catalog.Tool, op *openapi.Operation) (settled []string, chooses bool) {
	shown, _ := t.Published(openapi.ProfileFull)
	described := map[string]bool{}
	for _, m := range jsonschema.Parse(shown).Members() {
		described[m.Name] = m.Schema.Text("description") != ""
	}
	own, _ := op.Published(openapi.ProfileFull)
	for _, m := range jsonschema.Parse(own).Members() {
		if is, ok := described[m.Name]; !ok || is && m.Schema.Text("description") == "" {
			settled = append(settled, m.Name)
		}
	}
	_, chooses = described[plan.SelectArgument]
	return settled, chooses
}
