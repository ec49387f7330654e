package render

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// maxRedirectLink is the maximum length in bytes of a redirect's URL that is given as a link. Signed download URLs have
// about 2,000.
const maxRedirectLink = 8 << 10

// IsRedirect reports whether a status is a redirect (RFC 9110 section 15.4).
func IsRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Redirect renders a redirect that the document declares. Its target is given in full, since the query makes a download
// or login link valid; of an undeclared redirect only the path is shown (E9). link and why are the results of
// [RedirectLink], and meaning is the document's description of the status, which may be empty.
func (r *Renderer) Redirect(resp *http.Response, link, why, meaning string) Result {
	text := "The service answered " + StatusText(resp.StatusCode)
	if link != "" {
		text += ", which leads to " + link
	} else {
		text += RedirectPath(resp) + "." + why
	}
	if meaning != "" {
		text += fmt.Sprintf("\nThe API's document says of %d: %s", resp.StatusCode, meaning)
	}
	text += "\nThe gateway has not followed this redirect."
	chunks := append(r.buffer[:0], mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: []byte(text), Escape: true}, mcp.Chunk{Bytes: blockClose})
	if link != "" && r.Revision >= "2025-06-18" { // the first revision with resource links
		block := jsonscan.AppendString([]byte(`,{"type":"resource_link","uri":`), link)
		block = jsonscan.AppendString(append(block, `,"name":`...), r.Tool)
		chunks = append(chunks, mcp.Chunk{Bytes: append(block, '}')})
	}
	return Result{Chunks: r.withoutValue(append(chunks, mcp.Chunk{Bytes: listClose}))}
}

// MayFollow reports whether a redirect leads to the same request at another URL. 307 and 308 keep the method and the body (RFC 9110
// sections 15.4.8, 15.4.9); 301, 302 and 303 may change the method to GET (sections 15.4.2 to 15.4.4), so they do so only for GET
// and HEAD.
func MayFollow(code int, method string) bool {
	switch code {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return IsRedirect(code) && (method == http.MethodGet || method == http.MethodHead)
}

// RedirectLink returns the target of a redirect as an absolute URL in visible ASCII, or the reason why it is withheld.
// location is the Location header as the service sent it, and target the URL of the request.
func RedirectLink(target *url.URL, location string, r redact.Redactor, s *redact.Sensitive) (link, why string) {
	if location == "" {
		return "", " It does not say where to."
	}
	u, err := target.Parse(location) // Parse rejects control characters
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return "", " It leads to a URL that is neither http nor https, which is not given."
	case err != nil, u.Host == "", u.Opaque != "":
		return "", " Its Location is no URL that can be given as a link."
	case u.User != nil:
		return "", " Its Location holds a user name, so it is not given."
	}
	link = visibleURL(u)
	switch _, err := url.Parse(link); {
	case err != nil: // a host with characters that must be escaped
		return "", " Its Location is no URL that can be given as a link."
	case len(link) > maxRedirectLink:
		return "", fmt.Sprintf(" Its Location is longer than %d bytes, so it is not given.", maxRedirectLink)
	case withholds(link, r, s):
		return "", " Its Location holds what the gateway keeps to itself, such as its credential, so it is not given."
	}
	return link, ""
}

// withholds reports whether the text of a URL contains anything that the gateway attached to the request, or a value
// hidden from responses, at any level of escaping.
func withholds(text string, r redact.Redactor, s *redact.Sensitive) bool {
	for range 4 { // a URL may be nested in the query of another
		if r.All(r.Text(text)) != text || s.Mentions(text) {
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

// visibleURL returns a URL in visible ASCII. [url.URL] leaves the query as received, and services put characters of any
// script there.
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

// HideLocation redacts the path of the Location header before any part of it is shown. A path has several spellings, so
// the decoded path is checked too.
func HideLocation(resp *http.Response, r redact.Redactor) {
	location := resp.Header.Get("Location")
	if location == "" {
		return
	}
	u, err := url.Parse(location)
	if err != nil || u.Path == "" {
		return // a location without a path is not shown
	}
	path := r.Text(u.EscapedPath())
	if plain := r.Text(u.Path); plain != u.Path {
		path = strings.ReplaceAll((&url.URL{Path: plain}).EscapedPath(), url.PathEscape(redact.Placeholder), redact.Placeholder)
	}
	resp.Header.Set("Location", path)
}

// RedirectPath names the target of a redirect by its path alone (E9).
func RedirectPath(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return ""
	}
	return " (this one points to " + text.Truncate(u.EscapedPath(), 200) + ")"
}

// redirectHint describes a redirect that is not an answer. unfollowed is the reason why it was not followed, or "" if
// redirects are not followed at all.
func redirectHint(resp *http.Response, unfollowed string) string {
	path := RedirectPath(resp)
	switch {
	case unfollowed != "":
		return "The gateway did not follow this redirect" + path + ": " + unfollowed + "."
	case MayFollow(resp.StatusCode, methodOf(resp)):
		return "The gateway does not follow redirects" + path + "; the operator can correct base_url, or set follow_redirects if this one leads to the same origin."
	}
	return "The gateway does not follow redirects" + path + "; the operator can correct base_url."
}

// methodOf returns the method of the request that a response answers, or "" if the response has no request.
func methodOf(resp *http.Response) string {
	if resp.Request == nil {
		return ""
	}
	return resp.Request.Method
}
