package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"drawbridge/config"
)

// Client sends the requests that look for the document of one service: to its instances, wherever the host of a request is
// that of [baseURL], and within the addresses that the provider allows.
type Client interface {
	Do(req *http.Request) (*http.Response, error)
}

// How a document was found, for operators.
const (
	byRegistration = "registration"
	byRegistry     = "registry" // which keeps the document itself
	byCatalog      = "api-catalog (RFC 9727)"
	byLink         = "Link header (RFC 8631)"
	byPath         = "path"
)

// lookupTime is the time that the lookup of one document may take.
const lookupTime = 10 * time.Second

// maxProbe is how much of a response is read to see what it is, in bytes.
const maxProbe = 256 << 10

// acceptDocument is the Accept header of requests for documents.
const acceptDocument = "application/json, application/yaml;q=0.9, */*;q=0.5"

// errNoDocument reports that a service has responded to each request of a lookup, but none led to a document.
var errNoDocument = errors.New("no OpenAPI document was found")

// baseURL returns the base URL of a service's API. Its host is a name that has no address (RFC 6761 section 6.4): calls are
// sent to the instances, so that the API stays the same wherever they are.
func baseURL(t *Target, api string) *url.URL {
	u := &url.URL{Scheme: t.Scheme, Host: strings.ToLower(api) + ".discovered.invalid"}
	if path, err := url.Parse(t.BasePath); err == nil { // it was checked
		u.Path, u.RawPath = path.Path, path.RawPath
	}
	return u
}

// documentLookup looks for the document of one service.
type documentLookup struct {
	client Client
	target *Target
	base   *url.URL
	allow  []config.Origin // origins that other hosts may have; nil: any that the client reaches
	paths  []string
	left   int   // requests
	failed error // the last request that had no response
	// refused lists the URLs that the service refuses to clients without another credential.
	refused []refusedRequest
}

// find returns where the document is, and how it was found.
func (l *documentLookup) find(ctx context.Context) (location, by string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	if d := l.target.Document; d != "" {
		at, err := l.resolve(&url.URL{Scheme: l.base.Scheme, Host: l.base.Host}, d)
		return at, byRegistration, err
	}
	for _, way := range []struct {
		by  string
		try func(context.Context) string
	}{{byCatalog, l.catalog}, {byLink, l.link}, {byPath, l.guess}} {
		if at := way.try(ctx); at != "" {
			return at, way.by, nil
		}
	}
	if l.failed != nil {
		return "", "", fmt.Errorf("the service did not respond: %w", l.failed)
	}
	if len(l.refused) > 0 {
		return "", "", &protectedError{l.base, l.refused}
	}
	return "", "", errNoDocument
}

// catalog follows RFC 9727.
func (l *documentLookup) catalog(ctx context.Context) string {
	at := &url.URL{Scheme: l.base.Scheme, Host: l.base.Host, Path: "/.well-known/api-catalog"}
	text, _ := l.get(ctx, at.String(), "application/linkset+json, application/json;q=0.9")
	return l.first(ctx, at, serviceDescriptions(text, l.base))
}

// link follows RFC 8631: the base URL names its description.
func (l *documentLookup) link(ctx context.Context) string {
	for _, at := range l.roots() {
		if at.Path == "" {
			at.Path = "/"
		}
		_, links := l.get(ctx, at.String(), "*/*")
		if found := l.first(ctx, at, linksTo(links, "service-desc")); found != "" {
			return found
		}
		if l.base.Path != "" {
			break // the registration names it
		}
	}
	return ""
}

// roots returns the URLs at which the service may be: its base URL if the registration names it, its context path, and the root.
func (l *documentLookup) roots() (all []*url.URL) {
	for _, path := range []string{l.base.EscapedPath(), l.target.ContextPath} {
		if path == "" || len(all) > 0 && all[0].EscapedPath() == path {
			continue
		}
		if parsed, err := url.Parse(path); err == nil { // it was checked
			all = append(all, &url.URL{Scheme: l.base.Scheme, Host: l.base.Host, Path: parsed.Path, RawPath: parsed.RawPath})
		}
	}
	return append(all, &url.URL{Scheme: l.base.Scheme, Host: l.base.Host})
}

// guess tries the usual places.
func (l *documentLookup) guess(ctx context.Context) string {
	var all []string
	for _, root := range l.roots() {
		for _, path := range l.paths {
			if path, ok := withName(path, l.target.Name); ok {
				all = append(all, root.JoinPath(path).String())
			}
		}
	}
	return l.first(ctx, l.base, all)
}

// withName returns a path with the name of a service for {name}, as one segment. ok is false if the name could be anything else there: it is
// chosen by the one who registers, and servers decode and split paths in different ways.
func withName(path, name string) (_ string, ok bool) {
	const variable = "{name}"
	if !strings.Contains(path, variable) {
		return path, true
	}
	if name == "" || checkText(name, maxServiceName) != nil || strings.ContainsAny(name, `./\%;?#`) {
		return "", false
	}
	return strings.ReplaceAll(path, variable, url.PathEscape(name)), true
}

// first returns the first of several references that leads to a document.
func (l *documentLookup) first(ctx context.Context, base *url.URL, references []string) string {
	for _, reference := range references {
		at, err := l.resolve(base, reference)
		if err != nil {
			continue
		}
		if text, _ := l.get(ctx, at, acceptDocument); config.IsDocument(text) {
			return at
		}
	}
	return ""
}

// resolve makes a reference absolute. One to an instance is one to the service, which may move.
func (l *documentLookup) resolve(base *url.URL, reference string) (string, error) {
	u, err := base.Parse(reference)
	if err != nil {
		return "", err
	}
	if u.Scheme == l.base.Scheme && slices.Contains(l.target.Instances, u.Host) {
		u.Host = l.base.Host
	}
	u.Fragment = ""
	switch {
	case u.Host == l.base.Host && u.Scheme == l.base.Scheme:
	case u.Scheme != "http" && u.Scheme != "https" || u.User != nil:
		return "", fmt.Errorf("the document at %.100q can't be fetched: expected an http or https URL", u.Redacted())
	case len(l.allow) > 0 && !slices.Contains(l.allow, config.Origin(originOf(u))):
		return "", fmt.Errorf("the document's server %s is not one of allow_servers", originOf(u))
	}
	return u.String(), nil
}

// get returns the beginning of the body of a response with status 200, and its Link headers; nil if there is none, or no request is left.
func (l *documentLookup) get(ctx context.Context, at, accept string) (text []byte, links []string) {
	if l.left <= 0 || ctx.Err() != nil {
		return nil, nil
	}
	l.left--
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		l.failed = err
		return nil, nil
	}
	req.Header.Set("Accept", accept)
	resp, err := l.client.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // which of the URLs was tried last does not matter
		}
		l.failed = err
		return nil, nil
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxProbe))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		l.refused = append(l.refused, refusedRequest{resp.StatusCode, req.URL})
	}
	if resp.StatusCode != http.StatusOK || err != nil {
		return nil, nil
	}
	return text, resp.Header.Values("Link")
}
