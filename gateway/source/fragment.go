package source

import (
	"bytes"
	"io"
	"os"
	"syscall"

	"drawbridge/config"
)

// sniffed is the maximum size in bytes of a file that is checked for being a fragment.
const sniffed = 64 << 20

// isFragment reports whether an API is a file in a configured directory that is not a document, but a part that
// documents refer to. A file that can't be read, or not as text, counts as a document, so that loading it reports the
// error.
func isFragment(api config.API) bool {
	if !api.FromDirectory() {
		return false
	}
	// O_NONBLOCK keeps a pipe from blocking. The checks use the open file, because the name may refer to another file
	// by then.
	f, err := os.OpenFile(api.Spec.String(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > sniffed {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(f, sniffed))
	if err != nil || bytes.IndexByte(data[:min(len(data), 4)], 0) >= 0 {
		return false // a NUL among the first bytes indicates UTF-16
	}
	return !config.IsDocument(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
}
