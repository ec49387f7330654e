package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// line is one message as it was written.
type stdioMessage struct {
	text []byte // nil if it was too long
	size int64  // how long it was
	id   []byte // of one that was too long, nil if it can't be told
}

// lineReader reads messages that are divided by line feeds. It holds no more than one message of at most max bytes; of a
// longer one it remembers the id alone.
type stdioReader struct {
	r   *bufio.Reader
	max int64
}

func newStdioReader(r io.Reader, limit int64) *stdioReader {
	return &stdioReader{bufio.NewReaderSize(r, 64<<10), limit}
}

// next returns the next line that is not empty, without its line feed. The last one needs none. The text is the
// caller's. The error is io.EOF when there are no more lines.
func (l *stdioReader) next() (stdioMessage, error) {
	for {
		n, err := l.readLine()
		if n.size > int64(len(n.text)) || len(bytes.Trim(n.text, " \t\r")) > 0 {
			return n, nil // an error that came with it comes again
		}
		if err != nil {
			return stdioMessage{}, err
		}
	}
}

func (l *stdioReader) readLine() (n stdioMessage, err error) {
	var finder *idFinder
	for {
		var piece []byte
		piece, err = l.r.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if err == nil {
			piece = piece[:len(piece)-1]
		}
		n.size += int64(len(piece))
		switch {
		case n.size <= l.max:
			n.text = append(n.text, piece...)
		case finder == nil:
			finder = &idFinder{}
			finder.feed(n.text)
			n.text = nil
			fallthrough
		default:
			finder.feed(piece)
		}
		if !more {
			break
		}
	}
	if finder != nil {
		n.id = finder.id()
	}
	return n, err
}
