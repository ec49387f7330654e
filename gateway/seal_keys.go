package gateway

import (
	"crypto/rand"
	"log/slog"

	"drawbridge/config"
	"drawbridge/gateway/localfile"
)

// sealKeys finds the keys that seal handles. Only one goroutine at a time uses it.
type sealKeys struct {
	started *config.Config // the configuration that the process has started with
	local   bool           // a key file is ignored
	log     *slog.Logger
	own     []byte      // generated key; nil if the first configuration has keys
	file    []byte      // key that was read from fileAt; nil if there is no key file
	fileAt  config.File // path of the file with the key file
}

// of returns the keys that seal handles: those of the configuration, that of its key file and, if the process started
// without either, one that it generates. The generated key still opens the handles that it has sealed when a later configuration
// brings keys. A key file is read once, because the gateway owns it.
func (k *sealKeys) of(c *config.Config) (keys [][]byte, err error) {
	for _, key := range c.Server.SealKeys {
		keys = append(keys, []byte(key.Reveal()))
	}
	if path := c.Server.SealKeyFile; path != "" && !k.local {
		if k.file == nil || k.fileAt != path {
			key, err := localfile.LoadSealKey(path.String(), k.log)
			if err != nil {
				return nil, c.Wrong("server.seal_key_file", err)
			}
			k.file, k.fileAt = key, path
		}
		keys = append(keys, k.file)
	}
	if first := &k.started.Server; (len(first.SealKeys) > 0 || first.SealKeyFile != "") && len(keys) > 0 {
		return keys, nil
	}
	if k.own == nil {
		k.own = make([]byte, 32)
		rand.Read(k.own) // never fails (crypto/rand)
	}
	return append(keys, k.own), nil
}
