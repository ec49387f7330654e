package readiness

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/drift"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/tree"
)

// derive adds the changes for all differences that an overlay can mend.
func (m *mender) derive() {
	for i, o := range m.observed {
		s := m.subject(o)
		if s == nil {
			m.mends[i].Text = "the document has no such operation"
			continue
		}
		done := false
		switch o.Kind {
		case drift.ArgumentType, drift.ArgumentSent:
			if n := m.argument(s, o.Pointer); n != nil {
				done = m.widen(i, n, o.Got)
			}
		case drift.ArgumentMissing:
			done = m.optionalArgument(i, s)
		case drift.AnswerType:
			if n := s.walk.at(s.answer.schema, o.Pointer); n != nil {
				done = m.widen(i, n, o.Got)
			}
		case drift.AnswerMissing:
			above, name := lastToken(o.Pointer)
			done = m.notRequired(i, s, s.walk.at(s.answer.schema, above), name)
		case drift.AnswerStatus:
			done = m.declareStatus(i, s)
		case drift.AnswerMediaType:
			done = m.declareMedia(i, s)
		case drift.ArgumentUnknown, drift.ArgumentValue:
			m.mends[i].Text = "nothing: the value is not kept, so it is for the author to compare"
			continue
		}
		if !done {
			m.mends[i].Text = "nothing: no action of an overlay reaches the place"
		}
	}
	for _, n := range m.order {
		m.addWidening(n, m.widened[n])
	}
}

// say records what is done about a difference.
func (m *mender) say(i int, text string) { m.mends[i] = Mend{Mended: true, Text: text} }

// add adds a change for differences; once, if others need the same. It returns its index.
func (m *mender) add(observed []int, with int, target string, value any) int {
	var text json.RawMessage
	if value != nil {
		text, _ = json.Marshal(value) //nolint:errchkjson // maps and slices of texts
	}
	key := target + " " + string(text)
	at, known := m.known[key]
	if !known {
		at = len(m.changes)
		m.known[key] = at
		m.changes = append(m.changes, mendChange{Change: overlay.Change{Target: target, Value: text}, with: with})
	}
	c := &m.changes[at]
	c.observed = append(c.observed, observed...)
	var reasons []string
	for _, i := range c.observed[:min(len(c.observed), 3)] {
		o := m.observed[i]
		reasons = append(reasons, o.Method+" "+o.Path+" "+o.Text)
	}
	if more := len(c.observed) - len(reasons); more > 0 {
		reasons = append(reasons, "and "+strconv.Itoa(more)+" more")
	}
	c.Reason = strings.Join(reasons, "; ")
	return at
}

// widening is the types that a schema is to accept besides its own.
type widening struct {
	types    []string
	observed []int
}

// widen notes that a schema is to accept values of one more type.
func (m *mender) widen(i int, n *tree.Node, got string) bool {
	if _, ok := m.document.target(n); !ok || n.Get("$ref") == nil && n.Get("type") == nil {
		return false
	}
	w := m.widened[n]
	if w == nil {
		w = &widening{}
		m.widened[n] = w
		m.order = append(m.order, n)
	}
	if !slices.Contains(w.types, got) {
		w.types = append(w.types, got)
	}
	w.observed = append(w.observed, i)
	m.say(i, "declare "+got+", too")
	return true
}

// addWidening adds the changes that make a schema accept further types. OpenAPI 3.1 has lists of types, 3.0 alternatives and a keyword for
// null. A value can't be replaced by one of another kind, so it is removed first.
func (m *mender) addWidening(n *tree.Node, w *widening) {
	target, _ := m.document.target(n)
	lists := !m.document.swagger2 && !strings.HasPrefix(m.standard, "3.0")
	written := n.Get("type")
	switch {
	case n.Get("$ref") == nil && written.Kind() == tree.Array:
		m.add(w.observed, -1, target, map[string]any{"type": w.types})
		return
	case n.Get("$ref") == nil && written.Text() == "integer" && slices.Equal(w.types, []string{"number"}):
		m.add(w.observed, -1, target, map[string]any{"type": "number"})
		return
	case !lists && slices.Equal(w.types, []string{"null"}) && n.Get("$ref") == nil:
		keyword := "nullable"
		if m.document.swagger2 {
			keyword = "x-nullable"
		}
		m.add(w.observed, -1, target, map[string]any{keyword: true})
		return
	}
	keyword, own := "type", map[string]any{"type": written.Text()}
	if ref := n.Get("$ref"); ref != nil {
		keyword, own = "$ref", map[string]any{"$ref": ref.Text()}
	}
	removed := m.add(w.observed, -1, target+"["+overlay.Quoted(keyword)+"]", nil)
	switch {
	case m.document.swagger2: // without alternatives, it takes any type
	case lists && keyword == "type":
		m.changes[removed].with = m.add(w.observed, removed, target, map[string]any{"type": append([]string{written.Text()}, w.types...)})
	default:
		alternatives, value := []map[string]any{own}, map[string]any{}
		for _, t := range w.types {
			if t == "null" && !lists {
				value["nullable"] = true
				continue
			}
			alternatives = append(alternatives, map[string]any{"type": t})
		}
		value["anyOf"] = alternatives
		m.changes[removed].with = m.add(w.observed, removed, target, value)
	}
}

