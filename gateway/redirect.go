package gateway

import (
	"fmt"
	"net/http"
	"net/url"

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
	text := "The service answered " + statusText(resp.StatusCode) + c.hidden(redirectPath(resp)) + "."
	if said := c.plan.Operation.Meaning(resp.StatusCode); said != "" {
		text += fmt.Sprintf(" The API's document says of %d: %s", resp.StatusCode, said)
	}
	text += "\nThe gateway does not follow redirects."
	return c.reply.Result(mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: []byte(text), Escape: true}, mcp.Chunk{Bytes: textClose})
}

// redirectPath names where a redirect points by its path alone (E9).
func redirectPath(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return ""
	}
	return " (this one points to " + cut(u.EscapedPath(), 200) + ")"
}
