package catalog

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// A fixture is what stands in the section "catalog" of a case.
type fixture struct {
	Short     bool
	Published []struct{ API, Method, Path, ID, Name string }
	Prefix    string
	APIs      int
	MaxName   int
	Reserved  []string
	API       []struct {
		Name       string
		Yields     bool
		Operations []struct {
			ID, Method, Path, Summary, Description, Returns string
			Tags                                            []string
			Deprecated                                      bool
			Output, Example                                 json.RawMessage
			ExampleInvented                                 []string
			Choice                                          Choice
			Excluded                                        bool
		}
	}
}

func (f *fixture) build() *Catalog {
	var apis []API
	for _, a := range f.API {
		choices := map[*openapi.Operation]Choice{}
		api := API{Name: a.Name, Yields: a.Yields, Choose: func(op *openapi.Operation) (Choice, bool) {
			c, ok := choices[op]
			return c, ok
		}}
		for _, o := range a.Operations {
			op := &openapi.Operation{
				ID: o.ID, Method: o.Method, Path: o.Path, Tags: o.Tags, Summary: o.Summary, Description: o.Description, Returns: o.Returns,
				Deprecated: o.Deprecated, Output: o.Output, Example: o.Example, ExampleInvented: o.ExampleInvented, Input: json.RawMessage(`{"type":"object"}`),
			}
			api.Operations = append(api.Operations, op)
			if !o.Excluded {
				choices[op] = o.Choice
			}
		}
		apis = append(apis, api)
	}
	published := Published{}
	for _, p := range f.Published {
		published[OperationKey{p.API, p.Method, p.Path}] = PublishedNames{ID: p.ID, Names: []string{p.Name}}
	}
	names := ByID
	if f.Short {
		names = Short
	}
	return Build(apis, Options{
		Names: names, Published: published,
		Prefix: map[string]Prefix{"": Auto, "always": Always, "never": Never}[f.Prefix], APIs: f.APIs, MaxName: f.MaxName, Reserved: f.Reserved,
	})
}

