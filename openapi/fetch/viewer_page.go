package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/tree"
)

// Pages of API viewers (Swagger UI, ReDoc, RapiDoc, Scalar, Stoplight Elements) name their document in an attribute or
// a script. Scripts are parsed, never run.

const (
	maxPageFetches = 3       // of one page: a script, a configuration, the document
	maxPage        = 4 << 20 // bytes of a page or script that are searched, except for an embedded document
	maxNamed       = 50      // documents of one page
)

// CodePage is the code of the warning that the location is a page whose document is read instead.
const CodePage = "page"

// pageHint is appended to the error that a page is not a document.
const pageHint = "; the page names none: often it is /openapi.json, /v3/api-docs or /swagger/v1/swagger.json of the same host"

// isMarkup reports whether data is a page rather than a document.
func isMarkup(data []byte) bool {
	head := bytes.TrimSpace(bytes.TrimPrefix(data[:min(len(data), 4096)], []byte("\xEF\xBB\xBF")))
	return len(head) > 0 && head[0] == '<' && !bytes.HasPrefix(head, []byte("<<"))
}

// viewer searches for the document that a page shows.
type viewer struct {
	source  *urlSource
	page    *url.URL
	fetches int
	found   candidates
	refused error // of the first file besides the page that the server refuses; nil if there is none
}

// behindPage returns the document that the page shows, or the page itself if it names none.
func (s *urlSource) behindPage(ctx context.Context, page []byte, previous *Stamp) ([]byte, response, error) {
	v := &viewer{source: s, page: s.location, found: candidates{pace: s.pace}}
	v.found.page(page[:min(len(page), maxPage)])
	if q := v.page.Query().Get("configUrl"); q != "" {
		v.found.configs = slices.Insert(v.found.configs, 0, q) // in the redirect of Springdoc
	}
	if err := v.configure(ctx); err != nil {
		return nil, response{}, err
	}
	for _, script := range v.found.scripts {
		if len(v.found.documents) > 0 || v.fetches >= maxPageFetches-1 {
			break
		}
		data, u, err := v.fetch(ctx, script, nil)
		if err != nil {
			if ctx.Err() != nil || s.isLarge(err) {
				return nil, response{}, err
			}
			continue
		}
		if document := embedded(data, s.pace); document != nil {
			return v.accept(document, u, "stands in the script %q beside it; give its own URL if it has one")
		}
		v.found.script(string(data[:min(len(data), maxPage)]))
		if err := v.configure(ctx); err != nil {
			return nil, response{}, err
		}
	}
	if len(v.found.documents) == 0 && v.refused != nil {
		return nil, response{}, v.refused
	}
	if len(v.found.documents) == 0 {
		return page, response{url: s.location}, nil
	}
	// The first permitted one is the document that the page shows by default.
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
			return nil, response{}, err
		}
		if err != nil {
			return nil, response{}, fmt.Errorf("this is the page of an API viewer, and the document behind it, %q: %w", u.Redacted(), err)
		}
		return v.accept(data, got, "is at %q; give that URL instead")
	}
	for _, name := range v.found.documents {
		if u, err := v.page.Parse(name); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil {
			return nil, response{}, fmt.Errorf("this is the page of an API viewer, and the document behind it, %q, has another origin; give that URL, or list its origin in allow_refs", u)
		}
	}
	return page, response{url: s.location}, nil
}

// isLarge reports whether a file exceeds Options.Small, so that it may be the document.
func (s *urlSource) isLarge(err error) bool {
	var size sizeError
	return s.small && errors.As(err, &size)
}

// accept makes data the root document.
func (v *viewer) accept(data []byte, at response, where string) ([]byte, response, error) {
	s := v.source
	s.page, s.location = v.page.String(), at.url
	message := fmt.Sprintf("the location is the page of an API viewer; the document behind it "+where, at.url.Redacted())
	if len(v.found.documents) > 1 {
		message += "; the page shows others too: " + quotedNames(v.found.documents[1:])
	}
	s.warned = append(s.warned, tree.Warning{Code: CodePage, Message: message})
	return data, at, nil
}

// quotedNames lists names of a page for a message.
func quotedNames(names []string) string {
	const most = 20
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.80q", name)
	}
	if len(names) > most {
		fmt.Fprintf(&b, " and %d more", len(names)-most)
	}
	return b.String()
}

// resolve returns the URL of a candidate if it is permitted.
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

func (v *viewer) fetch(ctx context.Context, name string, previous *Stamp) ([]byte, response, error) {
	u, err := v.resolve(name)
	if err != nil {
		return nil, response{}, err
	}
	if v.fetches++; v.fetches > maxPageFetches {
		return nil, response{}, errors.New("too many files lead to the document")
	}
	data, got, err := v.source.fetch(ctx, u, 1, previous)
	if errors.Is(err, ErrProtected) && v.refused == nil {
		v.refused = fmt.Errorf("this is the page of an API viewer, and %q, which may name its document: %w", u.Redacted(), err)
	}
	return data, got, err
}

// configure reads the configurations of Swagger UI, whose documents precede those of the page.
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
		of := candidates{pace: v.source.pace}
		of.script(string(data[:min(len(data), maxPage)]))
		v.found.documents = append(of.documents, v.found.documents...)
	}
	v.found.configs = nil
	return nil
}
