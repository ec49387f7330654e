package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestHostileArguments: whatever a schema of a stranger and arguments of a stranger ask for together, the check ends soon: regular
// expressions, alternatives, comparisons and the search for names that were meant have bounds.
func TestHostileArguments(t *testing.T) {
	if race.Enabled {
		t.Skip("far too slow under the race detector")
	}
	items := func(n int, f string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, f, i)
		}
		return b.String()
	}
	double := `{"$ref":"#/$defs/S0","$defs":{`
	for i := range 25 {
		double += fmt.Sprintf(`"S%d":{"anyOf":[{"$ref":"#/$defs/S%d"},{"$ref":"#/$defs/S%d"}]},`, i, i+1, i+1)
	}
	double += `"S25":{"type":"string"}}}`
	for name, c := range map[string][2]string{
		"pattern":           {`{"properties":{"a":{"type":"string","pattern":"^([a-z ]?){900}([a-z ]?){900}([a-z ]?){900}$"}}}`, `{"a":"` + strings.Repeat("a", 1_000_000) + `"}`},
		"pattern bad":       {`{"properties":{"a":{"type":"string","pattern":"^(([a-z ]?){900}){900}x$"}}}`, `{"a":"` + strings.Repeat("a", 1_000_000) + `"}`},
		"pattern2":          {`{"properties":{"a":{"type":"string","pattern":"` + strings.Repeat("(a|b|ab)*", 400) + `x$"}}}`, `{"a":"` + strings.Repeat("ab", 500_000) + `"}`},
		"pattern many":      {`{"properties":{"a":{"type":"string","allOf":[` + items(100, `{"pattern":"(a|b|ab)*(a|b|ab)*x%d"}`) + `]}}}`, `{"a":"` + strings.Repeat("ab", 500_000) + `"}`},
		"patternProperties": {`{"patternProperties":{` + items(300, `"(a|b|ab)*(a|b|ab)*x%d":{}`) + `}}`, `{` + items(50_000, `"ababab%d":1`) + `}`},
		"unique":            {`{"properties":{"a":{"type":"array","uniqueItems":true}}}`, `{"a":[` + items(50_000, `{"x":%d}`) + `]}`},
		"unique bad":        {`{"properties":{"b":{"type":"string"},"a":{"type":"array","uniqueItems":true}}}`, `{"b":1,"a":[` + items(50_000, `{"x":%d}`) + `]}`},
		"unique num":        {`{"properties":{"b":{"type":"string"},"a":{"type":"array","uniqueItems":true}}}`, `{"b":1,"a":[` + items(100_000, `%d.0`) + `]}`},
		"exponent":          {`{"properties":{"a":{"type":"number","minimum":1}}}`, `{"a":1e999999999}`},
		"exponent bad":      {`{"properties":{"a":{"type":"number","maximum":1}}}`, `{"a":1e99999999}`},
		"multiple":          {`{"properties":{"a":{"type":"number","multipleOf":0.01}}}`, `{"a":1e99999999}`},
		"integer":           {`{"properties":{"a":{"type":"integer"}}}`, `{"a":1e99999999}`},
		"const":             {`{"properties":{"a":{"const":1}}}`, `{"a":1e99999999}`},
		"enum":              {`{"properties":{"a":{"enum":[1,2,1e99999999]}}}`, `{"a":1e99999999}`},
		"digits":            {`{"properties":{"a":{"type":"number","multipleOf":0.01,"maximum":5}}}`, `{"a":` + strings.Repeat("9", 900_000) + `}`},
		"digits enum":       {`{"properties":{"a":{"enum":[1,2,3]}}}`, `{"a":` + strings.Repeat("9", 900_000) + `}`},
		"digits many":       {`{"properties":{"a":{"items":{"type":"number","maximum":5}}}}`, `{"a":[` + items(20, strings.Repeat("9", 40_000)+"%d") + `]}`},
		"doubling":          {double, `1`},
		"doubling items":    {double, `[` + items(10_000, "%d") + `]`},
		"enum long":         {`{"properties":{"a":{"items":{"enum":[` + items(4_000, `"e%d"`) + `]}}}}`, `{"a":[` + items(20_000, `"x%d"`) + `]}`},
		"names bad":         {`{"additionalProperties":false,"properties":{` + items(5000, `"property%d":{}`) + `}}`, `{` + items(30_000, `"propertx%d":1`) + `}`},
		"oneOf many":        {`{"oneOf":[` + items(1000, `{"type":"object","required":["a%d"],"properties":{"x":{"type":"integer"}}}`) + `]}`, `{"x":"` + strings.Repeat("a", 1000000) + `"}`},
		"oneOf array":       {`{"items":{"oneOf":[` + items(500, `{"type":"object","required":["a%d"]}`) + `]}}`, `[` + items(50_000, `{"x":%d}`) + `]`},
		"contains":          {`{"allOf":[` + items(300, `{"contains":{"const":"c%d"}}`) + `]}`, `[` + items(80_000, `"x%d"`) + `]`},
		"uneval":            {`{"unevaluatedProperties":false,"allOf":[` + items(300, `{"properties":{"c%d":{}}}`) + `]}`, `{` + items(30_000, `"x%d":1`) + `}`},
		"format":            {`{"properties":{"a":{"format":"email"},"b":{"format":"uri"},"c":{"format":"hostname"},"d":{"format":"date-time"},"e":{"format":"idn-hostname"},"f":{"format":"uri-template"},"g":{"format":"duration"}}}`, `{"a":"` + strings.Repeat("a.", 100_000) + `@b","b":"` + strings.Repeat("a:", 100_000) + `","c":"` + strings.Repeat("a.", 100_000) + `","d":"` + strings.Repeat("0", 100_000) + `","e":"` + strings.Repeat("é.", 50_000) + `","f":"` + strings.Repeat("{a", 50_000) + `","g":"P` + strings.Repeat("1Y", 50_000) + `"}`},
	} {
		v, err := Compile(json.RawMessage(c[0]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var value any
		d := json.NewDecoder(strings.NewReader(c[1]))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		timebox.Processor(t, 5*time.Second, func() {
			if faults := v.Validate(value); len(faults) > MaxFaults+1 { // the last one says that there are more
				t.Errorf("%s: %d faults", name, len(faults))
			}
		})
	}
}
