package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// stdioMessage is one line of input.
type stdioMessage struct {
	text []byte // nil if the line is too long
	size int64  // length of the line
	id   []byte // of a line that is too long; nil if it can't be found
}

// stdioReader reads messages that are separated by line feeds. It holds at most one message of max bytes; of a longer
// one it keeps the id only.
type stdioReader struct {
	r   *bufio.Reader
	max int64
}

func newStdioReader(r io.Reader, limit int64) *stdioReader {
	return &stdioReader{bufio.NewReaderSize(r, 64<<10), limit}
}

// next returns the next line that is not empty, without its line feed, which the last line may lack. The caller owns
// the text. The error is io.EOF if there are no more lines.
func (l *stdioReader) next() (stdioMessage, error) {
	for {
		n, err := l.readLine()
		if n.size > int64(len(n.text)) || len(bytes.Trim(n.text, " \t\r")) > 0 {
			return n, nil // an error that came with it is returned again
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
