package tree

import "regexp"

// namePattern matches the names of pattern properties that converters leave in lists of required names: those of RAML
// ("/^[a-z]{2}$/", "//"), and those of JSON Schema ("^[a-z]{2}$").
var namePattern = regexp.MustCompile(`^/(?:.*[\\^$()\[\]{}*+?|].*)?/$|^\^.*\$$`)

// noteRequired records a schema that requires properties that it does not declare.
func (w *walker) noteRequired(n *Node) {
	if list := n.Get("required"); list.Kind() == Array {
		for _, name := range list.body.kids {
			if name.kind == String && n.Get("properties").Get(name.text) == nil {
				w.requiring = append(w.requiring, n)
				return
			}
		}
	}
}

// repairNames drops required names that no property of the object can have, so that no value would be valid: patterns,
// and names that a closed object does not declare. It comes after closed parts are opened.
func (w *walker) repairNames() {
	steps := 0
	for _, n := range w.requiring {
		declared, patterns := n.Get("properties"), n.Get("patternProperties").Len()
		closed := isFalse(n.Get("additionalProperties"))
		var drop []*Node
		list := n.Get("required")
		for _, name := range list.Items() {
			if steps += 1 + patterns; steps > maxClosedSteps {
				return
			}
			if name.kind != String || declared.Get(name.text) != nil {
				continue
			}
			switch {
			case namePattern.MatchString(name.text):
				w.warn.add(name, CodeRequiredName, "\"required\" names %s, which is a pattern and no property; left out", quote(clip(name.text)))
			case closed && !matchesPattern(n, name.text):
				w.warn.add(name, CodeRequiredName, "\"required\" names %s, which the schema neither declares nor lets in; left out", quote(clip(name.text)))
			default:
				continue
			}
			drop = append(drop, name)
		}
		if len(drop) == list.Len() {
			n.remove("required")
		} else {
			list.drop(drop)
		}
	}
}
