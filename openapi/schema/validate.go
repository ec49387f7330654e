package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"weak"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"

	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"drawbridge/openapi/schema/ecmaregexp"
	"drawbridge/openapi/text"
)

// A Validator checks values against one schema. It is safe for concurrent use.
//
// A valid value, which is what most calls bring, is recognized by walking schema and value side by side without
// allocation. Only what is not plainly valid is handed to the JSON Schema library, which finds all faults. Compiled by
// the library a schema takes ten times its size in memory, so that form is dropped when memory is collected and made
// again when it is asked for. Of a schema that is certainly [certainlyCompiles] it is first made then.
type Validator struct {
	source  json.RawMessage
	program *check

	mu      sync.Mutex // one value at a time goes through the library, so that its work can be counted
	library weak.Pointer[validation.Schema]
	steps   int
	matched int // instructions that regular expressions may still run
}

// location is the name of the one schema that a compiler knows. No loader can open it. Of schemas below json-schema.org the library takes for
// granted that they fit their metaschema, as those do that are made here; to find it out takes ten times as long as the rest, half a second
// for 64 KiB.
const location = "https://json-schema.org/input"

// Compile makes a validator of a JSON Schema (2020-12). It reads no file and no URL (S12): a reference out of the
// schema is an error. Patterns are read as ECMA-262; those that Go's regexp can't do in linear time are not checked
// (L9). The schema must not be changed afterwards.
func Compile(schema json.RawMessage) (*Validator, error) {
	v, parsed := &Validator{source: schema}, jsonschema.Parse(schema)
	if !certainlyCompiles(parsed) {
		root, err := v.compile()
		if err != nil {
			return nil, err
		}
		v.library = weak.Make(root)
	}
	v.program = newProgrammer().check(parsed)
	return v, nil
}

// Check reports why [Compile] would fail, without what that keeps.
func Check(schema json.RawMessage) error {
	if certainlyCompiles(jsonschema.Parse(schema)) {
		return nil
	}
	_, err := (&Validator{source: schema}).compile()
	return err
}

// compile makes the library's form of the schema.
func (v *Validator) compile() (root *validation.Schema, err error) {
	defer func() {
		if r := recover(); r != nil { // a keyword with a value that the metaschema would have refused
			root, err = nil, fmt.Errorf("compile schema: %v", r)
		}
	}()
	doc, err := validation.UnmarshalJSON(bytes.NewReader(v.source))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := validation.NewCompiler()
	c.DefaultDraft(validation.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(v.compilePattern)
	registerFormats(c)
	if err := c.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	root, err = c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	v.prepare(root, map[*validation.Schema]bool{})
	return root, nil
}

// noLoader refuses to read schemas from anywhere.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schemas outside the document are not read: %q", url)
}

// anyText stands for a regular expression that is not checked.
type anyText string

func (anyText) MatchString(string) bool { return true }
func (t anyText) String() string        { return string(t) }

// ecmaPattern is a checked expression that calls itself what the schema calls it, and whose matches are counted.
type ecmaPattern struct {
	*regexp.Regexp
	source string
	size   int
	v      *Validator
}

// MatchString reports whether the expression matches a text, or ends the validation.
func (p ecmaPattern) MatchString(s string) bool {
	if p.v.matched -= matchCost(p.size, s); p.v.matched < 0 {
		panic(tooManySteps{})
	}
	return p.Regexp.MatchString(s)
}

func (p ecmaPattern) String() string { return p.source }

func (v *Validator) compilePattern(text string) (validation.Regexp, error) {
	p, err := ecmaregexp.Parse(text)
	if err != nil || p.RE2 == "" {
		return anyText(text), nil
	}
	re, err := regexp.Compile(p.RE2)
	if err != nil {
		return anyText(text), nil
	}
	return ecmaPattern{re, text, p.Size, v}, nil
}

// prepare makes formats annotations, integers excepted, and has every step of the library counted.
func (v *Validator) prepare(s *validation.Schema, seen map[*validation.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if s.Format != nil {
		if formatNamed(s.Format.Name) == nil {
			s.Format = nil
		}
	}
	s.Extensions = append(s.Extensions, stepCounter{v})
	if names := s.PropertyNames; names != nil {
		v.prepare(names, seen)
		s.PropertyNames = nil // the library's own check reports wrong places
		s.Extensions = append(s.Extensions, nameCheck{names})
	}
	for _, sub := range []*validation.Schema{
		s.Ref, s.Not, s.If, s.Then, s.Else, s.UnevaluatedProperties, s.Contains, s.Items2020,
		s.UnevaluatedItems,
	} {
		v.prepare(sub, seen)
	}
	if s.DynamicRef != nil {
		v.prepare(s.DynamicRef.Ref, seen)
	}
	for _, list := range [][]*validation.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		for _, sub := range list {
			v.prepare(sub, seen)
		}
	}
	for _, m := range []map[string]*validation.Schema{s.Properties, s.DependentSchemas} {
		for _, sub := range m {
			v.prepare(sub, seen)
		}
	}
	for _, sub := range s.PatternProperties {
		v.prepare(sub, seen)
	}
	if sub, ok := s.AdditionalProperties.(*validation.Schema); ok {
		v.prepare(sub, seen)
	}
}