// Each case is a catalog in JSON and what clients and models see of its tools.
func TestCatalog(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		if len(bytes.TrimSpace(a.Comment)) == 0 || len(a.Files) != 2 {
			t.Fatal("want a reason, a catalog and its tools")
		}
		var f fixture
		if err := json.Unmarshal(a.Files[0].Data, &f); err != nil {
			t.Fatal(err)
		}
		c := f.build()
		check(t, c)
		var got strings.Builder
		for _, tool := range c.All() {
			fmt.Fprintf(&got, "%s = %s\n", tool.Name, tool.Title)
			if f.Short {
				fmt.Fprintf(&got, "   < %s %s%s\n", tool.Method, tool.Path, callableBy(c, tool))
				continue
			}
			for line := range strings.Lines(tool.Description) {
				if line = strings.TrimSuffix(line, "\n"); line == "" {
					got.WriteString("   |\n")
				} else {
					fmt.Fprintf(&got, "   | %s\n", line)
				}
			}
		}
		if *update {
			a.Files[1].Data = []byte(got.String())
			cases.Write(t, file, a)
		}
		if diff := cmp.Diff(string(a.Files[1].Data), got.String()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// callableBy lists the former names by which calls reach a tool.
func callableBy(c *Catalog, tool *Tool) (text string) {
	for _, name := range tool.Former {
		if c.Renamed(name) == tool {
			text += ", also " + name
		}
	}
	return text
}

var legalName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check holds what is true of every catalog.
func check(t *testing.T, c *Catalog) {
	t.Helper()
	names := map[string]bool{}
	for i, tool := range c.All() {
		if !legalName.MatchString(tool.Name) || names[tool.Name] {
			t.Errorf("name %q is bad or stands twice", tool.Name)
		}
		names[tool.Name] = true
		if i > 0 && c.All()[i-1].Name >= tool.Name {
			t.Errorf("%q is out of order", tool.Name)
		}
		if c.Lookup(tool.Name) != tool {
			t.Errorf("%q is not found", tool.Name)
		}
		if n := utf8.RuneCountInString(tool.Description); n == 0 || n > 1024 || !utf8.ValidString(tool.Description) {
			t.Errorf("%s: the description has %d characters", tool.Name, n)
		}
		if n := utf8.RuneCountInString(tool.Title); n == 0 || n > 100 || strings.Contains(tool.Title, "\n") {
			t.Errorf("%s: title %q", tool.Name, tool.Title)
		}
		for _, text := range []string{tool.Title, tool.Description} {
			if strings.ContainsFunc(text, hidden) || strings.Contains(text, "<!--") {
				t.Errorf("%s: %q is not clean", tool.Name, text)
			}
		}
	}
	for _, f := range allFeatures {
		pages := c.Pages(f, 2, nil)
		var all []json.RawMessage
		for _, page := range pages {
			var tools []json.RawMessage
			if err := json.Unmarshal(page, &tools); err != nil || len(tools) > 2 {
				t.Errorf("%s: %v", page, err)
			}
			if len(pages) > 1 && len(tools) == 0 {
				t.Error("an empty page")
			}
			all = append(all, tools...)
		}
		whole := c.View(f, nil)
		if info, err := jsonscan.Scan(whole, jsonscan.Options{Unique: true}); err != nil || info.Kind != jsonscan.Array {
			t.Errorf("%s: %v", whole, err)
		}
		var tools []json.RawMessage
		if err := json.Unmarshal(whole, &tools); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(tools, all, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Errorf("pages have %d tools, differing from %s", len(all), whole)
		}
		listed := 0
		for _, tool := range c.All() {
			if tool.Hidden {
				continue
			}
			if string(tool.Definition(f)) != string(tools[listed]) || tool.size(f) != len(tools[listed]) {
				t.Errorf("%s is listed as %s", tool.Name, tools[listed])
			}
			listed++
		}
		if listed != len(tools) {
			t.Errorf("%d tools are listed, want %d", len(tools), listed)
		}
	}
}

var allFeatures = []Features{{}, {Annotations: true}, {Title: true}, {OutputSchema: true}, {Title: true, Annotations: true, OutputSchema: true}}

// Each revision gets exactly the members that it knows; the title has another place in 2025-03-26.
func TestDefinition(t *testing.T) {
	op := &openapi.Operation{ID: "dropOrder", Method: "DELETE", Path: "/orders/{id}", Summary: `Drop "an" order`, Returns: "204: no content",
		Input: json.RawMessage(`{"type":"object","additionalProperties":false}`), Output: json.RawMessage(`{"type":"object"}`)}
	c := Build([]API{{Name: "shop", Operations: []*openapi.Operation{op}}}, Options{})
	const description = `"description":"Drop \"an\" order. Returns 204: no content.","inputSchema":{"type":"object","additionalProperties":false}`
	const hints = `"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true`
	for f, want := range map[Features]string{
		{}:                  `[{"name":"dropOrder",` + description + `}]`,
		{Annotations: true}: `[{"name":"dropOrder",` + description + `,"annotations":{` + hints + `,"title":"Drop \"an\" order"}}]`,
		{Title: true, Annotations: true, OutputSchema: true}: `[{"name":"dropOrder","title":"Drop \"an\" order",` + description +
			`,"outputSchema":{"type":"object"},"annotations":{` + hints + `}}]`,
	} {
		if diff := cmp.Diff(want, string(c.View(f, nil))); diff != "" {
			t.Errorf("%+v: %s", f, diff)
		}
	}
	if got := string(c.View(Features{}, func(*Tool) bool { return false })); got != "[]" {
		t.Errorf("nothing visible: %s", got)
	}
	view := c.View(AllFeatures, nil)
	if got, want := c.All()[0].Tokens(), tokenizer.Count(view[1:len(view)-1]); got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}

// S11, pains row 49: every hint is explicit and follows from the method.
func TestAnnotations(t *testing.T) {
	for method, want := range map[string]Annotations{
		"GET":      {ReadOnly: true, Idempotent: true, OpenWorld: true},
		"HEAD":     {ReadOnly: true, Idempotent: true, OpenWorld: true},
		"OPTIONS":  {ReadOnly: true, Idempotent: true, OpenWorld: true},
		"TRACE":    {ReadOnly: true, Idempotent: true, OpenWorld: true},
		"QUERY":    {ReadOnly: true, Idempotent: true, OpenWorld: true},
		"POST":     {Destructive: true, OpenWorld: true},
		"PUT":      {Destructive: true, Idempotent: true, OpenWorld: true},
		"DELETE":   {Destructive: true, Idempotent: true, OpenWorld: true},
		"PATCH":    {Destructive: true, OpenWorld: true},
		"PROPFIND": {Destructive: true, OpenWorld: true},
	} {
		if got := AnnotationsOf(method); got != want {
			t.Errorf("%s: got %+v, want %+v", method, got, want)
		}
	}
}

// TestNamesAreStable: no order of APIs or operations changes a name, and names are legal and different, also when ids are hostile.
func TestNamesAreStable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ids := []string{"", "list", "list", "List", "get.order", "get/order", "get order", "订单", "a" + strings.Repeat("b", 80), strings.Repeat("c", 200)}
	for round := range 200 {
		var apis []API
		for a := range 1 + r.IntN(3) {
			api := API{Name: fmt.Sprintf("api %d", a)}
			for o := range r.IntN(12) {
				api.Operations = append(api.Operations, &openapi.Operation{
					ID: ids[r.IntN(len(ids))], Method: []string{"GET", "POST"}[r.IntN(2)], Path: fmt.Sprintf("/x/{y}/%d", o%7),
					Pointer: fmt.Sprint(o), Input: json.RawMessage(`{}`),
				})
			}
			apis = append(apis, api)
		}
		if round%2 == 0 && len(apis[0].Operations) > 0 {
			// A name that looks like the suffixed name of another.
			first := Build(apis, Options{Prefix: Never}).byOperation()[apis[0].Operations[0]]
			apis[0].Operations = append(apis[0].Operations, &openapi.Operation{ID: first, Method: "PUT", Path: "/look", Input: json.RawMessage(`{}`)})
		}
		o := Options{Prefix: Prefix(r.IntN(3)), MaxName: []int{0, 16, 40}[r.IntN(3)]}
		before := Build(apis, o)
		check(t, before)
		if o.MaxName > 0 {
			for _, tool := range before.All() {
				if len(tool.Name) > o.MaxName {
					t.Errorf("%q is longer than %d", tool.Name, o.MaxName)
				}
			}
		}
		r.Shuffle(len(apis), func(i, j int) { apis[i], apis[j] = apis[j], apis[i] })
		for _, api := range apis {
			r.Shuffle(len(api.Operations), func(i, j int) {
				api.Operations[i], api.Operations[j] = api.Operations[j], api.Operations[i]
			})
		}
		after := Build(apis, o)
		if diff := cmp.Diff(before.byOperation(), after.byOperation()); diff != "" {
			t.Fatalf("order changes names: %s", diff)
		}
		if d := after.Diff(before); len(d.Added)+len(d.Removed)+len(d.Changed) > 0 {
			t.Fatalf("order makes a difference: %+v", d)
		}
	}
}

func (c *Catalog) byOperation() map[*openapi.Operation]string {
	m := map[*openapi.Operation]string{}
	for _, t := range c.All() {
		m[t.Operation] = t.Name
	}
	return m
}

func TestDiff(t *testing.T) {
	op := func(id, path, summary string) *openapi.Operation {
		return &openapi.Operation{ID: id, Method: "GET", Path: path, Summary: summary, Input: json.RawMessage(`{}`)}
	}
	build := func(ops ...*openapi.Operation) *Catalog {
		return Build([]API{{Name: "a", Operations: ops}}, Options{})
	}
	old := build(op("same", "/s", "x"), op("text", "/t", "x"), op("path", "/p", "x"), op("gone", "/g", "x"))
	now := build(op("new", "/n", "x"), op("path", "/p2", "x"), op("text", "/t", "y"), op("same", "/s", "x"))
	if diff := cmp.Diff(Diff{Added: []string{"new"}, Removed: []string{"gone"}, Changed: []string{"path", "text"}}, now.Diff(old)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Diff{Added: []string{"new", "path", "same", "text"}}, now.Diff(nil)); diff != "" {
		t.Error(diff)
	}
}

// hidden tells whether a character is not seen, in other words than the code that takes it out.
func hidden(r rune) bool {
	signs := []rune{0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x8e2} // of numbers, in Arabic and Syriac
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) && !slices.Contains(signs, r)
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a", "<!-- x -->b", "<!<!-- -->-- x -->", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07x", "a\u202eb", "\U000e0041", "<!\u200b-- x -->", "\x9b1m", "\r\n\r\n\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := clean(s)
		if strings.ContainsFunc(out, hidden) || strings.Contains(out, "<!--") ||
			strings.Contains(out, "\n\n\n") || !utf8.ValidString(out) {
			t.Fatalf("%q became %q", s, out)
		}
		if again := clean(out); again != out {
			t.Fatalf("%q became %q, then %q", s, out, again)
		}
		if short := text.TruncateWords(out, 50); utf8.RuneCountInString(short) > 50 {
			t.Fatalf("%q is too long", short)
		}
	})
}

