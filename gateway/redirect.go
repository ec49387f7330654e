package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/mcp"
)

// isRedirect tells whether a status sends a client elsewhere (RFC 9110 section 15.4).
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirected passes on a redirect that is all that the document promises: the call did what it is for. Where it leads is told by its
// path alone, as everywhere (E9), and nobody goes there (E3).
func (c *call) redirected(resp *http.Response) error {
	defer resp.Body.Close()
	c.answered = true
	c.done(outcomeOK, nil)
	text := "The service answered " + statusText(resp.StatusCode) + redirectPath(resp) + "."
	if said := c.plan.Operation.Meaning(resp.StatusCode); said != "" {
		text += fmt.Sprintf(" The API's document says of %d: %s", resp.StatusCode, said)
	}
	text += "\nThe gateway does not follow redirects."
	return c.give(nil, mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: []byte(text), Escape: true}, mcp.Chunk{Bytes: textClose})
}

// hideLocation takes what the gateway attached to the request out of the path that an answer leads to, before any part of it
// is shown. A path has more than one spelling, so it is looked at as it is meant.
func (c *call) hideLocation(resp *http.Response) {
	location := resp.Header.Get("Location")
	if location == "" {
		return
	}
	u, err := url.Parse(location)
	if err != nil || u.Path == "" {
		return // it is not shown
	}
	path := c.hidden(u.EscapedPath())
	if plain := c.hidden(u.Path); plain != u.Path {
		path = strings.ReplaceAll((&url.URL{Path: plain}).EscapedPath(), url.PathEscape(redacted), redacted)
	}
	resp.Header.Set("Location", path)
}

// redirectPath names where a redirect points by its path alone (E9).
func redirectPath(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return ""
	}
	return " (this one points to " + cut(u.EscapedPath(), 200) + ")"
}
