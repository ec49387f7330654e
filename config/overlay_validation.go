package config

import "slices"

// validateOverlays checks the overlays of a document.
func (a *API) validateOverlays(c cursor) {
	for i, overlay := range a.Overlays {
		at := c.item("overlays", i)
		switch {
		case overlay == "":
		case overlay == a.Spec:
			c.errorf(at, "%q is the document itself; an overlay is a file of its own", overlay)
		case slices.Contains(a.Overlays[:i], overlay):
			c.errorf(at, "%q is listed twice; remove one", overlay)
		case !overlay.IsURL() && isDirectory(overlay.String()):
			c.errorf(at, "%q is a directory; list the overlays in it, in the order in which they are applied", overlay)
		}
	}
}
