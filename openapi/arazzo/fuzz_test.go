package arazzo

import (
	"encoding/json"
	"math/big"
	"testing"

	"drawbridge/openapi/jsonscan"
)

// FuzzExpression holds that an expression is written as one that is parsed to the same.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"$statusCode", "$response.body#/a~1b", "$response.body.a[0]", "$steps.a.outputs.b.c[1]#/d", "$inputs.a-b", "$components.parameters.x", "$sourceDescriptions.a.b c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpression(text)
		if err != nil {
			return
		}
		if again, err := ParseExpression(e.String()); err != nil || again != e {
			t.Errorf("%q becomes %q, which is parsed to %+v instead of %+v: %v", text, e, again, e, err)
		}
	})
}

// FuzzCriterion holds that a value in a query only ever equals a text that it is.
func FuzzCriterion(f *testing.F) {
	f.Add("$statusCode == 200 && !($response.body == 'a''b')", "a")
	f.Add("((1 < 2) || $inputs.value != null)", "' || true || '")
	f.Add("", "\\' || @ == 'b")
	f.Add("", `" || @ == "b`)
	f.Fuzz(func(t *testing.T, condition, value string) {
		scope := values(jsonscan.AppendString([]byte(`{"$statusCode":200,"$response.body":["b"],"$inputs.value":`), value))
		scope = append(scope, '}')
		if c, err := ParseCriterion("", condition, "", ""); err == nil {
			if _, err := c.Holds(scope); err != nil {
				t.Errorf("%q: %v", condition, err)
			}
		}
		for _, query := range []string{"$[?@ == '{$inputs.value}']", `$[?@ == "{$inputs.value}"]`, "$[?@ == {$inputs.value}]"} {
			c, err := ParseCriterion("$response.body", query, JSONPath, "")
			if err != nil {
				t.Fatal(err)
			}
			if holds, err := c.Holds(scope); holds != (value == "b") {
				t.Errorf("%s with %q is %v: %v", query, value, holds, err)
			}
		}
	})
}

// FuzzCompareNumbers holds that numbers are compared as rational numbers are.
func FuzzCompareNumbers(f *testing.F) {
	f.Add("9007199254740993", "9007199254740992")
	f.Add("-1.50e2", "-150")
	f.Add("0.001", "1e-3")
	f.Add("0e5", "-0.0")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 40 || !json.Valid([]byte(a)) || !json.Valid([]byte(b)) {
			return
		}
		x, y := numberIn([]byte(a)), numberIn([]byte(b))
		if x == nil || y == nil || jsonscan.KindOf(x) != jsonscan.Number || jsonscan.KindOf(y) != jsonscan.Number || hasLongExponent(x) || hasLongExponent(y) {
			return
		}
		p, okP := new(big.Rat).SetString(string(x))
		q, okQ := new(big.Rat).SetString(string(y))
		if okP && okQ && p.Cmp(q) != compareNumbers(x, y) {
			t.Errorf("%s and %s: %d instead of %d", a, b, compareNumbers(x, y), p.Cmp(q))
		}
	})
}

// hasLongExponent reports whether the value of a number is too large for a rational number.
func hasLongExponent(number []byte) bool {
	digits, inExponent := 0, false
	for _, c := range number {
		switch {
		case c == 'e' || c == 'E':
			inExponent = true
		case inExponent && c >= '0' && c <= '9':
			digits++
		}
	}
	return digits > 3
}
