package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strings"
)

// nameFromLocation names an API until its document is known.
func nameFromLocation(location string) string {
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		return apiName(u.Hostname())
	}
	base := filepath.Base(location)
	return apiName(strings.TrimSuffix(base, filepath.Ext(base)))
}

// maxAPIName is the most characters of an API's name, so that tool names have room for the operation.
const maxAPIName = 24

// apiName makes a name of a title: lower case letters and digits, words joined by "-".
func apiName(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(title) {
		if ('a' > r || r > 'z') && ('0' > r || r > '9') {
			gap = b.Len() > 0
			continue
		}
		if gap && b.Len() < maxAPIName-1 {
			b.WriteByte('-')
		}
		gap = false
		if b.Len() >= maxAPIName {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "api"
	}
	return strings.TrimRight(b.String(), "-")
}

// nameFor names the API when its document's title is known.
func (s *source) nameFor(title string) string {
	if s.config.Name != "" || title == "" {
		return s.label
	}
	return apiName(title)
}

// nameSources names the sources that the configuration leaves unnamed, after their documents' titles. Sources of
// the same title all get a suffix that depends on where their documents come from, so that names do not depend on
// the order of the configuration or of arrival.
func (d *deployment) nameSources() {
	members := map[string][]*source{}
	for _, s := range d.sources {
		name := s.label
		if s.loaded != nil {
			name = s.nameFor(s.loaded.title)
		}
		s.name = name
		members[name] = append(members[name], s)
	}
	for name, sources := range members {
		if len(sources) == 1 {
			continue
		}
		for _, s := range sources {
			if s.config.Name == "" {
				sum := sha256.Sum256([]byte(s.config.Spec.String()))
				s.name = name + "-" + hex.EncodeToString(sum[:4])
			}
		}
	}
}
