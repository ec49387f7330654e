package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"drawbridge/gateway/origin"
)

// The pages of API viewers name the document that they show, in an attribute or in a script beside them. They are read,
// never run: Swagger UI, ReDoc, RapiDoc, Scalar, Stoplight Elements.

const (
	maxPageFetches = 3       // for one page: a script, the configuration that it names, the document
	maxPage        = 4 << 20 // bytes of a page or script that are looked at, but for a document that stands in one
	maxNamed       = 50      // documents that one page may name
)

// pageHint follows the sentence that says of a page that it is none.
const pageHint = "; the page names none: often it is /openapi.json, /v3/api-docs or /swagger/v1/swagger.json of the same host"

// isMarkup tells whether data is a page and not a document.
func isMarkup(data []byte) bool {
	head := bytes.TrimSpace(bytes.TrimPrefix(data[:min(len(data), 4096)], []byte("\xEF\xBB\xBF")))
	return len(head) > 0 && head[0] == '<' && !bytes.HasPrefix(head, []byte("<<"))
}

// A viewer is a page on the way to the document that it shows.
type viewer struct {
	source  *urlSource
	page    *url.URL
	fetches int
	found   mentions
}

// mentions are what a page or a script names, as they stand there.
type mentions struct {
	configs, documents, scripts []string
	pace                        *Pace // of looking for them
}

// behind finds the document that the page shows. Where the page names none it is returned itself, for the tree to say
// what it is.
func (s *urlSource) behind(ctx context.Context, page []byte, previous *Stamp) ([]byte, fetched, error) {
	v := &viewer{source: s, page: s.location, found: mentions{pace: s.pace}}
	v.found.page(page[:min(len(page), maxPage)])
	if q := v.page.Query().Get("configUrl"); q != "" {
		v.found.configs = slices.Insert(v.found.configs, 0, q) // so Springdoc's redirect has it
	}
	if err := v.configure(ctx); err != nil {
		return nil, fetched{}, err
	}
	for _, script := range v.found.scripts {
		if len(v.found.documents) > 0 || v.fetches >= maxPageFetches-1 {
			break
		}
		data, u, err := v.fetch(ctx, script, nil)
		if err != nil {
			if ctx.Err() != nil || s.isLarge(err) {
				return nil, fetched{}, err
			}
			continue
		}
		if document := embedded(data, s.pace); document != nil {
			return v.take(document, u, "stands in the script %q beside it; give its own URL if it has one")
		}
		v.found.script(string(data[:min(len(data), maxPage)]))
		if err := v.configure(ctx); err != nil {
			return nil, fetched{}, err
		}
	}
	if len(v.found.documents) == 0 {
		return page, fetched{url: s.location}, nil
	}
	// Of several the first that may be read: it is the one that a reader of the page sees.
	for _, name := range v.found.documents {
		u, err := v.resolve(name)
		if err != nil {
			continue
		}
		if previous != nil && (len(previous.Files) != 1 || previous.Files[0] != u.String()) {
			previous = nil
		}
		data, got, err := v.fetch(ctx, name, previous)
		if errors.Is(err, ErrUnchanged) {
			return nil, fetched{}, err
		}
		if err != nil {
			return nil, fetched{}, fmt.Errorf("this is the page of an API viewer, and the document behind it, %q: %w", u.Redacted(), err)
		}
		return v.take(data, got, "is at %q; give that URL instead")
	}
	for _, name := range v.found.documents {
		if u, err := v.page.Parse(name); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil {
			return nil, fetched{}, fmt.Errorf("this is the page of an API viewer, and the document behind it, %q, has another origin; give that URL, or list its origin in allow_refs", u)
		}
	}
	return page, fetched{url: s.location}, nil
}

// isLarge tells that a file behind a page is too large for now, and may be what is wanted.
func (s *urlSource) isLarge(err error) bool {
	var size sizeError
	return s.small && errors.As(err, &size)
}

// take makes data, found at a place, the root document.
func (v *viewer) take(data []byte, at fetched, where string) ([]byte, fetched, error) {
	s := v.source
	s.page, s.location = v.page.String(), at.url
	message := fmt.Sprintf("the location is the page of an API viewer; the document behind it "+where, at.url.Redacted())
	if more := v.found.documents; len(more) > 1 {
		message += "; the page shows others too: " + quotedList(more[1:])
	}
	s.problems = append(s.problems, Problem{Code: codePage, Message: message})
	return data, at, nil
}

// resolve returns the URL of what the page names, if it may be read.
func (v *viewer) resolve(name string) (*url.URL, error) {
	u, err := v.page.Parse(name)
	if err != nil {
		return nil, err
	}
	u = withoutFragment(u)
	if u.User != nil || !origin.Same(u, v.source.origin) && !v.source.others.has(u) {
		return nil, errors.New("another origin")
	}
	return u, nil
}