func synthetic(n int) *Catalog {
	api := API{Name: "github"}
	for i := range n {
		api.Operations = append(api.Operations, &openapi.Operation{
			ID: fmt.Sprintf("repos/get-%d", i), Method: "GET", Path: fmt.Sprintf("/repos/{owner}/{repo}/x%d", i), Summary: "Get a thing",
			Description: strings.Repeat("What the thing is and does. ", 15), Returns: "200: a Thing object (application/json)",
			Input:  json.RawMessage(`{"type":"object","properties":{` + strings.Repeat(`"a":{"type":"string"},`, 40) + `"z":{}}}`),
			Output: json.RawMessage(`{"type":"object"}`),
		})
	}
	return Build([]API{api}, Options{})
}

func BenchmarkView(b *testing.B) {
	c := synthetic(1223)
	f := Features{Title: true, Annotations: true, OutputSchema: true}
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(c.View(f, nil))))
	}
}

func BenchmarkBuild(b *testing.B) {
	c := synthetic(1223)
	api := API{Name: "github"}
	for _, t := range c.All() {
		api.Operations = append(api.Operations, t.Operation)
	}
	b.ReportAllocs()
	for b.Loop() {
		Build([]API{api}, Options{})
	}
}

// TestProfile: a view may ask for a profile that the API was not configured with, as an endpoint for one kind of client
// would; the profile is part of the features by which views are kept.
func TestProfile(t *testing.T) {
	input := json.RawMessage(`{"type":"object","properties":{"a":{"type":["string","null"],"default":"x"}},"additionalProperties":false}`)
	c := Build([]API{{Name: "a", Operations: []*openapi.Operation{{ID: "get", Method: "GET", Path: "/", Input: input}}}}, Options{})
	views := map[Features]string{}
	for _, p := range []openapi.Profile{openapi.ProfileFull, openapi.ProfilePortable} {
		f := Features{Profile: p}
		views[f] = string(c.View(f, nil))
	}
	want := map[Features]string{
		{}:                                 `[{"name":"get","description":"GET /. Returns the answer of the service.","inputSchema":` + string(input) + `}]`,
		{Profile: openapi.ProfilePortable}: `[{"name":"get","description":"GET /. Returns the answer of the service.","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"Default: \"x\". May be null."}}}}]`,
	}
	if diff := cmp.Diff(want, views); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
