package openapi

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/schema"
	"drawbridge/test/judges/generate"
)

// maxRefused is the maximum share of calls that match a published schema and are refused before they are sent, because
// of rules that JSON Schema can't express or that would cost each tool more tokens than they are worth.
const maxRefused = 0.003

// TestCorpusAccepted checks that arguments made from a published schema are sent: 20 of each tool in each profile,
// every other one with edge values (pains row 139). Rules that the other profiles omit by design, above all bounds and
// patterns in the portable one, are counted separately, an encoded slash as a slash.
func TestCorpusAccepted(t *testing.T) {
	documents := corpus(t, "testdata/corpus")
	if dir := os.Getenv("OPENAPI_CORPUS"); dir != "" {
		documents = append(documents, corpus(t, dir)...)
	}
	for name, p := range map[string]Profile{"full": ProfileFull, "compatible": ProfileCompatible, "portable": ProfilePortable} {
		t.Run(name, func(t *testing.T) {
			a := accepting{t: t, profile: p, kinds: map[string]int{}, examples: map[string]string{}}
			for _, document := range documents {
				a.document(document)
			}
			t.Logf("%d tools, %d calls; %d of them break a rule that the profile leaves out; none could be made for %d", a.tools, a.calls, a.left, a.unmade)
			refused := 0
			for _, kind := range slices.SortedFunc(maps.Keys(a.kinds), func(x, y string) int { return a.kinds[y] - a.kinds[x] }) {
				refused += a.kinds[kind]
				t.Logf("%7.3f %% %s\n\t%s", 100*float64(a.kinds[kind])/float64(a.calls), kind, a.examples[kind])
			}
			t.Logf("%7.3f %% refused", 100*float64(refused)/float64(a.calls))
			if float64(refused) > max(5, maxRefused*float64(a.calls)) {
				t.Errorf("%d of %d calls are refused", refused, a.calls)
			}
		})
	}
}

// accepting is the result for one profile.
type accepting struct {
	t                          *testing.T
	profile                    Profile
	tools, calls, left, unmade int
	kinds                      map[string]int // refusals, by message
	examples                   map[string]string
}

func (a *accepting) document(name string) {
	doc, err := Load(a.t.Context(), name, LoadOptions{})
	if err != nil {
		return // checked by TestCorpus
	}
	api, err := doc.Compile(a.t.Context(), CompileOptions{Output: OutputOff})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, op := range api.Operations {
		a.operation(filepath.Base(name), op)
	}
}

func (a *accepting) operation(document string, op *Operation) {
	input, _ := op.Published(a.profile)
	s, err := generate.New(input)
	if err != nil {
		a.t.Fatal(err)
	}
	a.tools++
	full, err := op.validator()
	if err != nil {
		a.t.Fatal(err)
	}
	hash := fnv.New64()
	fmt.Fprint(hash, op.Method, op.Path)
	r := rand.New(rand.NewPCG(1, hash.Sum64()))
	for i := range 20 {
		args, err := s.Instance(r, generate.Options{Plain: i%2 == 0, Bounds: i%2 == 1, NoExamples: i%4 < 2})
		if err != nil {
			a.unmade++
			continue
		}
		a.calls++
		var refused *ArgumentError
		switch _, err = op.NewRequest(a.t.Context(), &url.URL{Scheme: "https", Host: "api.example"}, args); {
		case err == nil:
		case !errors.As(err, &refused):
			a.t.Fatal(err)
		case a.profile != ProfileFull && len(full.Validate(schema.Decode(encodedSlash.ReplaceAll(args, []byte("/"))))) > 0:
			a.left++
		default:
			kind := detail.ReplaceAllString(refused.Faults[0].Message, "…")
			a.kinds[kind]++
			a.examples[kind] = fmt.Sprintf("%s %s %s %s: %.300s", document, op.Method, op.Path, refused.Faults[0].Pointer, args)
		}
	}
}

// encodedSlash matches the encoded forms of "/" that are refused where "/" is. The pattern of the full profile, which the portable one
// omits, permits them.
var encodedSlash = regexp.MustCompile(`%(25)*2[Ff]`)

// detail matches the variable parts of messages of one kind.
var detail = regexp.MustCompile(strings.Join([]string{`"(?:[^"\\]|\\.)*"`, `[0-9]+`}, "|"))
