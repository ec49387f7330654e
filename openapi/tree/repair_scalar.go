package tree

import (
	"path"
	"strings"
)

// null decides whether null is kept instead of a value.
func (w *walker) null(n *Node, f field) (keep bool) {
	if f.empty && f.shape == shapeTexts {
		w.warn.add(n, CodeNull, "null stands where a list belongs; read as []")
		n.setEmpty(Array)
		return true
	}
	if f.empty {
		w.warn.add(n, CodeNull, "null stands where %s belongs; read as {}", f.role.describe())
		n.setEmpty(Object)
		return true
	}
	w.warn.add(n, CodeNull, "%s is null, which means nothing here; left out", w.name(n))
	return false
}

// name returns the name of n in messages.
func (w *walker) name(n *Node) string {
	if n.key != "" && !n.isRoot() {
		return quote(clip(n.key))
	}
	return "an element"
}

func (w *walker) wrongType(n *Node, want string) {
	w.warn.add(n, CodeWrongType, "%s must be %s, found %s %s; left out", w.name(n), want, article(n.kind), n.kind)
}

// text converts n to text.
func (w *walker) text(n *Node) (keep bool, err error) {
	switch n.kind {
	case String:
		return true, nil
	case Number, Bool:
		w.warn.add(n, CodeTextScalar, "%s must be text, found the %s %s; read as %s", w.name(n), n.kind, clip(n.text), quote(clip(n.text)))
		n.kind = String
		return true, nil
	case Object:
		if ref := n.Get("$ref"); ref.Kind() == String {
			return w.textRef(n, ref)
		}
	case Array:
		var lines []string
		for _, k := range n.body.kids {
			if k.kind != String {
				lines = nil
				break
			}
			lines = append(lines, k.text)
		}
		if lines != nil {
			w.warn.add(n, CodeTextList, "%s must be text, found a list; its lines are joined", w.name(n))
			n.setScalar(String, strings.Join(lines, "\n"))
			return true, nil
		}
	}
	w.wrongType(n, "text")
	return false, nil
}

// textRef takes over the text that a reference leads to.
func (w *walker) textRef(n, ref *Node) (keep bool, err error) {
	text, found := "", false
	switch path.Ext(ref.text) {
	case ".md", ".markdown", ".txt":
		data, err := w.openText(ref)
		if err != nil {
			return false, err
		}
		text, found = data, data != ""
	default:
		target, err := w.final(ref)
		if err != nil {
			return false, err
		}
		switch target.Kind() {
		case String, Number, Bool:
			text, found = target.text, true
			// Free here, but not when the document is encoded.
			if err := w.budget.addBytes(n.Position(), len(text)); err != nil {
				return false, err
			}
		}
	}
	if !found {
		w.warn.add(n, CodeWrongType, "%s must be text, found $ref %s, which leads to no text; left out", w.name(n), quote(clip(ref.text)))
		return false, nil
	}
	w.warn.add(n, CodeTextRef, "%s must be text, found $ref %s; the text there is used", w.name(n), quote(clip(ref.text)))
	n.setScalar(String, text)
	return true, nil
}

// openText reads a file of prose; "" if it can't be read.
func (w *walker) openText(ref *Node) (string, error) {
	location := joinLocation(ref.location(), ref.text)
	if w.open == nil {
		return "", nil
	}
	if w.budget.files++; w.budget.files >= w.budget.Files {
		return "", tooMany(ref.Position(), w.budget.Files, "files")
	}
	data, err := w.open(w.ctx, location, ref.location(), w.set.files[ref.location()].depth+1)
	if err != nil {
		if w.ctx.Err() != nil {
			return "", w.ctx.Err()
		}
		w.warn.add(ref, CodeDanglingRef, "$ref %s: can't use %s: %v", quote(clip(ref.text)), quote(location), reason(err))
		return "", nil
	}
	if err := w.budget.addBytes(ref.Position(), len(data)); err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// scalar converts n to a boolean or number.
func (w *walker) scalar(n *Node, want shape) (keep bool) {
	switch {
	case n.kind == Bool && want != shapeNumber, n.kind == Number && want != shapeFlag:
		return true
	case n.kind == String && want != shapeNumber && w.flagText(n):
		return true
	case n.kind == String && want != shapeFlag:
		if literal, ok := yamlNumber(strings.TrimSpace(n.text)); ok {
			w.warn.add(n, CodeNumberText, "%s must be a number, found the text %s; read as %s", w.name(n), quote(clip(n.text)), clip(literal))
			n.setScalar(Number, literal)
			return true
		}
	}
	switch want {
	case shapeFlag:
		w.wrongType(n, "true or false")
	case shapeNumber:
		w.wrongType(n, "a number")
	default:
		w.wrongType(n, "a number, true or false")
	}
	return false
}

// flagText converts the text "true" or "false" to a boolean.
func (w *walker) flagText(n *Node) bool {
	value := strings.ToLower(strings.TrimSpace(n.text))
	if value != "true" && value != "false" {
		return false
	}
	w.warn.add(n, CodeBoolText, "%s must be %s, found the text %s", w.name(n), value, quote(n.text))
	n.setScalar(Bool, value)
	return true
}

// texts converts n to a list of strings.
func (w *walker) texts(n *Node) (keep bool, err error) {
	switch n.kind {
	case Array:
	case String, Number, Bool:
		w.warn.add(n, CodeListSingle, "%s must be a list of text, found %s alone", w.name(n), quote(clip(n.text)))
		n.wrapArray()
	case Object:
		if n.Len() == 0 {
			w.warn.add(n, CodeEmptyArray, "%s must be a list, found {}; read as []", w.name(n))
			n.setEmpty(Array)
			return true, nil
		}
		if ref := n.Get("$ref"); ref.Kind() == String {
			return w.contentRef(n, ref, field{shape: shapeTexts})
		}
		w.wrongType(n, "a list of text")
		return false, nil
	}
	w.flatten(n)
	var drop []*Node
	for _, k := range n.body.kids {
		// A list of tags that contains the tag objects, as at the top of a document.
		if name := k.Get("name"); name.Kind() == String {
			w.warn.add(k, CodeTextScalar, "an element must be text, found an object; its name %s is used", quote(clip(name.text)))
			k.setScalar(String, name.text)
			continue
		}
		if k.kind == Null {
			w.warn.add(k, CodeNull, "null stands in a list of text; left out")
			drop = append(drop, k)
			continue
		}
		keep, err := w.text(k)
		if err != nil {
			return false, err
		}
		if !keep {
			drop = append(drop, k)
		}
	}
	n.drop(drop)
	if n.key == "consumes" || n.key == "produces" {
		w.repairMediaTexts(n)
	}
	return true, nil
}

// flatten replaces lists within the list n by their elements.
func (w *walker) flatten(n *Node) {
	nested := false
	for _, k := range n.body.kids {
		nested = nested || k.kind == Array
	}
	if !nested {
		return
	}
	w.warn.add(n, CodeNestedList, "%s holds lists within the list; flattened", w.name(n))
	var flat []*Node
	var add func(from *Node)
	add = func(from *Node) {
		for _, k := range from.body.kids {
			if k.kind == Array {
				add(k)
				continue
			}
			k.up = n
			flat = append(flat, k)
		}
	}
	add(n)
	n.setKids(flat)
}