// optionalArgument makes a required argument optional.
func (m *mender) optionalArgument(i int, s *subject) bool {
	pointer := m.observed[i].Pointer
	above, name := lastToken(pointer)
	if above == "" {
		for _, p := range s.parameters {
			if argument, _, ok := s.Operation.ArgumentFor(placeOfParameter(p.in), p.name, ""); ok && argument == name && p.in != "path" && p.in != "body" {
				target, ok := m.document.target(p.node)
				if ok {
					m.add([]int{i}, -1, target, map[string]any{"required": false})
					m.say(i, "make it optional")
				}
				return ok
			}
		}
		if argument, _, ok := s.Operation.ArgumentFor("body", "", ""); ok && argument == name && s.body != nil {
			target, ok := m.document.target(s.body.node)
			if ok {
				m.add([]int{i}, -1, target, map[string]any{"required": false})
				m.say(i, "make the body optional")
			}
			return ok
		}
		if s.body == nil {
			return false
		}
		for _, member := range s.walk.members(s.body.schema) {
			if argument, rest, ok := s.Operation.ArgumentFor("body", "", jsonscan.PointerTo(member.name)); ok && rest == "" && argument == name {
				return m.notRequired(i, s, s.body.schema, member.name)
			}
		}
		return false
	}
	return m.notRequired(i, s, m.argument(s, above), name)
}

// placeOfParameter returns the place of a parameter in a request.
func placeOfParameter(in string) string {
	if in == "formData" {
		return "body"
	}
	return in
}

// notRequired removes a name from the required members of a schema.
func (m *mender) notRequired(i int, s *subject, schema *tree.Node, name string) bool {
	done := false
	for _, part := range s.walk.parts(schema) {
		list := part.Get("required")
		for _, item := range list.Items() {
			if item.Text() != name {
				continue
			}
			target, ok := overlay.PathTo(m.document.set.Root(), list)
			if !ok {
				return false
			}
			m.add([]int{i}, -1, target+"[?@=="+overlay.Quoted(name)+"]", nil)
			done = true
		}
	}
	if done {
		m.say(i, "make it optional")
	}
	return done
}

// statusOf returns the status and the media type of a difference of a response, 200 for one about the media type.
func statusOf(d drift.Difference) (status int, media string) {
	if d.Kind == drift.AnswerMediaType {
		return http.StatusOK, d.Got
	}
	status, _ = strconv.Atoi(d.Got)
	return status, ""
}

// declareStatus adds a response.
func (m *mender) declareStatus(i int, s *subject) bool {
	status, _ := statusOf(m.observed[i].Difference)
	text := http.StatusText(status)
	if text == "" {
		text = "Status " + strconv.Itoa(status)
	}
	response := map[string]any{strconv.Itoa(status): map[string]any{"description": text}}
	target, ok := m.document.target(s.node.Get("responses"))
	if !ok {
		return false
	}
	m.add([]int{i}, -1, target, response)
	m.say(i, "declare the status")
	return true
}

// declareMedia adds a media type to the successful response. OpenAPI 2.0 lists media types for several operations together.
func (m *mender) declareMedia(i int, s *subject) bool {
	media := m.observed[i].Got
	content := s.answer.node.Get("content")
	target, ok := m.document.target(content)
	if !ok || m.document.swagger2 || media == drift.Any {
		return false
	}
	m.add([]int{i}, -1, target, map[string]any{media: map[string]any{}})
	m.say(i, "declare the media type")
	return true
}

// argument returns the schema of a place in the arguments, or nil.
func (m *mender) argument(s *subject, pointer string) *tree.Node {
	first, rest := jsonscan.CutToken(pointer)
	for _, p := range s.parameters {
		if p.in == "body" {
			continue
		}
		in, name, at := p.in, p.name, ""
		if p.in == "formData" {
			in, name, at = "body", "", jsonscan.PointerTo(p.name)
		}
		if argument, below, ok := s.Operation.ArgumentFor(in, name, at); ok && argument == first && below == "" {
			return s.walk.at(p.schema, rest)
		}
	}
	return s.walk.at(m.body(s, first), rest)
}

// body returns the schema in the body that an argument is for: that of a member, or of the body; nil if it is for neither.
func (m *mender) body(s *subject, argument string) *tree.Node {
	if s.body == nil {
		return nil
	}
	if whole, _, ok := s.Operation.ArgumentFor("body", "", ""); ok && whole != "" {
		if whole == argument {
			return s.body.schema
		}
		return nil
	}
	for _, member := range s.walk.members(s.body.schema) {
		if name, rest, ok := s.Operation.ArgumentFor("body", "", jsonscan.PointerTo(member.name)); ok && rest == "" && name == argument {
			return member.schema
		}
	}
	return nil
}

// at returns the schema of a place in a value; nil if the document has none. In alternatives, the first one that declares it counts.
func (w *walk) at(s *tree.Node, pointer string) *tree.Node {
	for pointer != "" && s != nil {
		var token string
		token, pointer = jsonscan.CutToken(pointer)
		s = w.below(s, token, maxDepth)
	}
	return s
}

func (w *walk) below(s *tree.Node, token string, depth int) *tree.Node {
	parts := w.parts(s)
	for _, part := range parts {
		if token != drift.Any {
			if found := part.Get("properties").Get(token); found != nil {
				return found
			}
			continue
		}
		for _, keyword := range []string{"items", "additionalProperties"} {
			if found := part.Get(keyword); found.Kind() == tree.Object {
				return found
			}
		}
	}
	for _, part := range parts {
		for _, keyword := range []string{"oneOf", "anyOf"} {
			for _, branch := range part.Get(keyword).Items() {
				if depth > 0 {
					if found := w.below(branch, token, depth-1); found != nil {
						return found
					}
				}
			}
		}
	}
	return nil
}
