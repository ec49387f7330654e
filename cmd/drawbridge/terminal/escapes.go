//go:build !windows

package terminal

import "os"

// enableEscapes does nothing: terminals obey control sequences.
func enableEscapes(*os.File) {}
