package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// verdict is what the quick check of a value finds.
type verdict uint8

const (
	invalid verdict = iota
	unsure          // the schema or the value asks for more than the quick check knows
	valid
)

// acceptor walks a compiled schema and a value side by side. It knows the keywords that most schemas consist of, and
// says unsure where it meets another. It must never say valid of a value that the library refuses, nor invalid of one
// that it accepts: TestAcceptAgrees and the fuzz test hold it to that.
type acceptor struct {
	steps int
}

// typeBits are the library's bits for a type; it does not export them.
var typeBits = func() (bits struct{ null, boolean, number, integer, text, array, object jsonschema.Types }) {
	bits.null.Add("null")
	bits.boolean.Add("boolean")
	bits.number.Add("number")
	bits.integer.Add("integer")
	bits.text.Add("string")
	bits.array.Add("array")
	bits.object.Add("object")
	return bits
}()

func (a *acceptor) accept(s *jsonschema.Schema, value any) verdict {
	if a.steps--; a.steps < 0 {
		return unsure
	}
	if s.Bool != nil {
		return verdictOf(*s.Bool)
	}
	out := valid
	if s.RecursiveRef != nil || s.DynamicRef != nil || len(s.Extensions) > 1 || len(s.PatternProperties) > 0 ||
		len(s.DependentRequired) > 0 || len(s.DependentSchemas) > 0 || s.UnevaluatedItems != nil || s.Contains != nil {
		out = unsure
	}
	if s.Types != nil {
		if out = min(out, hasType(*s.Types, value)); out == invalid {
			return invalid
		}
	}
	if s.Const != nil {
		out = min(out, equal(*s.Const, value))
	}
	if s.Enum != nil {
		found := invalid
		for _, item := range s.Enum.Values {
			if found = max(found, equal(item, value)); found == valid {
				break
			}
		}
		out = min(out, found)
	}
	if s.Format != nil && s.Format.Validate(value) != nil {
		return invalid
	}
	if out == invalid {
		return invalid
	}
	if s.Ref != nil {
		if out = min(out, a.accept(s.Ref, value)); out == invalid {
			return invalid
		}
	}
	switch value := value.(type) {
	case map[string]any:
		out = min(out, a.object(s, value))
	case []any:
		out = min(out, a.array(s, value))
	case string:
		out = min(out, text(s, value))
	case json.Number:
		out = min(out, number(s, value))
	}
	if out == invalid {
		return invalid
	}
	return min(out, a.composed(s, value))
}

