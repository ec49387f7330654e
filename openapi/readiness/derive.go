package readiness

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/tree"
)

const (
	longestSummary = 100 // characters of a summary that is taken from a description
	longestCopied  = 300 // characters of a description that is taken from another place
)

// fixer derives changes from the document.
type fixer struct {
	a         *Assessment
	described *described
	changes   []change
	known     map[string]int // changes by target and value
}

// derive adds the changes for all findings for which the document says enough.
func (f *fixer) derive() {
	f.known = map[string]int{}
	for _, s := range f.a.subjects {
		for i := range s.findings {
			f.mend(s, &s.findings[i])
		}
	}
}

func (f *fixer) mend(s *subject, at *found) {
	switch at.code {
	case SummaryMissing:
		if summary := firstSentence(s.Operation.Description); utf8.RuneCountInString(summary) <= longestSummary && len(words(summary)) > 1 && !strings.HasSuffix(summary, ":") {
			f.set(s, at, s.node, "summary", summary, "the first sentence of the description")
		}
	case DescriptionMissing:
		if text := f.saidOf(s); text != "" {
			f.set(s, at, s.node, "description", text, "from the description of the response")
		}
	case DescriptionRepeated, NearTwin:
		f.distinguish(s, at)
	case ArgumentUndescribed:
		owner := s.owner(at)
		if text, ok := f.described.text(s, at); ok && owner.Get("$ref") == nil {
			f.set(s, at, owner, "description", text, "the description that it has elsewhere in the document")
		}
	case ExampleMissing:
		f.exemplify(s, at)
	case PathOneSegment:
		f.list(s, at, "x-multi-segment")
	case PathRootMissing:
		f.list(s, at, "x-empty-segment")
	case HeaderNoise:
		if at.parameter != nil {
			f.hide(s, at)
		}
	case DescriptionRestates, DescriptionLong, ToolName, ArgumentUntyped, ArgumentsMany, BodyUntyped, ExampleInvalid, PagingMissing,
		FieldChoiceMissing, AnswerUndocumented, ErrorsUndocumented, ReadByPost, TypeDoubtful, Skipped: // the document doesn't say more
	}
}

// distinguish adds to the summary what tells an operation from others with the same words.
func (f *fixer) distinguish(s *subject, at *found) {
	said, mark := cmp.Or(firstSentence(s.Operation.Summary), firstSentence(s.Operation.Description)), s.mark()
	if mark != "" && utf8.RuneCountInString(said) <= longestSummary {
		f.set(s, at, s.node, "summary", said+" ("+mark+")", "what its tags, path and method say that those of others with the same text don't")
	}
}

// owner returns the object that an argument's description belongs to.
func (s *subject) owner(f *found) *tree.Node {
	if f.parameter != nil {
		return f.parameter.node
	}
	return f.member.schema
}

// saidOf returns a description from that of the successful response; "" if it says nothing of this operation.
func (f *fixer) saidOf(s *subject) string {
	text := firstSentence(openapi.Clean(s.answer.node.Get("description").Text()))
	if utf8.RuneCountInString(text) > longestCopied || strings.ContainsAny(text, "<>{}") {
		return ""
	}
	said := slices.DeleteFunc(meaning(text), func(w string) bool { return slices.Contains(responseWords, w) })
	if len(said) < 2 {
		return ""
	}
	return "Returns: " + text + "."
}

// responseWords are words of descriptions of responses that say nothing of the operation.
var responseWords = []string{"ok", "success", "successful", "successfully", "response", "responses", "result", "results", "returned", "returns", "return", "default", "200", "201", "202", "204", "created", "accepted", "no", "content", "is", "was", "completed", "executed", "performed", "status", "code", "http", "valid", "expected", "if", "when", "be", "will", "it", "all", "json", "object", "list", "array", "data", "body", "payload", "output", "null", "void", "empty", "string", "updated", "deleted", "details", "information", "requested", "contains", "containing", "are"}

