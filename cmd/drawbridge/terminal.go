package main

import (
	"io"
	"os"
)

// terminalOf returns the terminal that w is, or nil for a file, a pipe, or the null device, which
// is a character device as well.
func terminalOf(w io.Writer) *os.File {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return nil
	}
	return f
}
