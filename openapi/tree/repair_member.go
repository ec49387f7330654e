package tree

import (
	"maps"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// maxSpellings limits the different names of unknown members in one document that are compared with the known ones.
const maxSpellings = 5_000

// others are the members of objects that are not in the grammar, since their values are the author's own.
var others = map[role][]string{
	roleDocument:  {"openapi", "swagger"},
	roleOperation: {},
	roleParameter: {"example", "examples", "enum", "default", "title", "additionalProperties", "properties"},
	roleHeader:    {"example", "examples", "enum", "default", "title"},
	roleBody:      {}, roleEncoding: {}, rolePathItem: {}, roleFlows: {}, roleInfo: {}, roleTag: {}, roleServer: {}, roleVariable: {}, roleComponents: {},
	roleMedia:    {"example", "examples"},
	roleResponse: {"examples"},
	roleLink:     {"parameters", "requestBody"},
	roleSecurity: {"scopes"},
	roleFlow:     {"scopes"},
	roleSchema: {
		"type", "enum", "const", "default", "example", "examples", "discriminator", "xml", "externalDocs", "id", "$id", "$schema", "$anchor",
		"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$comment", "dependentRequired", "dependencies",
	},
}

// spelling is a member of an object of a role, by its name.
type spelling struct {
	role role
	name string
}

// known returns the names of the members of a role; nil if they are not checked.
func (w *walker) known(r role) []string {
	if names, ok := w.names[r]; ok {
		return names
	}
	if more, ok := others[r]; ok {
		w.names[r] = slices.Concat(slices.Sorted(maps.Keys(w.grammar[r].fields)), more)
	}
	return w.names[r]
}

// repairSpelling treats misspelt members as the intended ones ("operationID", "readonly", "enm"): otherwise they would
// be ignored, like extensions without "x-". A member that already exists, or could not have such a value, was not
// intended, and a name with punctuation before or after it, such as "_required", is one that its author disabled.
func (w *walker) repairSpelling(n *Node, r role) {
	var names []string
	for _, k := range n.body.kids {
		if _, ok := w.grammar[r].fields[k.key]; ok || strings.HasPrefix(k.key, "x-") || strings.HasPrefix(k.key, "$") || strings.Trim(k.key, "_-#/.~!+*") != k.key {
			continue
		}
		if r == rolePathItem && w.grammar[r].fields[strings.ToLower(k.key)].role == roleOperation {
			continue // see repairMethods
		}
		if names == nil {
			if names = w.known(r); names == nil {
				return
			}
		}
		intended := w.intended(spelling{r, k.key}, names)
		if intended == "" || !w.fits(k, r, intended) {
			continue
		}
		if intended == "security" && isOpen(k) {
			w.warn.add(k, CodeMemberName, "%s is not a member of %s; %s was probably meant, but would take protection away: it is not read", quote(clip(k.key)), r.describe(), quote(intended))
			continue
		}
		if n.Get(intended) != nil {
			w.warn.add(k, CodeMemberName, "%s is not a member of %s; %s was probably meant, which is there already: left out", quote(clip(k.key)), r.describe(), quote(intended))
			continue
		}
		w.warn.add(k, CodeMemberName, "%s is not a member of %s; read as %s", quote(clip(k.key)), r.describe(), quote(intended))
		n.rename(k, intended)
	}
}

// isOpen reports whether security requirements let requests through without a credential (OAS Security Requirement Object).
func isOpen(n *Node) bool {
	return n.kind != Array || len(n.body.kids) == 0 || slices.ContainsFunc(n.body.kids, func(k *Node) bool { return k.kind != Object || len(k.body.kids) == 0 })
}

// intended returns the name of the member that another name is a misspelling of; "" if there is none.
func (w *walker) intended(s spelling, names []string) string {
	if intended, ok := w.spellings[s]; ok {
		return intended
	}
	if len(w.spellings) >= maxSpellings || slices.Contains(names, s.name) {
		return ""
	}
	w.budget.Pace.Work(stepsOfSpelling)
	intended := text.Typo(s.name, names)
	w.spellings[s] = intended
	return intended
}

// stepsOfSpelling is the number of steps for comparing a name with all others.
const stepsOfSpelling = 8

// fits reports whether the member can have a value of this kind.
func (w *walker) fits(k *Node, r role, name string) bool {
	f, ok := w.grammar[r].fields[name]
	if !ok { // the author's own
		switch name {
		case "enum", "dependencies":
			return k.kind == Array
		case "type":
			return k.kind == String && isTypeName(strings.ToLower(k.text)) || k.kind == Array
		case "scopes", "examples", "discriminator", "xml", "externalDocs", "parameters", "properties", "dependentRequired":
			return k.kind == Object || k.kind == Array
		}
		return name == "example" || name == "default" || name == "const" || k.kind == String
	}
	switch f.shape {
	case shapeText:
		return k.kind == String || k.kind == Number
	case shapeFlag:
		return k.kind == Bool || k.kind == String && (k.text == "true" || k.text == "false")
	case shapeNumber, shapeBound:
		return k.kind == Number || k.kind == Bool && f.shape == shapeBound
	case shapeTexts:
		return k.kind == Array || k.kind == String
	case shapeList:
		return k.kind == Array
	case shapeOne:
		return k.kind == Object || k.kind == Bool && f.role == roleSchema
	case shapeDict:
		return k.kind == Object
	default:
		return true
	}
}
