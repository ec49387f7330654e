package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
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
}

// behind finds the document that the page shows. Where the page names none it is returned itself, for the tree to say
// what it is.
func (s *urlSource) behind(ctx context.Context, page []byte, previous *Stamp) ([]byte, fetched, error) {
	v := &viewer{source: s, page: s.location}
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
			if ctx.Err() != nil {
				return nil, fetched{}, err
			}
			continue
		}
		if document := embedded(data); document != nil {
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
	if u.User != nil || !sameOrigin(u, v.source.origin) && !v.source.others.has(u) {
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
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			continue
		}
		var of mentions
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
			if text := string(tokens.Raw()); script && viewerScript.MatchString(text) {
				n.script(text)
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// viewerScript is what an inline script of a viewer has, so that other scripts with URLs in them are let alone.
var viewerScript = regexp.MustCompile(`(?i)swagger|redoc|createApiReference|rapidoc|apiDescriptionUrl`)

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

// The places in a script where a viewer is told its document; what follows must be a string.
var (
	configURL   = regexp.MustCompile(`\bconfigUrl["']?\s*[:=]\s*`)
	urlList     = regexp.MustCompile(`(?:^|[^\w.$])["']?urls["']?\s*:\s*\[`)
	documentURL = regexp.MustCompile(`(?:^|[^\w.$])["']?(?:url|swaggerUrl|specUrl|spec-url)["']?\s*:\s*|\.?\b(?:apiDescriptionUrl|specUrl)\s*=\s*|\bRedoc\.init\s*\(\s*`)
)

// script reads a script, or the JSON of Swagger UI's configuration. Only strings are taken: nothing is computed.
func (n *mentions) script(text string) {
	for _, at := range configURL.FindAllStringIndex(text, maxNamed) {
		if name, ok := literal(text, at); ok {
			n.configs = append(n.configs, name)
		}
	}
	for _, list := range urlList.FindAllStringIndex(text, 1) {
		inside, _, _ := strings.Cut(text[list[1]:], "]")
		for _, at := range documentURL.FindAllStringIndex(inside, maxNamed) {
			if name, ok := literal(inside, at); ok {
				n.document(name)
			}
		}
	}
	for _, at := range documentURL.FindAllStringIndex(text, maxNamed) {
		if name, ok := literal(text, at); ok {
			n.document(name)
		}
	}
}

// literal returns the string of JavaScript that stands behind a place, "" and false when there is none, or when the place
// is in a comment.
func literal(text string, at []int) (string, bool) {
	line := strings.TrimSpace(text[strings.LastIndexByte(text[:at[0]], '\n')+1 : at[0]])
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*") {
		return "", false
	}
	rest := text[at[1]:]
	if rest == "" || strings.IndexByte("\"'`", rest[0]) < 0 {
		return "", false
	}
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

var swaggerDoc = regexp.MustCompile(`["']?\bswaggerDoc["']?\s*:\s*`)

// embedded returns the document that a script of swagger-ui-express holds, if it is plain JSON; nil if there is none. What
// stands around it becomes spaces, so that positions in the document are those in the script.
func embedded(script []byte) []byte {
	at := swaggerDoc.FindIndex(script)
	if at == nil || at[1] >= len(script) || script[at[1]] != '{' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(script[at[1]:]))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return nil
	}
	document := make([]byte, 0, len(script))
	for _, c := range string(script[:at[1]]) {
		if c != '\n' {
			c = ' '
		}
		document = append(document, byte(c))
	}
	return append(document, raw...)
}
