package oauthserver

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"drawbridge/openapi/origin"
)

// MaxRedirectURI is the maximum length in bytes of a redirect URI, and of the URL of a metadata document.
const MaxRedirectURI = 2 << 10

var hostPattern = regexp.MustCompile(`^([A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?$`)

// commonSchemes are schemes of scripts and protocols, and those by which browsers are told to open a page of any host: they lead a
// response away from the user's machine. So do those of browsers that end with -http and -https.
var commonSchemes = strings.Fields("javascript data vbscript blob about file filesystem ftp sftp ws wss mailto view-source smb cifs nfs afp dav davs ssh telnet " +
	"ldap ldaps gopher tel sms intent android-app search-ms googlechrome googlechromes googlechrome-x-callback microsoft-edge firefox firefox-focus brave opera")

// hasOtherCharacters reports whether a text has a fragment or a character that URIs do not have.
func hasOtherCharacters(text string) bool {
	return strings.ContainsAny(text, "# \"<>\\^`{|}") || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// CheckRedirectURI returns the defect of a redirect URI, or "" if it is valid: https, http on loopback
// (RFC 8252 section 7.3), or a private-use scheme (section 7.1).
func CheckRedirectURI(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || !u.IsAbs() || len(text) > MaxRedirectURI:
		return "is not an absolute URI"
	case hasOtherCharacters(text):
		return "has a fragment or a character that URIs do not have" // RFC 6749 section 3.1.2
	case u.User != nil:
		return "has a user"
	case !hostPattern.MatchString(u.Host):
		return "has a host with other characters than those of names and addresses" // it is used in content security policies
	}
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme == "https":
		if u.Hostname() == "" {
			return "has no host"
		}
	case scheme == "http":
		if !origin.Loopback(u.Hostname()) {
			return "is http, but not on loopback"
		}
	case slices.Contains(commonSchemes, scheme), strings.HasSuffix(scheme, "-http"), strings.HasSuffix(scheme, "-https"):
		return "has a scheme that no application can have for itself"
	default:
		if !strings.HasPrefix(u.Path, "/") && u.Host == "" {
			return "has no path"
		}
	}
	return ""
}

// AllowsRedirectURI reports whether a redirect URI is one of those registered: equal as a whole, or an http URI of the same loopback
// host that differs in its port only, since a native application listens on any free port (RFC 8252 section 7.3).
func AllowsRedirectURI(registered []string, redirect string) bool {
	without := withoutPort(redirect)
	for _, uri := range registered {
		if uri == redirect || without != "" && without == withoutPort(uri) {
			return true
		}
	}
	return false
}

// withoutPort returns an http URI of a loopback host without its port, or "" for other URIs.
func withoutPort(text string) string {
	rest, ok := strings.CutPrefix(text, "http://")
	u, err := url.Parse(text)
	if !ok || err != nil || CheckRedirectURI(text) != "" {
		return ""
	}
	return "http://" + strings.TrimSuffix(u.Host, ":"+u.Port()) + strings.TrimPrefix(rest, u.Host)
}

// AddToRedirectURI returns a redirect URI with the parameters of a response, besides its own query (RFC 6749 section 3.1.2).
func AddToRedirectURI(redirect string, response url.Values) string {
	separator := "?"
	if strings.Contains(redirect, "?") {
		separator = "&"
	}
	return redirect + separator + response.Encode()
}

// RedirectTarget describes the destination of a redirect to the user.
func RedirectTarget(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return redirect
	case u.Scheme != "http" && u.Scheme != "https":
		if u.Host != "" {
			return "the application that opens " + u.Scheme + "://" + u.Host + " links"
		}
		return "the application that opens " + u.Scheme + ": links"
	case origin.Loopback(u.Hostname()):
		return "an application on this machine (" + u.Host + ")"
	}
	return u.Host
}

// Printable removes control and format characters from an untrusted text, with which a name could
// imitate another.
func Printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r)) {
			return -1
		}
		return r
	}, text))
}
