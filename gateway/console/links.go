package console

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

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

// toolsURL returns the URL of the tools that pass a filter: api, tag, scope or granted.
func toolsURL(filter, value string) string {
	return "/console/tools?" + filter + "=" + url.QueryEscape(value)
}

// callsURL returns the URL of the last calls of an API with an outcome, "" for all.
func callsURL(api, outcome string) string { return liveFilter{API: api, Outcome: outcome}.url() }

// apisURL returns the URL of the APIs in a state.
func apisURL(s admin.State) string { return "/console/apis?state=" + url.QueryEscape(string(s)) }

// appURL returns a URL that opens an editor, and that of a failed check for every other one.
func appURL(u string) templ.SafeURL {
	if strings.HasPrefix(u, "vscode:mcp/install?") || strings.HasPrefix(u, "cursor://anysphere.cursor-deeplink/mcp/install?") {
		return templ.SafeURL(u)
	}
	return templ.FailedSanitizationURL
}

// chartURL returns the URL of the overview with charts of the last minutes.
func chartURL(minutes int) string { return "/console?minutes=" + strconv.Itoa(minutes) + "#calls" }

// fateURL returns the URL of the operations of an API with a fate.
func fateURL(api string, f admin.Fate) string {
	return apiURL(api) + "?fate=" + url.QueryEscape(string(f))
}

// fateURL returns the URL of the operations with a fate, and of the same query.
func (d apiData) fateURL(f admin.Fate) string {
	u := fateURL(d.API.Name, f)
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
