package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// verdict is the result of the quick validation of a value.
type verdict uint8

const (
	invalid verdict = iota
	unsure          // the schema or the value needs the library
	valid
)

// quickValidator walks over a check and a value side by side. Its verdict must never be valid for a value that the library refuses, nor
// invalid for one that it accepts: TestQuickValidateAgrees and the fuzz test hold it to that.
type quickValidator struct {
	steps int
}

func (q *quickValidator) validate(c *check, value any) verdict {
	if q.steps--; q.steps < 0 {
		return unsure
	}
	if c.never {
		return invalid
	}
	out := valid
	if c.opaque {
		out = unsure
	}
	if c.types != 0 {
		if out = min(out, hasType(c.types, value)); out == invalid {
			return invalid
		}
	}
	if c.listed {
		found := invalid
		for _, item := range c.values {
			if found = max(found, equal(item, value)); found == valid {
				break
			}
		}
		if out = min(out, found); out == invalid {
			return invalid
		}
	}
	if c.ref != nil {
		if out = min(out, q.validate(c.ref, value)); out == invalid {
			return invalid
		}
	}
	switch value := value.(type) {
	case map[string]any:
		if c.object != nil {
			out = min(out, q.object(c, value))
		}
	case []any:
		if c.array != nil {
			out = min(out, q.array(c.array, value))
		}
	case string:
		if c.text != nil {
			out = min(out, q.text(c.text, value))
		}
	case json.Number:
		if c.number != nil {
			out = min(out, c.number.validate(value))
		}
	}
	if out == invalid || c.parts == nil {
		return out
	}
	return min(out, q.composed(c.parts, value))
}

func (q *quickValidator) composed(p *partsCheck, value any) verdict {
	out := valid
	for _, sub := range p.all {
		if out = min(out, q.validate(sub, value)); out == invalid {
			return invalid
		}
	}
	if len(p.any) > 0 {
		best := invalid
		for _, sub := range p.any {
			if best = max(best, q.validate(sub, value)); best == valid {
				break
			}
		}
		out = min(out, best)
	}
	if len(p.one) > 0 && out != invalid {
		fit, doubt := 0, false
		for _, sub := range p.one {
			switch q.validate(sub, value) {
			case valid:
				fit++
			case unsure:
				doubt = true
			case invalid:
			}
		}
		switch {
		case fit > 1, fit == 0 && !doubt:
			return invalid
		case doubt:
			out = unsure
		}
	}
	if p.not != nil {
		switch q.validate(p.not, value) {
		case valid:
			return invalid
		case unsure:
			out = unsure
		case invalid:
		}
	}
	if p.cond != nil {
		switch q.validate(p.cond, value) {
		case valid:
			if p.then != nil {
				out = min(out, q.validate(p.then, value))
			}
		case invalid:
			if p.other != nil {
				out = min(out, q.validate(p.other, value))
			}
		case unsure:
			out = unsure
		}
	}
	return out
}

func (q *quickValidator) object(c *check, value map[string]any) verdict {
	o := c.object
	if len(value) < o.least || len(value) > o.most {
		return invalid
	}
	for _, name := range o.required {
		if _, ok := value[name]; !ok {
			return invalid
		}
	}
	out := valid
	for name, item := range value {
		switch sub := o.property(name); {
		case sub != nil:
			out = min(out, q.validate(sub, item))
		case o.additional != nil:
			out = min(out, q.validate(o.additional, item))
		case o.unevaluated && !c.declares(name, 0):
			out = min(out, unsure) // what composition evaluates is the library's business
		}
		if out == invalid {
			return invalid
		}
	}
	return out
}

// property returns the check of a declared member, nil if it is not declared.
func (o *objectCheck) property(name string) *check {
	if len(o.names) <= 8 {
		for i, n := range o.names {
			if n == name {
				return o.properties[i]
			}
		}
		return nil
	}
	if i, found := slices.BinarySearch(o.names, name); found {
		return o.properties[i]
	}
	return nil
}

// maxCompositionDepth bounds how far composition is followed where not following it costs little.
const maxCompositionDepth = 12

