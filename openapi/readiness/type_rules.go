package readiness

import (
	"regexp"
	"slices"

	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/tree"
)

var (
	// formWords are last words of names of members that say in which form another member is.
	formWords = []string{"format", "encoding", "type", "mimetype"}
	// contentWords are last words of names of such other members.
	contentWords = []string{"content", "contents", "body", "data", "value", "payload"}
	// textForms are forms beside json: where one of them is listed, json is not a text that was serialized.
	textForms = []string{"text", "base64", "string", "plain", "binary"}
	// otherTypes matches descriptions of values that are texts or something else.
	otherTypes = regexp.MustCompile(`(?i)\b(?:(?:string|text),? or (?:an? )?(?:json )?(?:object|array|list|number)|(?:object|array|list|number),? or (?:an? )?(?:string|text)|` +
		`(?:is|be) an? (?:object|array|list) (?:if|when)|(?:of )?any (?:json )?(?:type|value))\b`)
)

// checkTypes finds members of a body that are declared texts, and are something else by what the document says beside the type.
func (s *subject) checkTypes() {
	if s.body == nil || s.Lenient || httpmethod.IsSafe(s.Operation.Method) {
		return
	}
	members := s.walk.members(s.body.schema)
	for _, m := range members {
		if _, ok := s.argument("body", m.name); !ok || s.walk.kind(m.schema) != "string" || s.walk.keyword(m.schema, "enum") != nil {
			continue
		}
		if reason := s.otherType(m, members); reason != "" {
			s.add(found{code: TypeDoubtful, at: m.schema, member: &m, message: quoted(m.name) + " of the body is declared a string, and " + reason +
				"; if the service takes other values, mend the type, or set validation: lenient by a rule"})
		}
	}
}

// otherType returns the reason why a member that is declared a text may be something else, or "".
func (s *subject) otherType(m member, members []member) string {
	for _, name := range []string{"example", "default"} {
		if kind := s.walk.keyword(m.schema, name).Kind(); kind == tree.Object || kind == tree.Array {
			return "its " + name + " is none"
		}
	}
	if otherTypes.MatchString(s.walk.keyword(m.schema, "description").Text()) {
		return "its description says something else"
	}
	if !endsWith(m.name, contentWords) {
		return ""
	}
	for _, form := range members {
		if !endsWith(form.name, formWords) {
			continue
		}
		said := words(s.walk.keyword(form.schema, "description").Text())
		for _, value := range s.walk.keyword(form.schema, "enum").Items() {
			said = append(said, words(value.Text())...)
		}
		if slices.Contains(said, "json") && slices.ContainsFunc(said, func(w string) bool { return slices.Contains(textForms, w) }) {
			return quoted(form.name) + " tells json from texts"
		}
	}
	return ""
}

// endsWith reports whether the last word of a name is one of some.
func endsWith(name string, some []string) bool {
	all := words(name)
	return len(all) > 0 && slices.Contains(some, all[len(all)-1])
}
