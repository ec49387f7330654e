//go:build unix

package localfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// exposed returns the reason why a key is not secret, or "". The group may read it, since Kubernetes volumes with fsGroup give each file
// to a group.
func exposed(info fs.FileInfo) string {
	if info.Mode().Perm()&0o007 != 0 {
		return fmt.Sprintf("can be read or written by every user of the machine (mode %04o)", info.Mode().Perm())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if own := os.Geteuid(); ok && stat.Uid != 0 && int(stat.Uid) != own {
		return fmt.Sprintf("belongs to user %d, and the gateway runs as %d", stat.Uid, own)
	}
	return ""
}

// syncDirectory makes the entries of a directory durable.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // nothing was written
	return d.Sync()
}
