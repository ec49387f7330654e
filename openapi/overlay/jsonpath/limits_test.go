package jsonpath

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"drawbridge/openapi/tree"
	"drawbridge/test/timebox"
)

// nested are queries whose recursion depth is proportional to their length: text n times between a beginning and an
// end, each of which may be missing.
var nested = map[string]struct{ before, text, after, end string }{
	"parentheses":          {"$[?", "(", "", ""},
	"closed parentheses":   {"$[?", "(", "@.a", ")"},
	"brackets":             {"$", "[", "", ""},
	"filters":              {"$", "[?@", "", ""},
	"closed filters":       {"$", "[?@", "", "]"},
	"filters of the root":  {"$", "[?$", "", ""},
	"descendant filters":   {"$", "..[?@", "", ""},
	"negations":            {"$[?", "!(", "", ""},
	"bare negations":       {"$[?", "!", "@.a]", ""},
	"conjunctions":         {"$[?", "(@.a&&", "", ""},
	"flat conjunctions":    {"$[?@.a", "&&@.a", "]", ""},
	"disjunctions":         {"$[?", "@.a||(", "", ""},
	"functions":            {"$[?", "length(", "", ""},
	"functions of queries": {"$[?", "count(@[?", "", ""},
	"functions of values":  {"$[?", "value(@.a[?", "", ""},
	"comparisons":          {"$[?", "@.a==(", "", ""},
	"patterns":             {"$[?", "match(@.a,match(", "", ""},
	"spaced filters":       {"$", " [ ? @ ", "", ""},
	"mixed":                {"$", "[?!(@..a[?(@.b==1||length(@.c)>1)&&@", "", ""},
}

// TestNestedQueries checks that the parser never recurses beyond its limit, for any length of text.
func TestNestedQueries(t *testing.T) {
	for name, c := range nested {
		t.Run(name, func(t *testing.T) {
			timebox.Processor(t, 5*time.Second, func() {
				for _, n := range []int{10, 40, 1_000, 100_000, 1_000_000} {
					text := c.before + strings.Repeat(c.text, n) + c.after + strings.Repeat(c.end, n)
					_, err := Parse(text)
					switch {
					case len(text) > MaxBytes && !errors.Is(err, errTooLong):
						t.Errorf("%d bytes: %v", len(text), err)
					case err != nil && len(err.Error()) > 200:
						t.Errorf("%d bytes: an error of %d", len(text), len(err.Error()))
					case err != nil && len(text) <= MaxBytes && !strings.HasPrefix(err.Error(), "at character "):
						t.Errorf("an error without a position: %v", err)
					}
				}
			})
		})
	}
}

// TestDepth checks the deepest accepted query, and one level more.
func TestDepth(t *testing.T) {
	for n, want := range map[int]string{maxDepth: "", maxDepth + 1: "at character 132: filters, parentheses and functions are nested more than 32 levels deep"} {
		_, err := Parse("$" + strings.Repeat("[?@ ", n) + strings.Repeat("]", n))
		if err == nil != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d levels: %v", n, err)
		}
	}
}

// TestPatternLimits checks that regular expressions that are too expensive are refused with their position, before they
// are compiled.
func TestPatternLimits(t *testing.T) {
	for pattern, want := range map[string]string{
		strings.Repeat("a", maxPattern+1):                    "has 1001 bytes; at most 1000 are allowed",
		`(.?){400}(.?){400}(.?){400}(.?){400}`:               "takes a program of more than 10000 instructions; use smaller repetitions",
		strings.Repeat("x{999}", 20):                         "takes a program of more than 10000 instructions; use smaller repetitions",
		"x{1000}{1000}":                                      "", // Go refuses it, so that it matches nothing
		strings.Repeat("(", 400) + strings.Repeat(")*", 200): "",
		strings.Repeat("(", 300) + strings.Repeat(")*", 300): "",
		`(a|b){1,500}`:                                       "",
	} {
		_, err := Parse("$[?match(@.a, '" + pattern + "')]")
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", pattern, err)
		}
	}
}

// TestWork checks that a filter is charged during its work, so that a few thousand steps end it.
func TestWork(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"p":{`)
	for i := range 300 {
		fmt.Fprintf(&b, `"k%d":{"a":[[[[[[1,2,3]]]]]],"t":"some text"},`, i)
	}
	b.WriteString(`"z":0},"long":"` + strings.Repeat("word ", 100_000) + `","digits":` + strings.Repeat("9", 300_000) + `,"pattern":"(a|b)*` + strings.Repeat("(c?){90}", 80) + `"}`)
	root, err := tree.Parse("document", []byte(b.String()), tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"$..[?count($..*)>0]", "$..[?count(@..[?count($..*)>0])>0]", "$.p[?$.p[?$.p[?$.p[?@.b]]]]",
		"$.p[?count(@" + strings.Repeat("[*,*,*,*]", 20) + ")>0]", "$.p[?count(@['a','a','a','a'][0,0,0,0,0][0,0,0,0][0,0])>0]",
		"$.p[?length($.long)>0]", "$.p[?$.long<=$.long&&$.long!=$.long]", "$.p[?$.digits<0]", "$.p[?search($.long,'x')]", "$.p[?search(@.t,$.pattern)]",
		"$.p[?match(@.t,'" + strings.Repeat("(", 200) + "a" + strings.Repeat("*)", 200) + "')]", "$.p[?$.p==$.p.k1||value($..zz)==1]",
		"$.p[?" + strings.Repeat("@.x||", 1000) + "@.x]", "$" + strings.Repeat("..*", 8), "$..[" + strings.Repeat("::-1,", 1000) + "*]", "$..[" + strings.Repeat("*,", 1000) + "*]",
	} {
		q, err := Parse(query)
		if err != nil {
			t.Errorf("%.60s: %v", query, err)
			continue
		}
		timebox.Processor(t, 2*time.Second, func() {
			if _, err := q.Select(root, &steps{left: 20_000}); !errors.Is(err, errSteps) && !(err != nil && strings.Contains(err.Error(), "instructions")) {
				t.Errorf("%.60s: %v", query, err)
			}
		})
	}
}
