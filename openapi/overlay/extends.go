package overlay

import (
	"net/url"
	"path/filepath"
	"strings"
)

// isSame reports whether the URI reference by which an overlay names the document that it extends resolves to the
// location of the document.
func isSame(overlay, extends, document string) bool {
	if strings.Contains(overlay, "://") || strings.Contains(extends, "://") {
		base, err := url.Parse(overlay)
		if err != nil {
			return false
		}
		u, err := base.Parse(extends)
		if err != nil {
			return false
		}
		d, err := url.Parse(document)
		u.Fragment, u.RawFragment = "", ""
		return err == nil && u.String() == d.String()
	}
	plain, err := url.PathUnescape(strings.SplitN(extends, "#", 2)[0])
	if err != nil {
		return false
	}
	if !filepath.IsAbs(plain) {
		plain = filepath.Join(filepath.Dir(overlay), plain)
	}
	return filepath.Clean(plain) == filepath.Clean(document)
}
