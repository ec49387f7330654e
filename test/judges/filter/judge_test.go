package filter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi"
	"drawbridge/test/judges/generate"
	"drawbridge/test/race"
)

var (
	cases    = flag.Int("cases", 2000, "how many calls are generated and decoded again; a quarter of them with the race detector")
	seed     = flag.Uint64("seed", 1, "what the documents and arguments are generated from; 0: a new one")
	markdown = flag.Bool("markdown", false, "print the table in Markdown")
)

const perDocument = 50

// Whatever a generated document says of a parameter, what the gateway sends is decoded to the argument that went in: by
// openapi3filter, and by a second decoder that is written from the standard's tables. A value may be refused only for a
// reason in the list of reasons.
func TestJudge(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	cases := race.Fewer(*cases, *cases/4)
	t.Logf("seed %d, %d cases", *seed, cases)
	j := judge{t: t, rows: map[string]*tally{}, ruled: map[string]int{}}
	for document := 0; j.calls < cases && j.failed < 20; document++ {
		r := rand.New(rand.NewPCG(*seed, uint64(document)))
		version := []string{"3.0.3", "3.1.0"}[r.IntN(2)]
		j.document(r, version, operations(r, min(perDocument, cases-j.calls)))
	}
	j.print()
}

type judge struct {
	t      *testing.T
	calls  int
	failed int
	rows   map[string]*tally
	ruled  map[string]int // rule or gap of the standard → how many parameters
}

// tally counts the parameters of one row of the table.
type tally struct{ sent, byBoth, byRule, undecided, refused, unsent int }

func (j *judge) fail(format string, args ...any) {
	j.t.Helper()
	j.failed++
	j.t.Errorf(format, args...)
}

func (j *judge) document(r *rand.Rand, version string, all []operation) {
	api, theirs := prepare(j.t, version, all)
	for _, s := range api.Skipped {
		j.fail("skipped: %s", s.String())
	}
	for _, p := range api.Problems {
		j.fail("problem: %s: %s", p.Code, p.Message)
	}
	for _, op := range api.Operations {
		i := slices.IndexFunc(all, func(o operation) bool { return o.path == op.Path })
		j.calls++
		j.call(r, theirs, all, &all[i], op)
	}
}

// prepare loads a document for the gateway and for openapi3filter.
func prepare(t *testing.T, version string, all []operation) (*openapi.API, *openapi3.T) {
	t.Helper()
	text := document(version, all)
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := openapi.Load(t.Context(), file, openapi.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), openapi.CompileOptions{Output: openapi.OutputOff})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := load(text)
	if err != nil {
		t.Fatalf("openapi3filter does not load the document: %v", err)
	}
	return api, theirs
}

// call makes one call and holds every parameter of it against both decoders.
func (j *judge) call(r *rand.Rand, theirs *openapi3.T, all []operation, o *operation, op *openapi.Operation) {
	schema, err := generate.New(op.Input)
	if err != nil {
		j.fail("%s: %v", o.path, err)
		return
	}
	names := argumentNames(op.Input)
	for range 8 { // until one call is not refused
		arguments, err := schema.Instance(r, generate.Options{NoEmpty: r.IntN(3) > 0, Plain: r.IntN(8) == 0})
		if err != nil {
			j.fail("%s: %v: %s", o.path, err, op.Input)
			return
		}
		request, err := op.NewRequest(j.t.Context(), nil, arguments)
		if err != nil {
			if !j.refused(o, names, arguments, err) {
				return
			}
			continue
		}
		j.sent(theirs, all, o, names, arguments, request)
		return
	}
}

// sent looks at a request.
func (j *judge) sent(theirs *openapi3.T, all []operation, o *operation, names map[string]string, arguments json.RawMessage, request *http.Request) {
	in, arrived, text, err := transfer(request, all, o)
	if err != nil {
		j.fail("%s: %s: %v\n%s", o.path, arguments, err, text)
		return
	}
	given := values(arguments)
	for _, p := range o.params {
		value, ok := given[names[p.title]]
		if problem := j.compare(theirs, o, p, value, ok, in, arrived); problem != "" {
			parameter, err := json.Marshal(p.object())
			if err != nil {
				j.t.Fatal(err)
			}
			j.fail("%s\n parameter %s\n arguments %s\n sent      %s", problem, parameter, arguments, strings.ReplaceAll(text, "\r\n", " | "))
		}
	}
}

// transfer writes a request, reads it as a server does, and routes it.
func transfer(request *http.Request, all []operation, o *operation) (in received, arrived *http.Request, text string, err error) {
	var wire bytes.Buffer
	if err := request.Write(&wire); err != nil {
		return in, nil, "", err
	}
	text = wire.String()
	if arrived, err = http.ReadRequest(bufio.NewReader(&wire)); err != nil {
		return in, nil, text, err
	}
	escaped, query, _ := strings.Cut(arrived.RequestURI, "?")
	found, variables, err := route(all, strings.TrimPrefix(escaped, "/base"))
	if err == nil && found.path != o.path {
		err = fmt.Errorf("it is routed to %q", found.path)
	}
	in = received{segments: variables, query: query, cookies: arrived.Header.Get("Cookie"), header: func(name string) (string, bool) {
		values := arrived.Header.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}}
	return in, arrived, text, err
}

