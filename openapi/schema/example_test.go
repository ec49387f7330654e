package schema

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"drawbridge/test/race"

	"drawbridge/openapi/jsonschema"
)

// TestExample runs testdata/examples: a schema on each line of "schemas"; "examples" repeats each with its example, and
// with that of the documented optional members where it is another.
func TestExample(t *testing.T) {
	runCases(t, "examples", func(t *testing.T, files map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			if name != "examples" {
				return "", false
			}
			var out strings.Builder
			for line := range strings.Lines(files["schemas"]) {
				out.WriteString(line)
				text, ok := Example(jsonschema.Parse([]byte(strings.TrimSpace(line))), ExampleOptions{})
				if !ok {
					text = []byte("none")
				}
				fmt.Fprintf(&out, "\t%s\n", text)
				if more, ok := Example(jsonschema.Parse([]byte(strings.TrimSpace(line))), ExampleOptions{Documented: true}); ok && string(more) != string(text) {
					fmt.Fprintf(&out, "\tdocumented: %s\n", more)
				}
			}
			return out.String(), true
		}
	})
}

// TestExampleFits: whatever the schema, an example is accepted by the library, which shares no code with what made it,
// and is found in bounded time; few schemas that have values have no example.
func TestExampleFits(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(5, 5))}
	found, missed := 0, 0
	for range race.Fewer(500, 100) {
		c, n := document(t, g.document("3.1.0"), Limits{}, nil)
		s, err := c.Object([]Property{{Name: "a", Schema: n, Required: true}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		text, ok := Example(jsonschema.Parse(s), ExampleOptions{Documented: true})
		if !ok {
			for range 100 {
				if value := fmt.Sprintf(`{"a":%s}`, g.value(3)); len(v.Validate(decoded(t, []byte(value)))) == 0 {
					missed++
					break
				}
			}
			continue
		}
		found++
		if faults := v.explain(decoded(t, text), MaxFaults); len(faults) > 0 {
			t.Errorf("%s\nis no example of\n%s\n%v", text, s, faults)
		}
	}
	t.Logf("%d have an example, %d could have one", found, missed)
	if missed > found/20 {
		t.Errorf("%d have an example, %d could have one", found, missed)
	}
}
