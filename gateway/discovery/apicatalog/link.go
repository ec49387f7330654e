package apicatalog

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// targets returns the services of a catalog. Contexts with service-desc come first, because items, which are links to APIs
// without a document, may be the same ones. The error names entries that are left out.
func (p *Provider) targets(set *discovery.LinkSet) ([]discovery.Target, error) {
	targets, known := []discovery.Target{}, map[[2]string]string{} // the URL of each
	var problems []error
	add := func(reference, document string) {
		t, err := p.target(reference, document)
		if err != nil {
			problems = append(problems, err)
			return
		}
		key, at := [2]string{t.Namespace, t.Name}, t.Scheme+"://"+t.Instances[0]+t.BasePath
		switch other, taken := known[key]; {
		case !taken:
			known[key] = at
			targets = append(targets, t)
		case other != at:
			problems = append(problems, fmt.Errorf("%s: %s is left out: %s has the same host and the same name", p.at, at, other))
		}
	}
	for i := range set.Contexts {
		if c := &set.Contexts[i]; len(c.ServiceDesc) > 0 {
			add(c.Anchor, document(c.ServiceDesc))
		}
	}
	for i := range set.Contexts {
		for _, item := range set.Contexts[i].Item {
			add(item.Href, "")
		}
	}
	return targets, discovery.JoinProblems(problems)
}

// target returns the service of an API: its URL is the base URL.
func (p *Provider) target(reference, document string) (discovery.Target, error) {
	u, err := p.at.Parse(reference)
	if err == nil && u.User != nil {
		return discovery.Target{}, fmt.Errorf("%s: expected the URL of an API without user and password, got %.100q", p.at, u.Redacted())
	}
	if err != nil || reference == "" || u.Hostname() == "" || u.RawQuery != "" || u.Scheme != "http" && u.Scheme != "https" {
		return discovery.Target{}, fmt.Errorf("%s: expected the http or https URL of an API, got %.100q", p.at, reference)
	}
	host := strings.ToLower(u.Hostname())
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	t := discovery.Target{
		Service: config.Service{Name: name(host, u.Path), Namespace: host}, Scheme: u.Scheme, BasePath: strings.TrimSuffix(u.EscapedPath(), "/"),
		Instances: []string{net.JoinHostPort(host, port)},
	}
	t.AtRoot = t.BasePath == "" // the catalog has the whole URL
	if document != "" {
		at, err := p.at.Parse(document)
		if err != nil {
			return discovery.Target{}, fmt.Errorf("%s: expected the URL of a document of %.100q, got %.100q", p.at, reference, document)
		}
		t.Document = at.String()
	}
	return t, nil
}

// name returns the name of an API: its path, or the first label of its host if it has none.
func name(host, path string) string {
	if segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' }); len(segments) > 0 {
		return strings.Join(segments, "-")
	}
	label, _, _ := strings.Cut(host, ".")
	return label
}

// document returns the link that most likely leads to an OpenAPI document; "" if all are of other types.
func document(links []discovery.Link) string {
	best, found := 0, ""
	for _, link := range links {
		if n := likely(link.Type); n > best {
			best, found = n, link.Href
		}
	}
	return found
}

// likely ranks the types of documents.
func likely(media string) int {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	switch media = strings.TrimSpace(media); {
	case strings.Contains(media, "openapi"):
		return 3
	case strings.HasSuffix(media, "json") || strings.HasSuffix(media, "yaml"):
		return 2
	case media == "":
		return 1
	}
	return 0
}
