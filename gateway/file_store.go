package gateway

import (
	"path/filepath"
	"time"

	"drawbridge/gateway/filestore"
)

// filesFolder is the folder of files in server.state_dir.
const filesFolder = "files"

// newFileStore returns the store of callers' files; nil unless the configuration has files, and in commands. The error is that of keys that
// cannot seal.
func newFileStore(o *Options, keys [][]byte) (*filestore.Store, error) {
	c := o.Config.FileStore
	if c == nil || o.Local {
		return nil, nil //nolint:nilnil // no files are kept
	}
	return filestore.New(filestore.Options{
		Dir: filepath.Join(o.Config.Server.StateDir.String(), filesFolder), Secrets: keys, Logger: o.Logger, Metrics: o.Metrics,
		Limits: filestore.Limits{TTL: time.Duration(c.TTL), MaxSize: int64(c.MaxSize), Quota: int64(c.Quota), Total: int64(c.MaxTotal)},
	})
}
