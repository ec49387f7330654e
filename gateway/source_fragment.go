package gateway

import (
	"bytes"
	"io"
	"os"
	"syscall"

	"drawbridge/config"
)

// sniffed is the most of a file that is looked at to tell a document from a part of one.
const sniffed = 64 << 20

// isFragment tells whether an entry stands for a file of a directory that is no document: a part that documents refer to.
// What can't be read, or not as text, is taken for a document, so that its load tells what is wrong.
func isFragment(api config.API) bool {
	if !api.FromDirectory() {
		return false
	}
	// Opening a pipe must not block, and what was opened counts: the name may lead elsewhere by then.
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
		return false // the NUL is UTF-16's
	}
	return !config.IsDocument(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
}

// PassedOver returns the files of the configured directories that are no documents, and so no APIs.
func (g *Gateway) PassedOver() []string { return g.Status().Config.PassedOver }