// declares reports whether a property is evaluated by a schema that certainly applies: one of an allOf, or the target of
// a reference.
func (c *check) declares(name string, depth int) bool {
	if depth > maxCompositionDepth {
		return false
	}
	if c.object != nil && c.object.property(name) != nil {
		return true
	}
	if c.ref != nil && c.ref.declares(name, depth+1) {
		return true
	}
	if c.parts != nil {
		for _, sub := range c.parts.all {
			if sub.declares(name, depth+1) {
				return true
			}
		}
	}
	return false
}

func (q *quickValidator) array(c *arrayCheck, value []any) verdict {
	if len(value) < c.least || len(value) > c.most {
		return invalid
	}
	out := valid
	if c.unique && len(value) > 1 {
		out = distinct(value)
	}
	for i, item := range value {
		switch {
		case i < len(c.prefix):
			out = min(out, q.validate(c.prefix[i], item))
		case c.items != nil:
			out = min(out, q.validate(c.items, item))
		}
		if out == invalid {
			return invalid
		}
	}
	return out
}

// distinct compares the elements of a short array of strings.
func distinct(value []any) verdict {
	if len(value) > 20 {
		return unsure
	}
	for i, item := range value {
		s, ok := item.(string)
		if !ok {
			return unsure
		}
		for _, other := range value[:i] {
			if other == any(s) {
				return invalid
			}
		}
	}
	return valid
}

func (q *quickValidator) text(c *textCheck, value string) verdict {
	if c.least > 0 || c.most < len(value) {
		if n := utf8.RuneCountInString(value); n < c.least || n > c.most {
			return invalid
		}
	}
	if c.pattern == nil {
		return valid
	}
	if q.steps -= c.pattern.cost(value); q.steps < 0 {
		return unsure
	}
	return verdictOf(c.pattern.match(value))
}

func (c *numberCheck) validate(value json.Number) verdict {
	if c.format != nil && !c.format.accepts(value) {
		return invalid
	}
	if !c.hard && c.least == math.MinInt64 && c.most == math.MaxInt64 {
		return valid
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case err != nil:
		return unsure
	case n < c.least, n > c.most:
		return invalid
	case c.hard:
		return unsure
	}
	return valid
}

func hasType(want types, value any) verdict {
	var is types
	switch value := value.(type) {
	case nil:
		is = nullType
	case bool:
		is = booleanType
	case string:
		is = stringType
	case []any:
		is = arrayType
	case map[string]any:
		is = objectType
	case json.Number:
		if want&numberType != 0 {
			return valid
		}
		if want&integerType == 0 {
			return invalid
		}
		if plainInteger(string(value)) {
			return valid
		}
		if plainFraction(string(value)) {
			return invalid
		}
		return unsure // 1.0 and 1e3 are integers too
	default:
		return unsure
	}
	return verdictOf(want&is != 0)
}

// plainFraction reports whether a literal has no exponent and a fraction that is not zero.
func plainFraction(s string) bool {
	_, fraction, _ := strings.Cut(s, ".")
	return digits(fraction) == len(fraction) && strings.Trim(fraction, "0") != ""
}

// plainInteger reports whether a literal is an optional sign and digits.
func plainInteger(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// equal compares a value with one from a schema.
func equal(want, value any) verdict {
	switch want := want.(type) {
	case nil:
		return verdictOf(value == nil)
	case bool:
		b, ok := value.(bool)
		return verdictOf(ok && b == want)
	case string:
		s, ok := value.(string)
		return verdictOf(ok && s == want)
	case json.Number:
		n, ok := value.(json.Number)
		switch {
		case !ok:
			return invalid
		case n == want:
			return valid
		case plainInteger(string(n)) && plainInteger(string(want)) && n != "-0" && want != "-0":
			return invalid
		}
	case composite:
		switch value.(type) {
		case []any, map[string]any:
		default:
			return invalid
		}
	}
	return unsure
}

func verdictOf(ok bool) verdict {
	if ok {
		return valid
	}
	return invalid
}
