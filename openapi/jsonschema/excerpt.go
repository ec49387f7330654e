package jsonschema

import (
	"strconv"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// ExcerptOptions say how much of a schema [Schema.Excerpt] shows.
type ExcerptOptions struct {
	Description int // characters of a description; 0: none, and no examples and titles either
	Depth       int // levels of schemas that are shown; the definitions of $defs begin anew
	Definitions int // that are shown, those first that the root refers to
	MaxBytes    int // of the text
}

// An Excerpt is a schema with parts left out.
type Excerpt struct {
	// Text is the schema. Instead of a part that is left out, it has the schema {"$comment":"left out"}, which accepts everything.
	Text []byte
	// Left are the pointers of the parts that are left out, which [Schema.At] leads to.
	Left []string
}

const (
	leftOut = `{"$comment":"left out"}`
	// maxListed is the length in bytes of a list of values, a default or a constant that is shown if descriptions are left out.
	maxListed = 300
)

// Excerpt returns a schema with less detail. It is false if its text would be longer than it may be.
func (s *Schema) Excerpt(o ExcerptOptions) (e Excerpt, ok bool) {
	w := &excerptWriter{options: o, known: map[string]bool{}}
	out := w.schema(nil, s, "", 1)
	if len(w.queue) > 0 && len(out) > 0 {
		if out = out[:len(out)-1]; len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `"$defs":{`...)
		for i := 0; i < len(w.queue) && len(out) <= o.MaxBytes; i++ {
			if i > 0 {
				out = append(out, ',')
			}
			name := w.queue[i]
			pointer := definitionPrefix[1:] + jsonscan.EscapeToken(name)
			if out = append(jsonscan.AppendString(out, name), ':'); i >= o.Definitions {
				out = w.leave(out, pointer)
			} else {
				out = w.schema(out, s.Definition(name), pointer, 1)
			}
		}
		out = append(out, "}}"...)
	}
	return Excerpt{out, w.left}, len(out) <= o.MaxBytes
}

// excerptWriter writes one excerpt.
type excerptWriter struct {
	options ExcerptOptions
	queue   []string // definitions that what is shown refers to
	known   map[string]bool
	left    []string
}

func (w *excerptWriter) leave(out []byte, pointer string) []byte {
	w.left = append(w.left, pointer)
	return append(out, leftOut...)
}

func (w *excerptWriter) schema(out []byte, s *Schema, pointer string, level int) []byte {
	switch {
	case !s.IsObject():
		return append(out, s.Source()...)
	case len(out) > w.options.MaxBytes:
		return out
	case level > w.options.Depth && s.hasParts():
		return w.leave(out, pointer)
	}
	out = append(out, '{')
	first := len(out)
	for _, k := range s.Keywords() {
		if k.Name == "$defs" || !w.shows(k) {
			continue
		}
		if len(out) > first {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, k.Name), ':')
		switch {
		case k.Name == "description":
			out = jsonscan.AppendString(out, text.TruncateWords(k.Text(), w.options.Description))
		case len(k.Parts) > 0:
			index := -1
			out = k.AppendWith(out, func(out []byte, p Part) []byte {
				index++
				return w.schema(out, p.Schema, pointer+k.pointer(p, index), level+1)
			})
		default:
			out = append(out, k.Value...)
		}
	}
	if name := s.Reference(); name != "" && !w.known[name] && s.Target() != nil {
		w.known[name] = true
		w.queue = append(w.queue, name)
	}
	return append(out, '}')
}

// shows reports whether a keyword is shown.
func (w *excerptWriter) shows(k Keyword) bool {
	if w.options.Description > 0 {
		return true
	}
	switch k.Name {
	case "description", "title", "examples", "$comment":
		return false
	case "default", "enum", "const":
		return len(k.Value) <= maxListed
	}
	return true
}

// hasParts reports whether a schema contains others.
func (s *Schema) hasParts() bool {
	for _, k := range s.Keywords() {
		if len(k.Parts) > 0 && k.Name != "$defs" {
			return true
		}
	}
	return false
}

// pointer returns the pointer to a part of the keyword from the schema that has it.
func (k Keyword) pointer(p Part, index int) string {
	at := jsonscan.PointerTo(k.Name)
	switch forms[k.Name] {
	case named:
		return at + jsonscan.PointerTo(p.Name)
	case list:
		return at + "/" + strconv.Itoa(index)
	case single, none:
	}
	return at
}
