package fetch

import (
	"bytes"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"drawbridge/openapi/pacing"
)

// candidates are the references in a page or a script, as written.
type candidates struct {
	configs, documents, scripts []string
	pace                        *pacing.Pace // of the search
}

// page searches the attributes and scripts of a page.
func (n *candidates) page(data []byte) {
	swagger := bytes.Contains(bytes.ToLower(data), []byte("swagger"))
	tokens := html.NewTokenizer(bytes.NewReader(data))
	script := false
	for {
		n.pace.Step()
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := tokens.Token()
			script = t.Data == "script"
			src, id, dataURL := "", "", ""
			for _, a := range t.Attr {
				switch a.Key {
				case "spec-url", "specurl", "apidescriptionurl", "api-description-url":
					n.document(a.Val)
				case "data-url":
					dataURL = a.Val
				case "data-configuration":
					n.script(a.Val)
				case "src":
					src = a.Val
				case "id":
					id = a.Val
				}
			}
			if script && id == "api-reference" {
				n.document(dataURL)
			}
			if script && src != "" && isInitializer(src, swagger) {
				n.scripts = append(n.scripts, src)
			}
		case html.EndTagToken:
			script = false
		case html.TextToken:
			if text := string(tokens.Raw()); script && isViewerScript(text) {
				n.script(text)
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// isViewerScript reports whether an inline script is that of a viewer, so that URLs in other scripts are ignored.
func isViewerScript(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"swagger", "redoc", "createapireference", "rapidoc", "apidescriptionurl"},
		func(word string) bool { return strings.Contains(text, word) })
}

// isInitializer reports whether a script, by its name, sets up Swagger UI; swagger is set if the page mentions it.
func isInitializer(src string, swagger bool) bool {
	file, _, _ := strings.Cut(src, "?")
	switch path.Base(file) {
	case "swagger-initializer.js", "swagger-ui-init.js", "swagger-init.js":
		return true
	case "index.js", "initializer.js": // Swashbuckle
		return swagger
	}
	return false
}

func (n *candidates) document(name string) {
	if name = strings.TrimSpace(name); name != "" && len(n.documents) < maxNamed && !slices.Contains(n.documents, name) {
		n.documents = append(n.documents, name)
	}
}

// script searches a script, or the JSON of Swagger UI's configuration, for strings. Nothing is evaluated.
func (n *candidates) script(text string) {
	n.assigned(text, func(name string, sign byte) bool { return sign != '(' && lastName(name) == "configUrl" }, func(value string) {
		if len(n.configs) < maxNamed {
			n.configs = append(n.configs, value)
		}
	})
	// Swagger UI prefers its list to a single document.
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '[')
		if i < 0 {
			break
		}
		at += i + 1
		n.pace.Step()
		if name, sign := assignee(text[:at-1]); name == "urls" && sign == ':' {
			inside, _, _ := strings.Cut(text[at:], "]")
			n.assigned(inside, isDocumentURL, n.document)
			break
		}
	}
	n.assigned(text, isDocumentURL, n.document)
}

// isDocumentURL reports whether a string that is assigned to a name, or passed to a function, is the URL of a document.
func isDocumentURL(name string, sign byte) bool {
	switch sign {
	case ':':
		return name == "url" || name == "swaggerUrl" || name == "specUrl" // and spec-url, whose suffix this is
	case '=':
		last := lastName(name)
		return last == "apiDescriptionUrl" || last == "specUrl"
	default:
		return name == "Redoc.init" || strings.HasSuffix(name, ".Redoc.init")
	}
}

// assigned passes the strings that a script assigns to names to take, at most maxNamed. A script may be megabytes long,
// so it is searched in one pass.
func (n *candidates) assigned(text string, wanted func(name string, sign byte) bool, take func(value string)) {
	for at, found := 0, 0; found < maxNamed; at++ {
		i := strings.IndexAny(text[at:], "\"'`")
		if i < 0 {
			return
		}
		at += i
		n.pace.Step()
		name, sign := assignee(text[:at])
		if sign == 0 || !wanted(name, sign) {
			continue
		}
		found++
		if value, ok := literal(text, at); ok {
			take(value)
		}
	}
}

