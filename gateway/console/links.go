package console

import (
	"net/url"
	"strconv"

	"drawbridge/gateway/admin"
)

// apiURL returns the URL of the page of an API.
func apiURL(name string) string { return "/console/apis/" + url.PathEscape(name) }

// readinessURL returns the URL of the page of an API's score.
func readinessURL(name string) string { return apiURL(name) + "/readiness" }

// toolURL returns the URL of the page of a tool.
func toolURL(name string) string { return "/console/tools/" + url.PathEscape(name) }

// tryURL returns the URL of the page on which a tool is tried.
func tryURL(name string) string { return "/console/try/" + url.PathEscape(name) }

// toolsURL returns the URL of the tools that pass a filter: api, tag or scope.
func toolsURL(filter, value string) string {
	return "/console/tools?" + filter + "=" + url.QueryEscape(value)
}

// fateURL returns the URL of the operations with a fate, and of the same query.
func (d apiData) fateURL(f admin.Fate) string {
	u := apiURL(d.API.Name) + "?fate=" + url.QueryEscape(string(f))
	if d.Query != "" {
		u += "&q=" + url.QueryEscape(d.Query)
	}
	return u
}

// where returns the URL of a position in an API's document, which has a line.
func (d apiData) where(p admin.Place) string {
	return documentURL(d.API.Name, p.File, p.Line, p.Column)
}

// documentURL returns the URL of a position in a file of an API's document.
func documentURL(api, file string, line, column int) string {
	q := url.Values{"file": {file}, "line": {strconv.Itoa(line)}, "column": {strconv.Itoa(column)}}
	return apiURL(api) + "/document?" + q.Encode()
}

// acceptURL returns the URL of the form that accepts what waits.
func (w waiting) acceptURL() string {
	if w.Kind == "loss" {
		return "/console/discovery/" + url.PathEscape(w.Name) + "/accept"
	}
	return apiURL(w.Name) + "/accept"
}
