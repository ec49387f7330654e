//go:build !unix

package gateway

import (
	"io/fs"
	"os"
)

// openSealKey opens a file with a key.
func openSealKey(path string) (*os.File, error) { return os.Open(path) }

// exposedSealKey knows nothing of who may read a file: its directory has to keep others out.
func exposedSealKey(fs.FileInfo) string { return "" }

// syncDirectory has nothing to do.
func syncDirectory(string) error { return nil }