// set adds a member with a text to an object.
func (f *fixer) set(s *subject, at *found, owner *tree.Node, name, text, reason string) {
	value, err := json.Marshal(map[string]string{name: text})
	if err != nil {
		return
	}
	f.update(s, at, owner, value, reason)
}

// update adds a change of an object of the document, unless it is in another file.
func (f *fixer) update(s *subject, at *found, owner *tree.Node, value json.RawMessage, reason string) {
	if target, ok := f.a.document.target(owner); ok {
		f.add(s, at, overlay.Change{Target: target, Value: value, Reason: reason + " (" + string(at.code) + ")"})
	}
}

// add adds a change, once, with all findings that it is for.
func (f *fixer) add(s *subject, at *found, c overlay.Change) {
	k := key{operationKey(s.Operation.Method, s.Operation.Path), at.code, at.message}
	if at.code == ExampleMissing || at.code == SummaryMissing || at.code == DescriptionMissing || at.code == DescriptionRepeated || at.code == NearTwin {
		k.message = ""
	}
	id := c.Target + " " + string(c.Value)
	if i, ok := f.known[id]; ok {
		f.changes[i].findings = append(f.changes[i].findings, k)
		return
	}
	f.known[id] = len(f.changes)
	f.changes = append(f.changes, change{c, []key{k}})
}

// target returns the JSONPath of an object of the root file; false for one of another file. A parameter in a list is
// selected by its name, so that the overlay outlives a change of the list.
func (d *document) target(n *tree.Node) (string, bool) {
	root := d.set.Root()
	list := n.Parent()
	if list.Kind() == tree.Array && list.Key() == "parameters" && n.Get("name") != nil {
		path, ok := overlay.PathTo(root, list)
		return path + "[?@.name==" + overlay.Quoted(n.Get("name").Text()) + " && @.in==" + overlay.Quoted(n.Get("in").Text()) + "]", ok
	}
	return overlay.PathTo(root, n)
}

// exemplify adds an example of the body: one that another body of the same schema has, or one composed of the examples
// of its members.
func (f *fixer) exemplify(s *subject, at *found) {
	d := f.a.document
	owner := s.body.media
	if owner == nil { // OpenAPI 2.0
		owner = d.follow(s.body.schema)
	}
	if d.exampleOf(s.body) != nil {
		return
	}
	reason := "the example of another body of the same schema"
	example, ok := f.elsewhere(s)
	if !ok {
		reason = "composed of examples, defaults and enumerations of its members"
		example, ok = d.compose(s.body.schema)
	}
	if ok {
		f.update(s, at, owner, append(append([]byte(`{"example":`), example...), '}'), reason)
	}
}

// elsewhere returns the example of another body of the same schema.
func (f *fixer) elsewhere(s *subject) (json.RawMessage, bool) {
	d := f.a.document
	schema := d.follow(s.body.schema)
	for _, other := range f.a.subjects {
		if other == s || other.body == nil || d.follow(other.body.schema) != schema {
			continue
		}
		if example := other.body.media.Get("example"); example != nil {
			if text := example.AppendJSON(nil); len(text) <= shownExample {
				return text, true
			}
		}
	}
	return nil, false
}

// list adds a parameter of the path to a list of the operation.
func (f *fixer) list(s *subject, at *found, extension string) {
	if value, err := json.Marshal(map[string][]string{extension: {at.parameter.name}}); err == nil {
		f.update(s, at, s.node, value, at.reason)
	}
}

// hide removes an optional header that only programs set from all operations.
func (f *fixer) hide(s *subject, at *found) {
	p := at.parameter
	which := "@.name==" + overlay.Quoted(p.name) + " && @.in==" + overlay.Quoted(p.in) + " && @.required!=true"
	if ref := p.written.Get("$ref"); ref != nil {
		which = "@['$ref']==" + overlay.Quoted(ref.Text())
	}
	path := "$.paths[*][*].parameters"
	if p.shared {
		path = "$.paths[*].parameters"
	}
	f.add(s, at, overlay.Change{Target: path + "[?" + which + "]", Optional: true,
		Reason: "an optional " + p.in + " that only programs set (" + string(at.code) + ")"})
}
