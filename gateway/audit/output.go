package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// statInterval is the interval at which the file name is checked, because log rotation may have
// moved the file without a signal.
const statInterval = time.Second

// output is the destination of lines. Only the writing goroutine uses it.
type output struct {
	path   string
	stream io.Writer // without a path

	file   *os.File
	looked time.Time
	torn   int  // bytes of the first line that are at the end of the file already
	broken bool // the file ends with part of a line that will not be completed
}

// open opens the file for appending.
func (o *output) open() error {
	if o.path == "" {
		return nil
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	o.file, o.looked, o.torn, o.broken = f, time.Now(), 0, endsWithin(f)
	return nil
}

// endsWithin reports whether a file ends within a line, as after a full disk. It returns false if
// that is unknown.
func endsWithin(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	r, err := os.Open(f.Name())
	if err != nil {
		return false
	}
	defer r.Close()
	var last [1]byte
	_, err = r.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

func (o *output) close() {
	if o.file != nil {
		_ = o.file.Close() // written data is with the system already
		o.file = nil
	}
}

// write writes lines and returns the number of bytes of whole lines written: n is 0 or the end of a
// line. The part of the next line that a full disk has taken is not written again, unless the file
// was reopened meanwhile: then the partial line is ended, and the line is written in full after it.
func (o *output) write(lines []byte) (n int, err error) {
	to := o.stream
	if o.path != "" {
		if time.Since(o.looked) > statInterval && o.moved() {
			o.close()
		}
		if o.file == nil {
			if err := o.open(); err != nil {
				return 0, err
			}
		}
		to = o.file
		if o.broken {
			if _, err := to.Write([]byte{'\n'}); err != nil {
				return 0, fmt.Errorf("write the audit log: %w", err)
			}
			o.broken = false
		}
	}
	if o.torn == len(lines) {
		return 0, nil
	}
	written, err := to.Write(lines[o.torn:])
	if err == nil && written < len(lines)-o.torn { // which an io.Writer must not do
		err = io.ErrShortWrite
	}
	written += o.torn
	n = bytes.LastIndexByte(lines[:written], '\n') + 1
	o.torn = written - n
	if err != nil {
		if !noSpace(err) {
			o.close() // a file that is opened again may work, as after an error of its device
		}
		return n, fmt.Errorf("write the audit log: %w", err)
	}
	return n, nil
}

// noSpace reports whether a write failed for lack of space, after which the same file takes the rest of a line.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// moved reports whether the file is no longer the one with its name.
func (o *output) moved() bool {
	o.looked = time.Now()
	if o.file == nil {
		return true
	}
	now, err := os.Stat(o.path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	then, err := o.file.Stat()
	return err != nil || !os.SameFile(now, then)
}
