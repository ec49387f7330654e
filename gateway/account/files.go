package account

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/gateway/localfile"
)

const (
	// fileSuffix ends the name of a file with an account, and tempPrefix begins that of one that is being written.
	fileSuffix = ".account"
	tempPrefix = ".account-"
	// maxFile is the most bytes of a file with an account.
	maxFile = 128 << 10
)

// Files implements [Records] in a folder, with a file for each account. Processes on one machine may share it.
type Files struct{ Dir string }

func (f Files) path(name string) string { return filepath.Join(f.Dir, name+fileSuffix) }

// Put implements [Records]. The account itself says until when it counts.
func (f Files) Put(_ context.Context, name, _ string, value []byte, _ time.Time) error {
	if f.Dir == "" {
		return errors.New("server.state_dir is not set")
	}
	return localfile.Replace(f.path(name), tempPrefix, value)
}

// Get implements [Records].
func (f Files) Get(_ context.Context, name string) ([]byte, bool, error) {
	if f.Dir == "" {
		return nil, false, nil
	}
	file, err := localfile.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	value, err := io.ReadAll(io.LimitReader(file, maxFile))
	return value, err == nil, err
}

// Latest implements [Records].
func (f Files) Latest(ctx context.Context, name string) ([]byte, bool, error) {
	return f.Get(ctx, name)
}

// Each implements [Records]. It removes files that can't have an account any more.
func (f Files) Each(ctx context.Context, visit func(value []byte)) error {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) || f.Dir == "" {
		return nil
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), fileSuffix)
		if !ok {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > lifetime {
			_ = os.Remove(f.path(name)) // tried again with the next list
			continue
		}
		if value, ok, err := f.Get(ctx, name); err == nil && ok {
			visit(value)
		}
	}
	return err
}
