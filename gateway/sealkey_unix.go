//go:build unix

package gateway

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// exposedSealKey says why a key is not secret, "" if it is. The group may have it: volumes of Kubernetes with fsGroup give each
// file to it.
func exposedSealKey(info fs.FileInfo) string {
	if info.Mode().Perm()&0o007 != 0 {
		return fmt.Sprintf("can be read or written by every user of the machine (mode %04o)", info.Mode().Perm())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if own := os.Geteuid(); ok && stat.Uid != 0 && int(stat.Uid) != own {
		return fmt.Sprintf("belongs to user %d, and the gateway runs as %d", stat.Uid, own)
	}
	return ""
}

// syncDirectory has the disk keep what was made in a directory.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // nothing was written
	return d.Sync()
}
