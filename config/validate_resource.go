package config

import "regexp"

var mediaType = regexp.MustCompile(`\A[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}\z`)

// turn makes a resource with all defaults, or none.
func (r *Resource) turn(on bool) { r.off = !on }

// On reports whether there is a resource: one may be nil, or written as false.
func (r *Resource) On() bool { return r != nil && !r.off }

func (l *loader) resource(key string, r *Resource) {
	if r == nil || r.off {
		return
	}
	l.most(key+".name", r.Name, 200)
	l.most(key+".title", r.Title, 200)
	l.most(key+".description", r.Description, 4096)
	if k := key + ".mime_type"; r.MIMEType != "" && l.ok(k) && !mediaType.MatchString(r.MIMEType) {
		l.errorf(k, "%s must be a media type without parameters, such as text/plain", quote(r.MIMEType))
	}
}
