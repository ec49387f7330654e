// Package start hands the guides of this folder to the console, which shows them with the URL of the gateway. It imports nothing, and
// holds no other pages.
package start

import "embed"

// Guides are the pages by the names of their files.
//
//go:embed *.md
var Guides embed.FS
