package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// lookEvery is how often a file is looked for under its name: a tool may have moved it away without a word.
const lookEvery = time.Second

// output is where lines go. It is of the goroutine that writes.
type output struct {
	path   string
	stream io.Writer // without a path

	file   *os.File
	looked time.Time
	torn   int  // bytes of the first line that stand at the end of the file already
	broken bool // the file ends with part of a line that nobody will go on with
}

// open opens the file for lines at its end.
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

// endsWithin tells whether a file ends within a line, as after a full disk. It is false where that can't be told.
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
		_ = o.file.Close() // what was written is in the hands of the system
		o.file = nil
	}
}

// write writes lines and returns how many bytes of whole lines are written: n is 0 or the end of a line. What a full disk has taken
// of the line behind them is not written again, unless the file was opened anew by then: what stands there then ends as a line of
// its own, and the line is written whole behind it.
func (o *output) write(lines []byte) (n int, err error) {
	to := o.stream
	if o.path != "" {
		if time.Since(o.looked) > lookEvery && o.moved() {
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
	written, err := to.Write(lines[o.torn:])
	written += o.torn
	n = bytes.LastIndexByte(lines[:written], '\n') + 1
	o.torn = written - n
	if err != nil {
		return n, fmt.Errorf("write the audit log: %w", err)
	}
	return n, nil
}

// moved tells whether the file is no longer the one of its name.
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