func (a *acceptor) composed(s *jsonschema.Schema, value any) verdict {
	out := valid
	for _, sub := range s.AllOf {
		if out = min(out, a.accept(sub, value)); out == invalid {
			return invalid
		}
	}
	if len(s.AnyOf) > 0 {
		best := invalid
		for _, sub := range s.AnyOf {
			if best = max(best, a.accept(sub, value)); best == valid {
				break
			}
		}
		out = min(out, best)
	}
	if len(s.OneOf) > 0 && out != invalid {
		fit, doubt := 0, false
		for _, sub := range s.OneOf {
			switch a.accept(sub, value) {
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
	if s.Not != nil {
		switch a.accept(s.Not, value) {
		case valid:
			return invalid
		case unsure:
			out = unsure
		case invalid:
		}
	}
	if s.If != nil {
		switch a.accept(s.If, value) {
		case valid:
			if s.Then != nil {
				out = min(out, a.accept(s.Then, value))
			}
		case invalid:
			if s.Else != nil {
				out = min(out, a.accept(s.Else, value))
			}
		case unsure:
			out = unsure
		}
	}
	return out
}

func (a *acceptor) object(s *jsonschema.Schema, value map[string]any) verdict {
	if s.MinProperties != nil && len(value) < *s.MinProperties || s.MaxProperties != nil && len(value) > *s.MaxProperties {
		return invalid
	}
	for _, name := range s.Required {
		if _, ok := value[name]; !ok {
			return invalid
		}
	}
	out := valid
	for name, item := range value {
		sub, declared := s.Properties[name]
		switch {
		case declared:
			out = min(out, a.accept(sub, item))
		case len(s.PatternProperties) > 0: // unsure already
		case s.AdditionalProperties != nil:
			switch more := s.AdditionalProperties.(type) {
			case bool:
				out = min(out, verdictOf(more))
			case *jsonschema.Schema:
				out = min(out, a.accept(more, item))
			}
		case s.UnevaluatedProperties != nil: // whether composition evaluates it is the library's business, see declares
			if !a.declares(s, name, 0) {
				out = min(out, unsure)
			}
		}
		if out == invalid {
			return invalid
		}
	}
	return out
}

// maxCompositionDepth bounds how far composition is followed where not following it costs little.
const maxCompositionDepth = 12

// declares tells whether a property is evaluated by a schema that certainly applies: one of an allOf, or the target of
// a reference.
func (a *acceptor) declares(s *jsonschema.Schema, name string, depth int) bool {
	if _, ok := s.Properties[name]; ok {
		return true
	}
	if depth > maxCompositionDepth {
		return false
	}
	if s.Ref != nil && a.declares(s.Ref, name, depth+1) {
		return true
	}
	for _, sub := range s.AllOf {
		if a.declares(sub, name, depth+1) {
			return true
		}
	}
	return false
}

func (a *acceptor) array(s *jsonschema.Schema, value []any) verdict {
	if s.MinItems != nil && len(value) < *s.MinItems || s.MaxItems != nil && len(value) > *s.MaxItems {
		return invalid
	}
	out := valid
	if s.UniqueItems && len(value) > 1 {
		out = distinct(value)
	}
	for i, item := range value {
		switch {
		case i < len(s.PrefixItems):
			out = min(out, a.accept(s.PrefixItems[i], item))
		case s.Items2020 != nil:
			out = min(out, a.accept(s.Items2020, item))
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

func text(s *jsonschema.Schema, value string) verdict {
	if s.MinLength != nil || s.MaxLength != nil {
		n := utf8.RuneCountInString(value)
		if s.MinLength != nil && n < *s.MinLength || s.MaxLength != nil && n > *s.MaxLength {
			return invalid
		}
	}
	if s.Pattern != nil && !s.Pattern.MatchString(value) {
		return invalid
	}
	return valid
}

func number(s *jsonschema.Schema, value json.Number) verdict {
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return valid
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || s.MultipleOf != nil {
		return unsure
	}
	out := valid
	compare := func(bound *big.Rat, fits func(n, bound int64) bool) {
		switch {
		case bound == nil:
		case !bound.IsInt() || !bound.Num().IsInt64():
			out = min(out, unsure)
		case !fits(n, bound.Num().Int64()):
			out = invalid
		}
	}
	compare(s.Minimum, func(n, bound int64) bool { return n >= bound })
	compare(s.Maximum, func(n, bound int64) bool { return n <= bound })
	compare(s.ExclusiveMinimum, func(n, bound int64) bool { return n > bound })
	compare(s.ExclusiveMaximum, func(n, bound int64) bool { return n < bound })
	return out
}

func hasType(want jsonschema.Types, value any) verdict {
	var is jsonschema.Types
	switch value := value.(type) {
	case nil:
		is = typeBits.null
	case bool:
		is = typeBits.boolean
	case string:
		is = typeBits.text
	case []any:
		is = typeBits.array
	case map[string]any:
		is = typeBits.object
	case json.Number:
		if want&typeBits.number != 0 {
			return valid
		}
		if want&typeBits.integer == 0 {
			return invalid
		}
		if plainInteger(string(value)) {
			return valid
		}
		return unsure // 1.0 and 1e3 are integers too
	default:
		return unsure
	}
	return verdictOf(want&is != 0)
}

// plainInteger tells whether a literal is an optional sign and digits.
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
	}
	return unsure
}

func verdictOf(ok bool) verdict {
	if ok {
		return valid
	}
	return invalid
}
