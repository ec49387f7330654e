package config

import (
	"regexp"
	"strings"
)

var mediaType = regexp.MustCompile(`\A[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}\z`)

func (l *loader) links(key string, links *Links) {
	if links != nil && links.Over == 0 && !links.Binary && l.ok(key) && !l.faulty(key) {
		l.errorf(key, "gives nothing as a link; say over, or binary: true")
	}
}

func (l *loader) resource(key string, r *Resource) {
	if r == nil || r.off {
		return
	}
	if k := key + ".uri"; strings.HasPrefix(r.URI.String(), "drawbridge-link:") && l.ok(k) {
		l.errorf(k, "can't begin with drawbridge-link:, by which links to answers are known")
	}
	if k, uri := key+".uri", strings.ToLower(r.URI.String()); (strings.HasPrefix(uri, "https:") || strings.HasPrefix(uri, "http:")) && l.ok(k) {
		l.warnf(k, "tells clients that they can fetch it from the web themselves, past the gateway; take a scheme of your own, such as shop:")
	}
	l.most(key+".name", r.Name, 200)
	l.most(key+".title", r.Title, 200)
	l.most(key+".description", r.Description, 4096)
	if k := key + ".mime_type"; r.MIMEType != "" && l.ok(k) && !mediaType.MatchString(r.MIMEType) {
		l.errorf(k, "%s must be a media type without parameters, such as text/plain", quote(r.MIMEType))
	}
}
