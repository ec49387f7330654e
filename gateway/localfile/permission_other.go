//go:build !unix

package localfile

import "io/fs"

// exposed returns "": the permissions of the file are unknown, so its directory must protect it.
func exposed(fs.FileInfo) string { return "" }

// syncDirectory does nothing.
func syncDirectory(string) error { return nil }
