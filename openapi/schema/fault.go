package schema

import (
	"cmp"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// A Fault is one violation of a schema, worded for the model that made the value.
type Fault struct {
	Pointer string // RFC 6901 pointer into the value, "" for the value as a whole
	Message string // what was expected and what was given: `expected integer, got string "x"`
	// Keyword is the one that is not met: "type", "enum" (of const too), "required", "additionalProperties", "minLength", "pattern"; "": another,
	// or none in particular.
	Keyword string
	Missing string         // the member that is required and not there
	Wants   jsonscan.Kinds // which would fit instead; none if the fault is not about the type
}

const (
	// MaxFaults is the maximum number of faults that [Validator.Validate] returns, besides one with the number of further ones.
	MaxFaults  = 20
	maxShown   = 60 // characters of a given value
	maxAllowed = 10 // values or names that are listed
)

// explainer turns the library's tree of errors into faults.
type explainer struct {
	source []byte             // the schema
	schema *jsonschema.Schema // read of source when it is asked for
	value  any
	most   int // faults
	faults []Fault
	later  []Fault // reported only without other faults, because they may be consequences of those
	branch string  // ends messages about one of several alternatives

	known    map[string]*declaredNames // by the URL of the schema
	compared int                       // names, in the search for one that was meant
}

// maxCompared is how many pairs of names are compared, in the search for those that were meant. The first faults have a hint, and
// they are those that are shown.
const maxCompared = 300_000

// declaredNames are the properties that a schema names, in the author's order.
type declaredNames struct {
	list []string
	set  map[string]bool
}

// near returns the name that was probably meant, or "". It gives up after maxCompared comparisons of one value.
func (e *explainer) near(given string, names []string) string {
	if e.compared += len(names); e.compared > maxCompared {
		return ""
	}
	return text.Nearest(given, names)
}

func (e *explainer) add(location []string, format string, args ...any) *Fault {
	e.faults = append(e.faults, Fault{Pointer: pointerOf(location), Message: fmt.Sprintf(format, args...) + e.branch})
	return &e.faults[len(e.faults)-1]
}

// sorted returns the faults by pointer, each once, and no more than there may be.
func (e *explainer) sorted() []Fault {
	out := e.faults
	if len(out) == 0 {
		out = e.later
	}
	slices.SortStableFunc(out, func(a, b Fault) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	out = slices.Compact(out)
	if more := len(out) - e.most; more > 0 {
		out = append(out[:e.most:e.most], Fault{Message: fmt.Sprintf("and %d more", more)})
	}
	return out
}

// comparePointers orders pointers token by token, and tokens that are numbers as numbers.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		if digits(a) == len(a) && digits(b) == len(b) && len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

func (e *explainer) walk(err *validation.ValidationError) {
	switch k := err.ErrorKind.(type) {
	case *kind.AnyOf:
		e.closest(err)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			e.closest(err)
			return
		}
		e.add(err.InstanceLocation, "fits more than one of the alternatives (number %d and number %d), and must fit exactly one",
			k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.PropertyNames:
		inner := explainer{source: e.source, value: k.Property, most: e.most}
		for _, cause := range err.Causes {
			inner.walk(cause)
		}
		for _, f := range inner.faults {
			e.add(append(slices.Clone(err.InstanceLocation), k.Property), "the name is not allowed: %s", f.Message)
		}
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		e.leaf(err) // the causes are about items that need not match
	default:
		if len(err.Causes) == 0 {
			e.leaf(err)
			return
		}
		for _, cause := range err.Causes {
			e.walk(cause)
		}
	}
}

// leaf adds the fault for an error without causes.
func (e *explainer) leaf(err *validation.ValidationError) {
	at := err.InstanceLocation
	value := e.given(at)
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		f := e.add(at, "expected %s, got %s%s", typeList(k.Want), show(value), quotedHint(k.Want, value))
		f.Keyword, f.Wants = "type", wantedKinds(k.Want)
	case *kind.Const:
		e.add(at, "expected %s, got %s", showPlain(k.Want), show(value)).Keyword = "enum"
	case *kind.Enum:
		e.add(at, "expected %s, got %s%s", oneOf(k.Want), show(value), e.similar(k.Want, value)).Keyword = "enum"
	case *kind.Required:
		e.missing(err, k.Missing, "")
	case *kind.DependentRequired:
		e.missing(err, k.Missing, fmt.Sprintf(", which %q needs", k.Prop))
	case *kind.AdditionalProperties:
		names := slices.Sorted(slices.Values(k.Properties))
		for _, name := range names {
			e.unknown(err.SchemaURL, append(slices.Clone(at), name))
		}
	case *kind.FalseSchema:
		if schema, ok := strings.CutSuffix(err.SchemaURL, "/unevaluatedProperties"); ok && len(at) > 0 {
			e.unknown(schema, at)
			return
		}
		e.add(at, "nothing is allowed here, got %s", show(value))
	case *kind.Minimum:
		e.add(at, "expected a number of at least %s, got %s", e.bound(err, "minimum", k.Want), showPlain(value))
	case *kind.Maximum:
		e.add(at, "expected a number of at most %s, got %s", e.bound(err, "maximum", k.Want), showPlain(value))
	case *kind.ExclusiveMinimum:
		e.add(at, "expected a number above %s, got %s", e.bound(err, "exclusiveMinimum", k.Want), showPlain(value))
	case *kind.ExclusiveMaximum:
		e.add(at, "expected a number below %s, got %s", e.bound(err, "exclusiveMaximum", k.Want), showPlain(value))
	case *kind.MultipleOf:
		e.add(at, "expected a multiple of %s, got %s", e.bound(err, "multipleOf", k.Want), showPlain(value))
	case *kind.MinLength:
		e.add(at, "expected at least %s, got %d: %s", count(k.Want, "character"), k.Got, showPlain(value)).Keyword = "minLength"
	case *kind.MaxLength:
		e.add(at, "expected at most %s, got %d: %s", count(k.Want, "character"), k.Got, showPlain(value))
	case *kind.MinItems:
		e.add(at, "expected at least %s, got %d", count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		e.add(at, "expected at most %s, got %d", count(k.Want, "item"), k.Got)
	case *kind.MinProperties:
		e.add(at, "expected at least %s, got %d", count(k.Want, "member"), k.Got)
	case *kind.MaxProperties:
		e.add(at, "expected at most %s, got %d", count(k.Want, "member"), k.Got)
	case *kind.UniqueItems:
		e.add(at, "items %d and %d are the same; each may be there once", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		e.add(at, "expected text that matches %s, got %s", text.TruncateWords(k.Want, 200), showPlain(value)).Keyword = "pattern"
	case *kind.Format:
		low, high := formatNamed(k.Want).bounds() // no others are checked
		e.add(at, "expected an integer from %s to %s (%s), got %s", low, high, k.Want, showPlain(value))
	case *kind.Contains:
		e.add(at, "none of the items is of the kind that must be there")
	case *kind.MinContains:
		e.add(at, "expected at least %s of one kind, got %d", count(k.Want, "item"), len(k.Got))
	case *kind.MaxContains:
		e.add(at, "expected at most %s of one kind, got %d", count(k.Want, "item"), len(k.Got))
	case *kind.Not:
		e.add(at, "%s is one of the values that are not allowed here", show(value))
	default:
		e.add(at, "%s does not fit the schema", show(value))
	}
}

// wantedKinds returns the kinds of values of types.
func wantedKinds(names []string) (kinds jsonscan.Kinds) {
	for _, name := range names {
		switch name {
		case "null":
			kinds |= jsonscan.Of(jsonscan.Null)
		case "boolean":
			kinds |= jsonscan.Of(jsonscan.Bool)
		case "integer", "number":
			kinds |= jsonscan.Of(jsonscan.Number)
		case "string":
			kinds |= jsonscan.Of(jsonscan.String)
		case "array":
			kinds |= jsonscan.Of(jsonscan.Array)
		case "object":
			kinds |= jsonscan.Of(jsonscan.Object)
		}
	}
	return kinds
}

// typeList lists types, null last.
func typeList(names []string) string {
	if i := slices.Index(names, "null"); i >= 0 {
		names = append(slices.Delete(slices.Clone(names), i, i+1), "null")
	}
	return strings.Join(names, " or ")
}

// quotedHint helps with the most frequent mistake of models: JSON given as text.
func quotedHint(want []string, value any) string {
	s, ok := value.(string)
	if !ok {
		return ""
	}
	switch s = strings.TrimSpace(s); {
	case slices.Contains(want, "array") && strings.HasPrefix(s, "["), slices.Contains(want, "object") && strings.HasPrefix(s, "{"):
		return "; give it as JSON, not as text"
	case slices.Contains(want, "integer") && plainInteger(s), slices.Contains(want, "number") && saneNumber(s),
		slices.Contains(want, "boolean") && (s == "true" || s == "false"):
		return "; leave out the quotes"
	}
	return ""
}

// word is what a member of an object is called: those at the top are arguments.
func word(object []string) string {
	if len(object) == 0 {
		return "argument"
	}
	return "member"
}

func (e *explainer) missing(err *validation.ValidationError, names []string, why string) {
	at := err.InstanceLocation
	object, _ := e.given(at).(map[string]any)
	declared := e.declared(err.SchemaURL)
	var strangers []string
	for name := range object {
		if !declared.set[name] {
			strangers = append(strangers, name)
		}
	}
	slices.Sort(strangers)
	for _, name := range names {
		hint := ""
		if near := e.near(name, strangers); near != "" {
			hint = fmt.Sprintf("; is %q meant to be it?", near)
		}
		f := e.add(at, "missing required %s %q%s%s", word(at), name, why, hint)
		f.Keyword, f.Missing = "required", name
	}
}

// unknown adds the fault for a member that the schema at the URL does not allow.
func (e *explainer) unknown(schemaURL string, at []string) {
	name := at[len(at)-1]
	declared := e.declared(schemaURL)
	if declared.set[name] {
		// The member belongs to an alternative that does not apply, because of another fault or of this combination of members.
		e.later = append(e.later, Fault{Pointer: pointerOf(at), Message: fmt.Sprintf("%s %q can't be combined with the others that are given",
			word(at[:len(at)-1]), text.TruncateWords(name, maxShown))})
		return
	}
	message := fmt.Sprintf("unknown %s %q", word(at[:len(at)-1]), text.TruncateWords(name, maxShown))
	message += cmp.Or(text.DidYouMean(e.near(name, declared.list)), ";")
	switch shown := declared.list[:min(len(declared.list), maxAllowed)]; {
	case len(declared.list) == 0:
		message += " none are declared"
	case len(shown) < len(declared.list):
		message += fmt.Sprintf(" allowed: %s and %d more", strings.Join(shown, ", "), len(declared.list)-len(shown))
	default:
		message += " allowed: " + strings.Join(shown, ", ")
	}
	e.add(at, "%s", message).Keyword = "additionalProperties"
}

// given returns the value at a location.
func (e *explainer) given(at []string) any {
	value := e.value
	for _, token := range at {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// schemaAt returns the part of the schema that the library names by URL, or nil.
func (e *explainer) schemaAt(schemaURL string) *jsonschema.Schema {
	if e.schema == nil {
		e.schema = jsonschema.Parse(e.source)
	}
	_, fragment, _ := strings.Cut(schemaURL, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	return e.schema.At(pointer)
}

// bound returns the number of a keyword as it is written in the schema.
func (e *explainer) bound(err *validation.ValidationError, keyword string, want *big.Rat) string {
	if text := e.schemaAt(err.SchemaURL).Value(keyword); text != nil {
		return string(text)
	}
	return want.RatString()
}

// declared returns the properties that a schema names, those of its composition included.
func (e *explainer) declared(schemaURL string) *declaredNames {
	if names := e.known[schemaURL]; names != nil {
		return names
	}
	names := &declaredNames{set: make(map[string]bool)}
	for _, m := range e.schemaAt(schemaURL).Members() {
		names.set[m.Name] = true
		names.list = append(names.list, m.Name)
	}
	if e.known == nil {
		e.known = make(map[string]*declaredNames)
	}
	e.known[schemaURL] = names
	return names
}

func pointerOf(location []string) string {
	var b strings.Builder
	for _, token := range location {
		b.WriteByte('/')
		b.WriteString(jsonscan.EscapeToken(token))
	}
	return b.String()
}
