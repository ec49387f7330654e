package tree

import (
	"errors"
	"fmt"
	"strings"

	"drawbridge/openapi/otherformat"
	"drawbridge/openapi/text"
)

// checkVersion verifies that the root is an OpenAPI document of a supported version: 2.0, 3.0, 3.1, 3.2. The version
// becomes text; of a malformed one ("3.0.o") the first two numbers count.
func (l *loader) checkVersion(root *Node) error {
	at := Position{File: root.key, Line: int(max(root.line, 1)), Column: int(max(root.col, 1))}
	refuse := func(p Position, format string, args ...any) error {
		return &SyntaxError{Position: p, Message: "not an OpenAPI document: " + fmt.Sprintf(format, args...)}
	}
	const want = `expected a top-level "openapi" or "swagger" member such as openapi: 3.1.0`
	switch root.kind {
	case Object:
	case String:
		return refuse(at, "%s, found the text %s; give the path or URL of the document itself", want, quote(clip(root.text)))
	default:
		return refuse(at, "%s, found %s %s", want, article(root.kind), root.kind)
	}
	v, known := root.Get("openapi"), []string{"3.0", "3.1", "3.2"}
	if v == nil {
		v, known = root.Get("swagger"), []string{"2.0"}
	}
	if v == nil {
		return refuse(at, "%s, found %s; give the path or URL of the document itself", want, memberNames(root))
	}
	switch v.kind {
	case String:
	case Number:
		v.kind = String
	default:
		return refuse(v.Position(), "%s must be a version such as \"3.1.0\", found %s %s", quote(v.key), article(v.kind), v.kind)
	}
	text := strings.TrimSpace(v.text)
	for _, k := range known {
		if text == k[:1] {
			l.warn.add(v, CodeVersion, "%s is the odd version %s; read as %s", quote(v.key), quote(v.text), k)
			v.text = k
			return nil
		}
		rest, ok := strings.CutPrefix(text, k)
		if !ok || rest != "" && rest[0] != '.' {
			continue
		}
		if rest != "" && !patchNumber(rest) {
			l.warn.add(v, CodeVersion, "%s is the odd version %s; read as %s", quote(v.key), quote(clip(v.text)), k)
		}
		v.text = text
		return nil
	}
	return &SyntaxError{Position: v.Position(), Message: fmt.Sprintf(
		"%s %s is not supported; convert the document to swagger 2.0 or openapi 3.0, 3.1 or 3.2", v.key, quote(clip(v.text)))}
}

// patchNumber reports whether s is ".N", with or without a pre-release suffix.
func patchNumber(s string) bool {
	digits, rest := cutDigits(s[1:])
	return digits != "" && (rest == "" || rest[0] == '-')
}

func article(k Kind) string {
	if k == Array || k == Object {
		return "an"
	}
	return "a"
}

// memberNames lists the first members of an object, so that the user recognizes the file.
func memberNames(n *Node) string {
	if n.Len() == 0 {
		return "no member at all"
	}
	const most = 5
	var names []string
	for key := range n.Members() {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, quote(clip(key)))
	}
	return "only " + strings.Join(names, ", ")
}

// explained adds to the error of a root file what the parser can't detect: that the file describes an API in another
// format, or that it was cut off inside an escape.
func explained(err error, location string, data []byte) error {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if escape := text.InEscape(data); escape != "" {
		return &SyntaxError{Position: syntax.Position, Message: syntax.Message + "; the file ends inside the escape " + escape + ", so it was cut off"}
	}
	what := otherformat.Describe(data)
	if what == "" {
		return err
	}
	return &SyntaxError{Position: Position{File: location, Line: 1, Column: 1}, Message: "not an OpenAPI document, but " + what}
}