func (v *viewer) fetch(ctx context.Context, name string, previous *Stamp) ([]byte, fetched, error) {
	u, err := v.resolve(name)
	if err != nil {
		return nil, fetched{}, err
	}
	if v.fetches++; v.fetches > maxPageFetches {
		return nil, fetched{}, errors.New("too many files lead to the document")
	}
	return v.source.fetch(ctx, u, 1, previous)
}

// configure reads the configuration that Swagger UI would, which wins over what its page says.
func (v *viewer) configure(ctx context.Context) error {
	for _, name := range v.found.configs {
		if v.fetches >= maxPageFetches-1 {
			break
		}
		data, _, err := v.fetch(ctx, name, nil)
		if ctx.Err() != nil || v.source.isLarge(err) {
			return err
		}
		if err != nil {
			continue
		}
		of := mentions{pace: v.source.pace}
		of.script(string(data[:min(len(data), maxPage)]))
		v.found.documents = append(of.documents, v.found.documents...)
	}
	v.found.configs = nil
	return nil
}

// page reads the attributes and scripts of a page.
func (n *mentions) page(data []byte) {
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

// isViewerScript tells whether an inline script is that of a viewer, so that other scripts with URLs in them are let alone.
func isViewerScript(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"swagger", "redoc", "createapireference", "rapidoc", "apidescriptionurl"},
		func(word string) bool { return strings.Contains(text, word) })
}

// isInitializer tells whether a script, by its name, sets up Swagger UI; swagger tells that the page is one of it.
func isInitializer(src string, swagger bool) bool {
	file, _, _ := strings.Cut(src, "?")
	switch path.Base(file) {
	case "swagger-initializer.js", "swagger-ui-init.js", "swagger-init.js":
		return true
	case "index.js", "initializer.js": // Swashbuckle has its settings there
		return swagger
	}
	return false
}

func (n *mentions) document(name string) {
	if name = strings.TrimSpace(name); name != "" && len(n.documents) < maxNamed && !slices.Contains(n.documents, name) {
		n.documents = append(n.documents, name)
	}
}

// script reads a script, or the JSON of Swagger UI's configuration. Only strings are taken: nothing is computed.
func (n *mentions) script(text string) {
	n.given(text, func(name string, sign byte) bool { return sign != '(' && lastName(name) == "configUrl" }, func(value string) {
		if len(n.configs) < maxNamed {
			n.configs = append(n.configs, value)
		}
	})
	// The list of Swagger UI comes before the document that it shows without one.
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '[')
		if i < 0 {
			break
		}
		at += i + 1
		n.pace.Step()
		if name, sign := givenTo(text[:at-1]); name == "urls" && sign == ':' {
			inside, _, _ := strings.Cut(text[at:], "]")
			n.given(inside, isDocumentURL, n.document)
			break
		}
	}
	n.given(text, isDocumentURL, n.document)
}

// isDocumentURL tells whether a string that is given so is the document of a viewer.
func isDocumentURL(name string, sign byte) bool {
	switch sign {
	case ':':
		return name == "url" || name == "swaggerUrl" || name == "specUrl" // and spec-url, of which this is the end
	case '=':
		last := lastName(name)
		return last == "apiDescriptionUrl" || last == "specUrl"
	default:
		return name == "Redoc.init" || strings.HasSuffix(name, ".Redoc.init")
	}
}

// given hands out the strings in a script that stand behind a name; at most maxNamed. A script may be megabytes long, so it
// is gone through once, and nothing is looked at twice.
func (n *mentions) given(text string, wanted func(name string, sign byte) bool, take func(value string)) {
	for at, found := 0, 0; found < maxNamed; at++ {
		i := strings.IndexAny(text[at:], "\"'`")
		if i < 0 {
			return
		}
		at += i
		n.pace.Step()
		name, sign := givenTo(text[:at])
		if sign == 0 || !wanted(name, sign) {
			continue
		}
		found++
		if value, ok := literal(text, at); ok {
			take(value)
		}
	}
}

// givenTo returns what stands at the end of a text before a value: the name that the value is given to, with the objects
// that it belongs to, and the sign between them, a colon, an equals sign or an opening parenthesis; 0 if there is none.
func givenTo(text string) (name string, sign byte) {
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

// lastName returns the last part of a name, without the objects that it belongs to.
func lastName(name string) string { return name[strings.LastIndexAny(name, ".$")+1:] }

// literal returns the string of JavaScript that begins at a place, "" and false when there is none, or when the place is
// in a comment.
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

// embedded returns the document that a script of swagger-ui-express holds, if it is plain JSON; nil if there is none. What
// stands around it becomes spaces, so that positions in the document are those in the script.
func embedded(script []byte, pace *Pace) []byte {
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

// A pacedReader takes a step before each piece.
type pacedReader struct {
	io.Reader
	pace *Pace
}

func (r pacedReader) Read(p []byte) (int, error) {
	r.pace.Step()
	return r.Reader.Read(p[:min(len(p), pieceBytes/8)])
}
