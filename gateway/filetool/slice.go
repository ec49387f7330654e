package filetool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"drawbridge/gateway/filestore"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/text"
)

const (
	maxText = 16 << 10 // of an answer, in bytes
	maxLine = 4 << 10  // of a line that is shown, in bytes
	maxDump = 512      // of bytes that are not text
	// sniffed is how much of a file tells whether it is text.
	sniffed = 4 << 10
)

// IsText reports whether a file is text, by its media type and its first bytes.
func IsText(f *filestore.Reader) bool {
	head := make([]byte, min(f.Size, sniffed))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	for cut := 1; cut < utf8.UTFMax && f.Size > sniffed && !utf8.Valid(head[:n]); cut++ { // the end may cut a character
		n--
	}
	_, isText := mediatype.Content(f.MediaType, head[:n])
	return isText || mediatype.IsReadable(head[:n])
}

// Slice returns the part of a file that a call asks for, as a text of limited size that says how to get more. It reads as much of the file
// as it has to. If ctx ends before, the text says where to go on. The error is that of the disk.
func Slice(ctx context.Context, f *filestore.Reader, r Request) (string, error) {
	name := fmt.Sprintf("%s, %d bytes", orUnknown(f.MediaType), f.Size)
	if f.Name != "" {
		name = text.Truncate(f.Name, 100) + " (" + name + ")"
	}
	isText := IsText(f)
	switch {
	case r.Bytes != nil:
		return sliceBytes(f, name, *r.Bytes, isText)
	case !isText:
		return name + " is not text. bytes shows some of it, such as 0-255. Pass its URI on to tools that take files, or tell the user of it.", nil
	}
	return sliceLines(ctx, f, name, r)
}

func orUnknown(mediaType string) string {
	if mediaType == "" {
		return "unknown type"
	}
	return mediaType
}

// sliceBytes returns bytes of a file: as text, or in hexadecimal digits.
func sliceBytes(f *filestore.Reader, name string, r Range, isText bool) (string, error) {
	if r.First >= f.Size {
		return fmt.Sprintf("%s has no byte %d.", name, r.First), nil
	}
	most := int64(maxDump)
	if isText {
		most = maxText
	}
	data := make([]byte, min(min(r.Last, f.Size-1)-r.First+1, most))
	if n, err := f.ReadAt(data, r.First); n < len(data) {
		return "", err
	}
	last := r.First + int64(len(data)) - 1
	head := fmt.Sprintf("%s, bytes %d to %d:\n", name, r.First, last)
	rest := ""
	if last < min(r.Last, f.Size-1) {
		rest = fmt.Sprintf("\nMore: bytes %d-", last+1)
	}
	if !isText {
		return head + hex.Dump(data) + rest, nil
	}
	return head + strings.ToValidUTF8(string(data), "\uFFFD") + rest, nil
}

// lineReader reads the lines of a file. Of a long line it keeps the beginning.
type lineReader struct {
	from   *bufio.Reader
	line   []byte // without its end
	number int64  // of line, from 1
	long   bool   // line is cut
}

// next reads a line. It reports false at the end. The error is that of the disk, or of ctx.
func (l *lineReader) next(ctx context.Context) (bool, error) {
	l.line, l.long = l.line[:0], false
	read := false
	for {
		piece, err := l.from.ReadSlice('\n')
		read = read || len(piece) > 0
		room := max(0, maxLine-len(l.line))
		ended := err == nil
		piece = bytes.TrimRight(piece, "\r\n")
		l.long = l.long || len(piece) > room
		l.line = append(l.line, piece[:min(room, len(piece))]...)
		switch {
		case ended || errors.Is(err, io.EOF) && read:
			l.number++
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		case ctx.Err() != nil:
			return false, ctx.Err()
		}
	}
}

// sliceLines returns lines of a text. The first line of a CSV, which names the columns, stands before the rows.
func sliceLines(ctx context.Context, f *filestore.Reader, name string, r Request) (string, error) {
	l := &lineReader{from: f.Content().Reader}
	wanted := bytes.ToLower([]byte(r.Contains))
	var shown strings.Builder
	header := ""
	first, last, found := int64(0), int64(0), 0
	note, cut := "", false
	for {
		if l.number%1024 == 0 && ctx.Err() != nil {
			note = fmt.Sprintf("The time is over. More: lines %d-", l.number+1)
			break
		}
		more, err := l.next(ctx)
		if err != nil && ctx.Err() != nil {
			note = fmt.Sprintf("The time is over in line %d, which is too long: use bytes.", l.number+1)
			break
		}
		if err != nil {
			return "", err
		}
		if !more {
			note = fmt.Sprintf("The file ends with line %d.", l.number)
			break
		}
		if l.number == 1 && f.MediaType == "text/csv" {
			header = strings.ToValidUTF8(string(l.line), "\uFFFD")
		}
		if l.number > r.Lines.Last {
			break
		}
		cut = cut || l.long
		if l.number < r.Lines.First || len(wanted) > 0 && !bytes.Contains(bytes.ToLower(l.line), wanted) {
			continue
		}
		line := strings.ToValidUTF8(string(l.line), "\uFFFD")
		if l.long {
			line += text.Ellipsis
		}
		if len(wanted) > 0 {
			line = fmt.Sprintf("%d: %s", l.number, line)
		}
		if found > 0 && shown.Len()+len(line) > maxText {
			note = fmt.Sprintf("More: lines %d-", l.number)
			break
		}
		if found == 0 {
			first = l.number
		}
		last = l.number
		found++
		shown.WriteString(line)
		shown.WriteByte('\n')
	}
	said := fmt.Sprintf("%s, lines %d to %d:\n", name, first, last)
	switch {
	case len(wanted) > 0:
		said = fmt.Sprintf("%s, %d lines contain %q:\n", name, found, text.Truncate(r.Contains, 100))
		if cut {
			said = strings.TrimSuffix(said, ":\n") + fmt.Sprintf(" (searched to byte %d of each line):\n", maxLine)
		}
	case found == 0:
		said = name + " has no such line.\n"
	}
	if header != "" && found > 0 && first > 1 {
		said += header + "\n"
	}
	return strings.TrimSuffix(said+shown.String()+note, "\n"), nil
}
