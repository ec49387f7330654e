package filestore

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ErrNotFound means that the principal has no such file: it does not exist, has expired, was altered, or belongs to another principal.
var ErrNotFound = errors.New("no such file")

// Kind is the reason why a file can't be stored. The set is closed, since it labels a metric.
type Kind string

// The kinds of errors.
const (
	TooLarge Kind = "too_large" // the file is larger than files.max_size
	Quota    Kind = "quota"     // the files of the principal are larger than files.quota
	Full     Kind = "full"      // all files are larger than files.max_total
	Disk     Kind = "disk"      // the disk has no space or can't be written
)

// Error means that a file can't be stored. What was written of it is gone.
type Error struct {
	Kind  Kind
	Limit int64         // bytes; 0 for Disk
	TTL   time.Duration // after which files are removed
	Err   error         // of the disk; nil for the other kinds
}

// Error implements error.
func (e *Error) Error() string {
	switch e.Kind {
	case TooLarge:
		return fmt.Sprintf("the file is larger than %d bytes (files.max_size)", e.Limit)
	case Quota:
		return fmt.Sprintf("the files of the caller would be larger than %d bytes (files.quota)", e.Limit)
	case Full:
		return fmt.Sprintf("all files would be larger than %d bytes (files.max_total)", e.Limit)
	case Disk:
	}
	if errors.Is(e.Err, syscall.ENOSPC) {
		return "the disk of server.state_dir is full"
	}
	return fmt.Sprintf("server.state_dir can't be written: %v", e.Err)
}

// Unwrap returns the error of the disk.
func (e *Error) Unwrap() error { return e.Err }

// ToolMessage returns a sentence for the model, and what to do.
func (e *Error) ToolMessage() string {
	switch e.Kind {
	case TooLarge:
		return fmt.Sprintf("The file is larger than %d bytes, which is as much as this gateway keeps. Ask for a smaller one.", e.Limit)
	case Quota:
		return fmt.Sprintf("Your files would be larger than %d bytes together. The oldest are removed %s after they came: try again later, or ask for a smaller file.", e.Limit, e.TTL)
	case Full:
		return "The gateway has no space for another file now. Try again later, or ask for a smaller one."
	case Disk:
	}
	return "The gateway can't store files now. Tell the user that its operator must look at its disk."
}
