package render

import (
	"strings"
	"testing"
)

// TestSummary checks that the summary of any response is short.
func TestSummary(t *testing.T) {
	many := `{"a":1` + strings.Repeat(`,"a long name of a member":{"b":[]}`, 50) + `}`
	for text, want := range map[string]string{
		`{}`: "an empty object", `{"a":1}`: "an object with the member a", `{"a":{"x":1},"b\n":[1]}`: "an object with the members a, b\n",
		`[]`: "an array of 0 elements", `[[1,2]]`: "an array of 1 element", `"x"`: "a string", `1`: "a number", `true`: "a boolean", `null`: "null",
		many: "an object with the members a, a long name of a member, a long name of a member, a long name of a member, a long name of a member, a long name of a member and more",
	} {
		if got := Summary([]byte(text)); got != want || len(got) > 200 {
			t.Errorf("%.40s: %q", text, got)
		}
	}
}