// How many times schemas may be applied to one value. Alternatives within alternatives multiply: a schema of a few
// lines can ask for more steps than there is time. The library takes a hundred times as long for one as the quick check.
const (
	maxSteps        = 3_000_000
	maxLibrarySteps = 50_000
	matchedPerStep  = 64   // instructions of a regular expression, for each byte of the text that it is matched with
	maxExplained    = 5000 // parts of a value that the library sees: each may become a fault
)

// tooManySteps is the panic that ends a validation; it never leaves Validate.
type tooManySteps struct{}

// stepCounter is called by the library whenever a schema has been applied.
type stepCounter struct{ v *Validator }

func (c stepCounter) Validate(*validation.ValidatorContext, any) {
	if c.v.steps--; c.v.steps < 0 {
		panic(tooManySteps{})
	}
}

// nameCheck is propertyNames.
type nameCheck struct{ names *validation.Schema }

func (c nameCheck) Validate(ctx *validation.ValidatorContext, value any) {
	object, _ := value.(map[string]any)
	for name := range object {
		err, _ := c.names.Validate(name).(*validation.ValidationError) //nolint:errorlint // returned unwrapped
		if err != nil {
			ctx.AddErrors([]*validation.ValidationError{err}, &kind.PropertyNames{Property: name})
		}
	}
}

// Validate returns the faults of a value, none if it is valid. Numbers in the value are json.Number. There is one
// fault for each problem, in the order of their pointers, and no more than [MaxFaults].
func (v *Validator) Validate(value any) []Fault { return v.ValidateUpTo(value, MaxFaults) }

// ValidateUpTo is Validate with another number of faults, at least one.
func (v *Validator) ValidateUpTo(value any, most int) []Fault {
	q := &quickValidator{steps: maxSteps}
	found := q.validate(v.program, value)
	if q.steps < 0 {
		return []Fault{tooComplex}
	}
	if found == valid {
		return nil
	}
	if f, ok := wildNumber(value, ""); ok {
		return []Fault{f}
	}
	left := maxExplained
	start := beginning(value, &left)
	faults := v.explain(start, most)
	if left > 0 || len(faults) > 0 {
		return faults
	}
	if found == unsure {
		return []Fault{tooComplex}
	}
	return []Fault{{Message: fmt.Sprintf("the value does not fit the schema; the first %d of its parts do", maxExplained)}}
}

// beginning returns the value with the ends of its arrays and objects cut off once there are too many parts.
func beginning(value any, left *int) any {
	*left--
	switch value := value.(type) {
	case []any:
		before := *left
		out := make([]any, 0, min(len(value), max(0, *left)))
		for _, item := range value {
			if *left <= 0 {
				return out
			}
			out = append(out, beginning(item, left))
		}
		if before-*left == len(value) {
			return value
		}
		return out
	case map[string]any:
		if len(value) <= *left {
			out := make(map[string]any, len(value))
			for name, item := range value {
				out[name] = beginning(item, left)
			}
			return out
		}
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(value))[:max(0, *left)] {
			out[name] = beginning(value[name], left)
		}
		return out
	}
	return value
}

var tooComplex = Fault{Message: "the value is too deep or too large to be checked against the schema; give a smaller one"}

// explain runs the library.
func (v *Validator) explain(value any, most int) (faults []Fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooManySteps); !ok {
				panic(r)
			}
			faults = []Fault{tooComplex}
		}
	}()
	root := v.library.Value()
	if root == nil {
		var err error
		if root, err = v.compile(); err != nil { // it was compiled before
			return []Fault{{Message: "the value can't be checked"}}
		}
		v.library = weak.Make(root)
	}
	v.steps, v.matched = maxLibrarySteps, maxSteps*matchedPerStep
	err := root.Validate(value)
	if err == nil {
		return nil
	}
	found, ok := err.(*validation.ValidationError) //nolint:errorlint // the library returns it unwrapped
	if !ok {
		return []Fault{{Message: err.Error()}}
	}
	e := explainer{source: v.source, value: value, most: most}
	e.walk(found)
	return e.sorted()
}

// wildNumber finds a number whose exponent or length serves no purpose but to keep exact arithmetic busy.
func wildNumber(value any, pointer string) (Fault, bool) {
	switch value := value.(type) {
	case json.Number:
		if len(value) > maxDigits || !saneNumber(string(value)) {
			return Fault{Pointer: pointer, Message: fmt.Sprintf("the number %s has too many digits or too large an exponent", text.TruncateWords(string(value), maxShown))}, true
		}
	case []any:
		for i, item := range value {
			if f, ok := wildNumber(item, pointer+"/"+strconv.Itoa(i)); ok {
				return f, ok
			}
		}
	case map[string]any:
		for name, item := range value {
			if f, ok := wildNumber(item, pointer+jsonscan.PointerTo(name)); ok {
				return f, ok
			}
		}
	}
	return Fault{}, false
}
