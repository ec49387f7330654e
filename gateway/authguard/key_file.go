package authguard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/localfile"
)

// keyFile keeps what was fetched from an issuer in a file of server.state_dir. It implements [auth.KeyStore].
type keyFile struct {
	path    string
	recover func(what string, step func()) (panicked bool)
}

const (
	// keyFolder is the folder of the files in server.state_dir.
	keyFolder = "issuers"
	// maxKeyFile is the most bytes that are read of a file.
	maxKeyFile = 1 << 20
	// keyFileTimeout is the time limit of each access: network file systems hang.
	keyFileTimeout = 2 * time.Second
)

// keyFileOf returns the file of an issuer. Its name depends on the certificate authorities of the issuer, too: keys that came
// through others are not used.
func (b *Builder) keyFileOf(issuer string, authority []byte) *keyFile {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s\n%s", len(issuer), issuer, authority)
	return &keyFile{path: filepath.Join(b.StateDir, keyFolder, hex.EncodeToString(h.Sum(nil)[:16])+".keys"), recover: b.Recover}
}

// Errors of a file that everybody can write to, or replace.
var (
	errWritable       = errors.New("every user of the machine can write to the file, so its keys are not trusted; it needs mode 0600")
	errWritableFolder = errors.New("every user of the machine can replace the file, so its keys are not trusted; its folder needs mode 0700")
)

// Load returns the text of the file.
func (f *keyFile) Load(ctx context.Context) ([]byte, error) {
	text, err := diskcache.Within(ctx, f.recover, keyFileTimeout, func() ([]byte, error) {
		file, err := localfile.Open(f.path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err == nil && info.Mode().Perm()&0o002 != 0 {
			err = errWritable
		}
		if err == nil {
			info, err = os.Stat(filepath.Dir(f.path))
		}
		if err == nil && info.Mode().Perm()&0o002 != 0 {
			err = errWritableFolder
		}
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(file, maxKeyFile))
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return text, nil
}

// Store replaces the file.
func (f *keyFile) Store(ctx context.Context, text []byte) error {
	_, err := diskcache.Within(ctx, f.recover, keyFileTimeout, func() (struct{}, error) {
		return struct{}{}, localfile.Replace(f.path, ".writing-", text)
	})
	return err
}