// refused looks at a refusal: every fault must have a reason, and name the argument.
func (j *judge) refused(o *operation, names map[string]string, arguments json.RawMessage, err error) bool {
	var e *openapi.ArgumentError
	if !errors.As(err, &e) {
		j.fail("%s: %s: %v", o.path, arguments, err)
		return false
	}
	given := values(arguments)
	for _, f := range e.Faults {
		i := slices.IndexFunc(o.params, func(p *param) bool { return f.Pointer == "/"+names[p.title] })
		if i < 0 && f.Pointer == "" { // a segment of the path, of which the argument is a part
			i = slices.IndexFunc(o.params, func(p *param) bool { return p.in == "path" && p.refusable(given[names[p.title]]) != "" })
		}
		if i < 0 {
			j.fail("%s: %s: the fault names no argument: %q %s", o.path, arguments, f.Pointer, f.Message)
			return false
		}
		p := o.params[i]
		if p.refusable(given[names[p.title]]) == "" {
			parameter, _ := json.Marshal(p.object())
			j.fail("refused without a reason that is known: %s\n parameter %s\n arguments %s", f.Message, parameter, arguments)
			return false
		}
		j.row(p).refused++
	}
	return true
}

func (j *judge) row(p *param) *tally {
	name := p.row()
	if j.rows[name] == nil {
		j.rows[name] = &tally{}
	}
	return j.rows[name]
}

// compare holds what both decoders make of a parameter against its argument.
func (j *judge) compare(theirs *openapi3.T, o *operation, p *param, value any, given bool, in received, arrived *http.Request) (problem string) {
	want := p.carried(defined(value, p.style == "deepObject"))
	row := j.row(p)
	if !p.content && undefined(want) {
		given = false
	}
	got, found, err := p.decode(in)
	if !given {
		row.unsent++
		if found || err != nil {
			return fmt.Sprintf("not given, and %v (%v) was sent", got, err)
		}
		return ""
	}
	row.sent++
	if gap := p.undecidable(want); gap != "" {
		row.undecided++
		j.ruled[gap]++
		return ""
	}
	if err != nil || !found {
		return fmt.Sprintf("our decoder: found %v: %v", found, err)
	}
	if diff := cmp.Diff(normal(want), normal(got), cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })); diff != "" {
		return "our decoder:\n" + diff
	}
	for _, r := range rules {
		if r.applies(p, want) {
			row.byRule++
			j.ruled[r.name]++
			return ""
		}
	}
	got, found, err = decodeByFilter(theirs, o.path, p, arrived, decoded(in.segments))
	if err != nil || !found {
		return fmt.Sprintf("openapi3filter: found %v: %v", found, err)
	}
	if !same(want, got) {
		return fmt.Sprintf("openapi3filter: want %#v\n got %#v", want, got)
	}
	row.byBoth++
	return ""
}

// argumentNames finds each parameter's argument by the title of its schema.
func argumentNames(input json.RawMessage) map[string]string {
	var schema struct {
		Properties map[string]struct{ Title string }
	}
	if err := json.Unmarshal(input, &schema); err != nil {
		return nil
	}
	names := map[string]string{}
	for name, s := range schema.Properties {
		names[s.Title] = name
	}
	return names
}

func values(arguments json.RawMessage) map[string]any {
	v, err := fromJSON(string(arguments))
	if err != nil {
		return nil
	}
	object, _ := v.(map[string]any)
	return object
}

func (j *judge) print() {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	head := []string{"row", "sent", "decoded by both", "by rule", "undecidable", "refused", "not given"}
	print := func(cells []string) {
		if *markdown {
			fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		} else {
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
	}
	print(head)
	if *markdown {
		fmt.Fprintln(&out, "|---"+strings.Repeat("|---:", len(head)-1)+"|")
	}
	var all tally
	cells := func(name string, n *tally) []string {
		out := []string{name}
		for _, n := range []int{n.sent, n.byBoth, n.byRule, n.undecided, n.refused, n.unsent} {
			out = append(out, fmt.Sprint(n))
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(j.rows)) {
		n := j.rows[name]
		print(cells(name, n))
		all.sent += n.sent
		all.byBoth += n.byBoth
		all.byRule += n.byRule
		all.undecided += n.undecided
		all.refused += n.refused
		all.unsent += n.unsent
	}
	print(cells("all", &all))
	table.Flush()
	fmt.Fprintln(&out)
	j.explain(&out)
	fmt.Fprintf(j.t.Output(), "judge openapi3filter: seed %d, %d calls\n\n%s", *seed, j.calls, out.String())
}

// explain prints the rules, and the gaps of the standard, with how many parameters each has explained.
func (j *judge) explain(out *bytes.Buffer) {
	line := "- %[3]d × %[1]s (%[2]s)\n"
	if *markdown {
		line = "| %s | %s | %d |\n"
		fmt.Fprint(out, "| what openapi3filter does | what decides | parameters |\n|---|---|---:|\n")
	}
	for _, r := range rules {
		fmt.Fprintf(out, line, r.name, r.clause, j.ruled[r.name])
	}
	for _, gap := range slices.Sorted(maps.Keys(j.ruled)) {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.name == gap }) {
			fmt.Fprintf(out, line, "(nobody can read it back)", gap, j.ruled[gap])
		}
	}
}
