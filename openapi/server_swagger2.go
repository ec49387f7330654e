package openapi

import (
	"strings"

	"drawbridge/openapi/tree"
)

// ofSwagger2 returns the target of an operation of 2.0. Its schemes replace those of the document (OAS 2.0 operation
// object, schemes); host and path are always those of the document, so that a base URL replaces them all.
func (s *servers) ofSwagger2(f found) target {
	schemes := f.node.Get("schemes")
	if s.base != nil || schemes.Len() == 0 {
		return s.root
	}
	return s.first(schemes, s.swagger2(s.swagger, schemes), s.resolve)
}

// swagger2 makes servers from schemes, host and basePath; https comes first, for any order of schemes.
func (s *servers) swagger2(root, schemeList *tree.Node) []server {
	host, path := root.Get("host").Text(), root.Get("basePath").Text()
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if host == "" {
		return []server{{at: root, url: path + "/", missing: true}}
	}
	host = strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "http://") // occurs in published documents
	at := root.Get("host")
	var http, https bool // there may be many thousands
	for _, n := range schemeList.Items() {
		http, https = http || strings.EqualFold(n.Text(), "http"), https || strings.EqualFold(n.Text(), "https")
	}
	var schemes []string
	if https {
		schemes = append(schemes, "https")
	}
	if http {
		schemes = append(schemes, "http")
	}
	switch {
	case len(schemes) > 0:
	case s.document != nil:
		schemes = []string{s.document.Scheme} // OAS 2.0: the default is the scheme of the document's URL
	default:
		schemes = []string{"https"}
	}
	var all []server
	for _, scheme := range schemes {
		all = append(all, server{at: at, url: scheme + "://" + host + path})
	}
	return all
}
