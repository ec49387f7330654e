package arazzo

import (
	"encoding/json"
	"strings"
	"testing"

	"drawbridge/openapi/tree"
)

// TestSelectionOfSelections selects values within each other, which a service can answer: together they are many times the answer.
func TestSelectionOfSelections(t *testing.T) {
	const depth = 60
	body := strings.Repeat(`{"id":[1,`, depth) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat(`]}`, depth)
	s, err := ParseSelector("$response.body", "$..id", JSONPath, "")
	if err != nil {
		t.Fatal(err)
	}
	scope, err := json.Marshal(map[string]json.RawMessage{"$response.body": json.RawMessage(body)})
	if err != nil {
		t.Fatal(err)
	}
	if value, err := s.Select(values(scope)); err == nil || !strings.HasSuffix(err.Error(), "selects more than 16 MiB in $response.body") {
		t.Errorf("selects %d bytes, %v", len(value), err)
	}
}

// TestMatchingIsBounded matches a short pattern that needs thousands of steps for each byte.
func TestMatchingIsBounded(t *testing.T) {
	c, err := ParseCriterion("$response.body", "(a?){1000}b", Regex, "")
	if err != nil {
		t.Fatal(err)
	}
	for size, ok := range map[int]bool{1000: true, 1 << 20: false} {
		scope := values(`{"$response.body":"` + strings.Repeat("a", size) + `"}`)
		if holds, err := c.Holds(scope); holds || ok != (err == nil) {
			t.Errorf("%d bytes: %v, %v", size, holds, err)
		}
	}
}

// TestComposedValues composes values of a large one that stands in them several times.
func TestComposedValues(t *testing.T) {
	scope := values(`{"$response.body":"` + strings.Repeat("x", 1<<20) + `"}`)
	text, err := ParseTemplate(strings.Repeat("{$response.body}", 20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text.Text(scope); err == nil {
		t.Error("a text of 20 MiB is composed")
	}
	body, err := ParseExpression("$response.body")
	if err != nil {
		t.Fatal(err)
	}
	list := Value{kind: tree.Array}
	for range 20 {
		list.members = append(list.members, member{value: Value{expression: &body}})
	}
	if _, err := list.Evaluate(scope); err == nil {
		t.Error("a list of 20 MiB is composed")
	}
}
