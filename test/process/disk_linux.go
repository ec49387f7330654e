package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Disk is where a gateway writes its audit log, and can be filled.
type Disk struct {
	dir string
	// Kind says how it is filled.
	Kind string
}

const (
	ofMemory = "a small tmpfs"
	ofDevice = "/dev/full" // where nothing can be mounted
)

// diskSize is the size of the disk: room for the records of the program's calls.
const diskSize = "64m"

// NewDisk makes a disk of its own at a path, if this process may mount one.
func NewDisk(dir string) (*Disk, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	d := &Disk{dir: dir, Kind: ofMemory}
	switch err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+diskSize); {
	case errors.Is(err, syscall.EPERM):
		d.Kind = ofDevice
	case err != nil:
		return nil, &os.PathError{Op: "mount", Path: dir, Err: err}
	}
	return d, nil
}

// Mounted reports whether the disk is one of its own, which Fill leaves without room. Without the right to mount, Fill lets writes fail.
func (d *Disk) Mounted() bool { return d.Kind == ofMemory }

// File is the path of the audit log.
func (d *Disk) File() string { return filepath.Join(d.dir, "audit.jsonl") }

// filler is the path of what fills the disk: an audit log that was rotated and left there.
func (d *Disk) filler() string { return filepath.Join(d.dir, "audit.jsonl.1") }

// Fill leaves no room for another byte.
func (d *Disk) Fill() error {
	if d.Kind == ofDevice {
		if err := os.Rename(d.File(), d.File()+".1"); err != nil {
			return err
		}
		return os.Symlink("/dev/full", d.File())
	}
	f, err := os.Create(d.filler())
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				if !errors.Is(err, syscall.ENOSPC) {
					return err
				}
				break
			}
		}
	}
	return nil
}

// Free makes room again.
func (d *Disk) Free() error {
	if d.Kind == ofDevice {
		return os.Remove(d.File())
	}
	return os.Remove(d.filler())
}

// Lines counts the records of calls.
func (d *Disk) Lines() (n int, err error) {
	for _, name := range []string{d.File(), d.File() + ".1"} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(`"rpc":"tools/call"`)) && bytes.Contains(line, []byte(`"outcome":"ok"`)) && bytes.HasSuffix(line, []byte("}\n")) {
				n++
			}
		}
	}
	return n, nil
}

// Close unmounts it.
func (d *Disk) Close() error {
	if d.Kind == ofDevice {
		return nil
	}
	return syscall.Unmount(d.dir, syscall.MNT_DETACH)
}
