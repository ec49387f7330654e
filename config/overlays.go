package config

import (
	"fmt"
	"slices"
)

// maxOverlays is the maximum number of overlays of one API.
const maxOverlays = 32

// overlays checks the overlays of a document.
func (l *loader) overlays(key string, api *API) {
	if l.given(key) && len(api.Overlays) == 0 && l.ok(key) {
		l.errorf(key, "is empty; leave it out, or list an overlay")
	}
	if len(api.Overlays) > maxOverlays {
		l.errorf(key, "has %d entries; at most %d are allowed", len(api.Overlays), maxOverlays)
		return
	}
	for i, overlay := range api.Overlays {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case overlay == "":
		case overlay == api.Spec:
			l.errorf(at, "%q is the document itself; an overlay is a file of its own", overlay)
		case slices.Contains(api.Overlays[:i], overlay):
			l.errorf(at, "%q is listed twice; remove one", overlay)
		case !overlay.IsURL() && isDirectory(overlay.String()):
			l.errorf(at, "%q is a directory; list the overlays in it, in the order in which they are applied", overlay)
		}
	}
}