// assignee returns the qualified name to which the value after a text is assigned or passed, and the sign between them:
// a colon, an equals sign or an opening parenthesis; 0 if there is none.
func assignee(text string) (name string, sign byte) {
	const space = " \t\r\n\f\v"
	text = strings.TrimRight(text, space)
	if text == "" || strings.IndexByte(":=(", text[len(text)-1]) < 0 {
		return "", 0
	}
	sign = text[len(text)-1]
	text = strings.TrimRight(text[:len(text)-1], space)
	if n := len(text); n > 0 && sign != '(' && (text[n-1] == '"' || text[n-1] == '\'') {
		text = text[:n-1]
	}
	begin := len(text)
	for begin > 0 && isNameByte(text[begin-1]) {
		begin--
	}
	return text[begin:], sign
}

func isNameByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '$' || b == '.'
}

// lastName returns the last part of a qualified name.
func lastName(name string) string { return name[strings.LastIndexAny(name, ".$")+1:] }

// literal returns the JavaScript string at an offset; false if there is none or the offset is in a comment.
func literal(text string, at int) (string, bool) {
	line := strings.TrimSpace(text[strings.LastIndexByte(text[:at], '\n')+1 : at])
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*") {
		return "", false
	}
	rest := text[at:]
	end := strings.IndexByte(rest[1:min(len(rest), 2048)], rest[0])
	if end < 0 {
		return "", false
	}
	value := rest[1 : 1+end]
	if strings.Contains(value, "\\") {
		value = strings.ReplaceAll(value, `\/`, `/`)
		plain, err := strconv.Unquote(`"` + strings.ReplaceAll(value, `"`, `\"`) + `"`)
		if err != nil {
			return "", false
		}
		value = plain
	}
	if strings.Contains(value, "${") || strings.ContainsAny(value, "\n\r") {
		return "", false
	}
	return value, true
}

// embedded returns the document in a script of swagger-ui-express; nil if there is none in plain JSON. The script
// around it becomes spaces, so that positions in the document are those in the script.
func embedded(script []byte, pace *pacing.Pace) []byte {
	at := -1
	for from := 0; at < 0; {
		i := bytes.Index(script[from:], []byte("swaggerDoc"))
		if i < 0 {
			return nil
		}
		pace.Step()
		begin := from + i
		from = begin + len("swaggerDoc")
		rest := bytes.TrimPrefix(bytes.TrimPrefix(script[from:], []byte(`"`)), []byte("'"))
		rest = bytes.TrimLeft(rest, " \t\r\n")
		value, found := bytes.CutPrefix(rest, []byte(":"))
		if value = bytes.TrimLeft(value, " \t\r\n"); found && (begin == 0 || !isNameByte(script[begin-1])) {
			at = len(script) - len(value)
		}
	}
	if at >= len(script) || script[at] != '{' {
		return nil
	}
	d := json.NewDecoder(pacedReader{bytes.NewReader(script[at:]), pace})
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return nil
	}
	document := make([]byte, 0, len(script))
	for rest := script[:at]; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		if c != '\n' {
			c = ' '
		}
		if document = append(document, byte(c)); len(document)%(pieceBytes/8) == 0 {
			pace.Step()
		}
	}
	for piece := range slices.Chunk(raw, pieceBytes) {
		document = append(document, piece...)
		pace.Step()
	}
	return document
}

// pacedReader takes a step of the pace before each piece.
type pacedReader struct {
	io.Reader
	pace *pacing.Pace
}

func (r pacedReader) Read(p []byte) (int, error) {
	r.pace.Step()
	return r.Reader.Read(p[:min(len(p), pieceBytes/8)])
}
