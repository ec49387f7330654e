package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// maxRedirectLink is the maximum length in bytes of a redirect's URL that is given as a link. Signed download URLs have
// about 2,000.
const maxRedirectLink = 8 << 10

// isRedirect reports whether a status is a redirect (RFC 9110 section 15.4).
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirected passes on a redirect that the document declares, which means that the call succeeded. Its target is given
// whole, since the query is what makes a download or login link valid; of an undeclared redirect only the path is shown
// (E9). The gateway does not follow it (E3).
func (c *call) redirected(resp *http.Response) error {
	defer resp.Body.Close()
	link, why := c.redirectLink()
	c.answered = true
	c.done(telemetry.OutcomeOK, nil)
	text := "The service answered " + statusText(resp.StatusCode)
	if link != "" {
		text += ", which leads to " + link
	} else {
		text += redirectPath(resp) + "." + why
	}
	if said := c.plan.Operation.Answers.Meaning(resp.StatusCode); said != "" {
		text += fmt.Sprintf("\nThe API's document says of %d: %s", resp.StatusCode, said)
	}
	text += "\nThe gateway has not followed this redirect."
	chunks := []mcp.Chunk{{Bytes: textOpen}, {Bytes: []byte(text), Escape: true}, {Bytes: blockClose}}
	if link != "" && c.req.Revision >= "2025-06-18" { // the first revision with resource links
		block := jsonscan.AppendString([]byte(`,{"type":"resource_link","uri":`), link)
		block = jsonscan.AppendString(append(block, `,"name":`...), c.plan.Tool.Name)
		chunks = append(chunks, mcp.Chunk{Bytes: append(block, '}')})
	}
	chunks = append(chunks, mcp.Chunk{Bytes: listClose})
	if c.structured() {
		chunks = append(chunks, mcp.Chunk{Bytes: structuredEmpty}) // fits every output schema
	}
	return c.give(nil, chunks...)
}

// redirectLink returns the redirect's target as an absolute URL in visible ASCII, or the reason why it is withheld.
func (c *call) redirectLink() (link, why string) {
	if c.location == "" {
		return "", " It does not say where to."
	}
	u, err := c.target.Parse(c.location) // Parse rejects control characters
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return "", " It leads to a URL that is neither http nor https, which is not given."
	case err != nil, u.Host == "", u.Opaque != "":
		return "", " Its Location is no URL that can be given as a link."
	case u.User != nil:
		return "", " Its Location holds a user name, so it is not given."
	}
	link = visibleURL(u)
	switch {
	case len(link) > maxRedirectLink:
		return "", fmt.Sprintf(" Its Location is longer than %d bytes, so it is not given.", maxRedirectLink)
	case c.withholds(link):
		return "", " Its Location holds what the gateway keeps to itself, such as its credential, so it is not given."
	}
	return link, ""
}

// withholds reports whether the text of a URL contains anything that the gateway attached to the request, or a value
// hidden from answers, however many times it is escaped.
func (c *call) withholds(text string) bool {
	r := c.redactor()
	for range 4 { // a URL may be nested in the query of another
		if r.All(r.Text(text)) != text || c.plan.sensitive.Mentions(text) {
			return true
		}
		plain, err := url.PathUnescape(text)
		spaced := strings.ReplaceAll(plain, "+", " ")
		if err != nil || plain == text && spaced == text {
			return false
		}
		if r.All(r.Text(spaced)) != spaced {
			return true
		}
		text = plain
	}
	return true
}

// visibleURL returns a URL in visible ASCII. [url.URL] leaves the query as received, and services put letters of all
// scripts there.
func visibleURL(u *url.URL) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, octet := range []byte(u.String()) {
		if octet <= ' ' || octet > '~' || strings.IndexByte("\"<>\\^`{|}", octet) >= 0 {
			b.Write([]byte{'%', hex[octet>>4], hex[octet&15]})
		} else {
			b.WriteByte(octet)
		}
	}
	return b.String()
}

// hideLocation redacts the path of the Location header before any part of it is shown. A path has several spellings, so
// the decoded path is checked too.
func (c *call) hideLocation(resp *http.Response) {
	location := resp.Header.Get("Location")
	if location == "" {
		return
	}
	u, err := url.Parse(location)
	if err != nil || u.Path == "" {
		return // a location without a path is not shown
	}
	r := c.redactor()
	path := r.Text(u.EscapedPath())
	if plain := r.Text(u.Path); plain != u.Path {
		path = strings.ReplaceAll((&url.URL{Path: plain}).EscapedPath(), url.PathEscape(redact.Placeholder), redact.Placeholder)
	}
	resp.Header.Set("Location", path)
}

// redirectPath names the target of a redirect by its path alone (E9).
func redirectPath(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return ""
	}
	return " (this one points to " + truncate.Bytes(u.EscapedPath(), 200) + ")"
}

// redirectHint describes a redirect that is not an answer. unfollowed is the reason why it was not followed, or "" if
// redirects are not followed at all.
func redirectHint(resp *http.Response, unfollowed string) string {
	path := redirectPath(resp)
	switch {
	case unfollowed != "":
		return "The gateway did not follow this redirect" + path + ": " + unfollowed + "."
	case keepsMethod(resp.StatusCode):
		return "The gateway does not follow redirects" + path + "; the operator can correct base_url, or set follow_redirects if this one leads to the same origin."
	}
	return "The gateway does not follow redirects" + path + "; the operator can correct base_url."
}
