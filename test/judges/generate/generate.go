package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"drawbridge/openapi/schema"
)

// Options say what kind of values are wanted.
type Options struct {
	// Plain keeps texts to letters and digits, prefers examples, and makes null only where nothing else fits.
	Plain bool
	// SafeNumbers keeps numbers to those that JavaScript holds exactly and prints as they are written.
	SafeNumbers bool
	// NoEmpty keeps texts, arrays and objects from being empty where the schema allows something in them.
	NoEmpty bool
	// NoExamples takes no example of the schema.
	NoExamples bool
	// Bounds now and then takes the least number and the longest text that the schema allows.
	Bounds bool
	// Optional is how likely an optional member is given in the first attempts, between 0 and 1; 0: it varies by attempt.
	// Later attempts leave more of them away.
	Optional float64
	// Exclusive prefers values that fit exactly one alternative of every anyOf: what is published as anyOf may have been
	// a oneOf whose alternatives overlap.
	Exclusive bool
	// Depth is how deep optional members go; 0: 4.
	Depth int
	// Attempts is how often a value that does not fit is made again; 0: 12, or 24 with Exclusive.
	Attempts int
}

// A Schema makes values. It is safe for concurrent use.
type Schema struct {
	root      any
	validator *schema.Validator
	exclusive func() (*schema.Validator, error) // of the schema with oneOf for anyOf
}

// New reads a JSON Schema as the gateway publishes it: with references to its own "$defs" alone.
func New(source json.RawMessage) (*Schema, error) {
	v, err := schema.Compile(source)
	if err != nil {
		return nil, err
	}
	root, err := decode(source)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	exclusive := sync.OnceValues(func() (*schema.Validator, error) {
		text, err := encode(strict(root))
		if err != nil {
			return nil, err
		}
		return schema.Compile(text)
	})
	return &Schema{root: root, validator: v, exclusive: exclusive}, nil
}

// strict is a schema with oneOf in place of every anyOf. Members of "properties" are names, not words.
func strict(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for word, value := range v {
			switch named, ok := value.(map[string]any); {
			case ok && (word == "properties" || word == "$defs" || word == "patternProperties"):
				members := make(map[string]any, len(named))
				for name, s := range named {
					members[name] = strict(s)
				}
				out[word] = members
			case word == "anyOf" && v["oneOf"] == nil:
				out["oneOf"] = strict(value)
			case word == "enum" || word == "const" || word == "examples" || word == "default":
				out[word] = value
			default:
				out[word] = strict(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = strict(item)
		}
		return out
	}
	return v
}

// errUnfit is the end of one attempt.
var errUnfit = errors.New("no value fits")

// Instance makes one value that the schema accepts, as JSON text with the members of objects in alphabetical order.
// The error is the reason why none was found.
func (s *Schema) Instance(r *rand.Rand, o Options) (json.RawMessage, error) {
	if o.Depth <= 0 {
		o.Depth = 4
	}
	if o.Attempts <= 0 {
		o.Attempts = 12
		if o.Exclusive {
			o.Attempts = 24
		}
	}
	var last error
	var spare any // fits, if not exclusively
	for attempt := range o.Attempts {
		m := maker{r: r, o: o, root: s.root, left: 400}
		switch late := attempt * 3 / o.Attempts; {
		case late == 2: // only what is required
		case late == 1:
			m.optional = 0.3
		case o.Optional > 0:
			m.optional = o.Optional
		default:
			m.optional = []float64{0.2, 0.5, 0.8, 1}[r.IntN(4)]
		}
		m.examples = o.Plain && attempt < 2
		if !o.Plain && attempt%2 == 0 {
			m.examples = r.IntN(4) == 0
		}
		m.examples = m.examples && !o.NoExamples
		value, err := m.value([]any{s.root}, 0)
		if err != nil {
			last = err
			continue
		}
		faults := s.validator.Validate(value)
		if len(faults) == 0 && o.Exclusive {
			if v, err := s.exclusive(); err == nil && len(v.Validate(value)) > 0 {
				if spare == nil {
					spare = value
				}
				continue
			}
		}
		if len(faults) == 0 {
			return encode(value)
		}
		last = fmt.Errorf("%w: %s: %s", errUnfit, faults[0].Pointer, faults[0].Message)
	}
	if spare != nil {
		return encode(spare)
	}
	return nil, last
}

// decode reads JSON with numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
