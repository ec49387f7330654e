package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"drawbridge/gateway/localfile"
)

// documentFiles are the documents that registries keep themselves, as files, so that they are loaded, watched and limited as any
// other document. Each has a directory of its own, beyond which it can't refer to files. It is safe for concurrent use.
type documentFiles struct {
	mu        sync.Mutex
	dir       string // "" until a temporary one is made
	temporary bool
}

// keep writes the document of a service of a provider, and returns where it is. The name of its API is there for people: another
// service may have it, so the directory ends in a digest of the service.
func (f *documentFiles) keep(provider, api string, of key, text []byte) (location string, err error) {
	f.mu.Lock()
	if f.dir == "" {
		f.dir, err = os.MkdirTemp("", "drawbridge-discovery-")
		f.temporary = err == nil
	}
	dir := f.dir
	f.mu.Unlock()
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%q %q", of.namespace, of.name))
	location = filepath.Join(dir, provider, api+"-"+hex.EncodeToString(digest[:16]), "openapi.yaml")
	return location, localfile.Replace(location, ".document-", text)
}

// remove removes the document of a service that is gone.
func (f *documentFiles) remove(location string) {
	f.mu.Lock()
	dir := f.dir
	f.mu.Unlock()
	if dir != "" && strings.HasPrefix(location, dir+string(filepath.Separator)) {
		_ = os.RemoveAll(filepath.Dir(location)) // what stays is overwritten when the service is back
	}
}

// close removes the files, if they are for this run alone.
func (f *documentFiles) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.temporary {
		_ = os.RemoveAll(f.dir) // the system removes temporary files in the end
		f.dir, f.temporary = "", false
	}
}
