package gatewaytest

import (
	"strings"
)

// OverlayOf returns an overlay of version 1.1 with these actions.
func OverlayOf(actions ...string) string {
	return "overlay: 1.1.0\ninfo: {title: T, version: '1'}\nactions:\n  - " + strings.Join(actions, "\n  - ") + "\n"
}

// These are an overlay action that removes the operations with the tag admin, and two operations.
const (
	RemoveAdmin = "{target: \"$.paths.*[?@.tags[0] == 'admin']\", remove: true}"
	List        = "GET /list list public"
	Purge       = "POST /purge purge admin"
)
