package gateway_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/plan"
	"drawbridge/test/gatewaytest"
)

// reuse is a gateway whose documents are read, and whose generations are built, step by step.
type reuse struct {
	*gateway.Gateway
	t   *testing.T
	dir string
	d   *generation.Deployment
	gen *generation.Generation // the newest; nil before the first
}

func newReuse(t *testing.T, files map[string]string) *reuse {
	t.Helper()
	r := &reuse{t: t, dir: t.TempDir()}
	for name, text := range files {
		r.write(name, text)
	}
	c, problems := config.Load(filepath.Join(r.dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	var err error
	if r.Gateway, err = gateway.New(gateway.Options{Config: c, Test: gateway.TestOptions{FirstDeployment: func(d *generation.Deployment) { r.d = d }}}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reuse) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// read reads the document of the n-th API anew; a text that is none leaves the API without document.
func (r *reuse) read(n int) {
	r.t.Helper()
	s := r.d.APIs.Sources[n]
	s.Document, s.Err = s.Load(r.t.Context())
	s.Tried = true
}

// build builds the next generation.
func (r *reuse) build() *generation.Generation {
	r.t.Helper()
	r.gen, _ = r.Builder().Build(r.d, r.Table(), r.gen)
	return r.gen
}

// describe returns what a generation serves, and what it reports, in full.
func (r *reuse) describe(gen *generation.Generation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nreadable %q, clashes %q, renamed %q\n", gen.Catalog.View(catalog.AllFeatures, nil), gen.Readable, gen.Clashes, gen.RenamedApprovals)
	for _, name := range slices.Sorted(maps.Keys(gen.ByTool)) {
		p := gen.ByTool[name]
		fmt.Fprintf(&b, "%s: %s of %s, wanted %q, former %q, scopes %q, timeout %v, cached %t, asks %t\n", name, p.Operation.Pointer, p.Source.Name, p.Tool.Wanted, p.Tool.Former,
			p.Scopes, p.Timeout, p.Cache != nil, p.AsksUser())
	}
	for _, s := range r.d.APIs.Sources {
		if s.Document == nil {
			continue
		}
		for _, op := range s.Document.API.Operations {
			fmt.Fprintf(&b, "%s %s: unapproved %q, unfit %q\n", s.Name, op.Pointer, gen.Unapproved[op], gen.Unfit[op])
		}
		if rejected := gen.Rejected[s.Name]; rejected != nil {
			fmt.Fprintf(&b, "%s: %+v\n", s.Name, rejected.Problems)
		}
		fmt.Fprintf(&b, "%s: %+v\n", s.Name, gen.Reports[s.Name].Counts)
	}
	return b.String()
}

const reuseRules = `rules:
  - {match: {api: a}, set: {timeout: 7s, cache: {ttl: 60s}}}
  - {match: {path: /shared}, set: {description: Shared by many., arguments: {q: {value: x}}}}
  - {match: {api: [c, d], path: /r*}, set: {resource: true}}
  - {match: {api: e}, set: {result: {max_items: 3}}}
  - {match: {api: f}, set: {sensitive_fields: [x], confirm: true}}
`

// TestPlanReuse makes random changes of documents. Each generation that takes over what it can equals one that is compiled
// anew, and has the plans of documents that did not change unless something of them changed all the same.
func TestPlanReuse(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, settings := range []string{"tools: {prefix: never}\n", "tools: {prefix: always}\n", "tools: {prefix: never, max_name: 24}\n"} {
		t.Run(settings, func(t *testing.T) {
			files := map[string]string{"drawbridge.yaml": settings + reuseRules + "apis:\n"}
			for _, name := range names {
				files[name+".yaml"] = gatewaytest.Document(name, "own_"+name, "shared", "read")
				files["drawbridge.yaml"] += "  - {name: " + name + ", spec: " + name + ".yaml}\n"
			}
			r := newReuse(t, files)
			for n := range names {
				r.read(n)
			}
			random, kept := rand.New(rand.NewPCG(7, 11)), 0
			operations := []string{"shared", "read", "list", "a_rather_long_name_of_an_operation", "other", "räume"}
			for step := range 60 {
				n := random.IntN(len(names))
				random.Shuffle(len(operations), func(i, j int) { operations[i], operations[j] = operations[j], operations[i] })
				text := gatewaytest.Document(names[n], append([]string{"own_" + names[n]}, operations[:random.IntN(len(operations))]...)...)
				if random.IntN(6) == 0 {
					text = "no document"
				}
				r.write(names[n]+".yaml", text)
				r.read(n)
				before := r.gen
				got := r.build()
				fresh, _ := r.Builder().Build(r.d, r.Table(), nil)
				if a, b := r.describe(got), r.describe(fresh); a != b {
					t.Fatalf("step %d: incremental\n%s\nanew\n%s", step, a, b)
				}
				if before != nil {
					kept += samePlans(before, got)
				}
			}
			if kept < 100 {
				t.Errorf("only %d plans were taken over", kept)
			}
		})
	}
}

// samePlans returns how many plans two generations share.
func samePlans(a, b *generation.Generation) (n int) {
	for name, p := range a.ByTool {
		if b.ByTool[name] == p {
			n++
		}
	}
	return n
}

// TestPlanReuseOfOthers changes one document. The plans and definitions of all others are taken over: not one is made anew,
// unless its name changes.
func TestPlanReuseOfOthers(t *testing.T) {
	const n = 30
	files := map[string]string{"drawbridge.yaml": "tools: {prefix: never}\napis:\n"}
	for i := range n {
		files[fmt.Sprintf("d%02d.yaml", i)] = gatewaytest.Document(fmt.Sprintf("D %02d", i), fmt.Sprintf("get_%02d", i), fmt.Sprintf("list_%02d", i))
		files["drawbridge.yaml"] += fmt.Sprintf("  - {name: d%02d, spec: d%02[1]d.yaml}\n", i)
	}
	r := newReuse(t, files)
	for i := range n {
		r.read(i)
	}
	first := r.build()
	others := func(gen *generation.Generation) map[string]*plan.Plan {
		plans := maps.Clone(gen.ByTool)
		maps.DeleteFunc(plans, func(_ string, p *plan.Plan) bool { return p.Source.Name == "d07" || p.Source.Name == "d08" })
		return plans
	}
	r.write("d07.yaml", gatewaytest.Document("D 07", "get_07", "another"))
	r.read(7)
	second := r.build()
	if !maps.Equal(others(first), others(second)) {
		t.Error("a plan of another document was made anew")
	}
	if old, now := first.ByTool["get_08"], second.ByTool["get_08"]; old == nil || old != now || old.Tool != now.Tool {
		t.Error("the plans of d08 were made anew")
	}
	if first.ByTool["get_07"] == second.ByTool["get_07"] || second.ByTool["another"] == nil {
		t.Error("the plans of the document that changed were taken over")
	}
	r.write("d07.yaml", gatewaytest.Document("D 07", "get_08"))
	r.read(7)
	third := r.build()
	if !maps.Equal(others(first), others(third)) {
		t.Error("a plan was made anew for the name of another one")
	}
	if third.ByTool["get_08"] != nil || len(third.ByTool) != 2*n-1 || third.ByTool["list_08"] == nil || third.ByTool["list_08"] == first.ByTool["list_08"] {
		t.Error("the plans of a document whose tool has another name now were taken over")
	}
	if got, want := third.Catalog.View(catalog.AllFeatures, nil), r.definitionsAnew(); !bytes.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func (r *reuse) definitionsAnew() []byte {
	gen, _ := r.Builder().Build(r.d, r.Table(), nil)
	return gen.Catalog.View(catalog.AllFeatures, nil)
}

// A plan of a document that was approved before is made anew when its approval changes.
func TestPlanReuseWithLock(t *testing.T) {
	files := map[string]string{
		"drawbridge.yaml": "tools: {lock: tools.lock, prefix: never}\napis: [{name: a, spec: a.yaml}, {name: b, spec: b.yaml}]\n",
		"a.yaml":          gatewaytest.Document("A", "list"), "b.yaml": gatewaytest.Document("B", "look"), "tools.lock": "",
	}
	unlocked := newReuse(t, map[string]string{"drawbridge.yaml": strings.Replace(files["drawbridge.yaml"], "lock: tools.lock, ", "", 1), "a.yaml": files["a.yaml"], "b.yaml": files["b.yaml"]})
	unlocked.read(0)
	unlocked.read(1)
	files["tools.lock"] = string(config.NewLock(unlocked.build().LockedTools()).Encode())
	r := newReuse(t, files)
	r.read(0)
	r.read(1)
	first := r.build()
	r.write("b.yaml", gatewaytest.Document("B", "look", "list"))
	r.read(1)
	second := r.build()
	// list of a has another name now, which nobody has approved.
	if len(first.ByTool) != 2 || len(second.ByTool) != 1 || second.ByTool["look"] == nil {
		t.Errorf("%v, then %v", slices.Sorted(maps.Keys(first.ByTool)), slices.Sorted(maps.Keys(second.ByTool)))
	}
	r.write("b.yaml", gatewaytest.Document("B", "look"))
	r.read(1)
	if third := r.build(); len(third.ByTool) != 2 || third.ByTool["list"] == nil {
		t.Errorf("%v", slices.Sorted(maps.Keys(third.ByTool)))
	}
}
