package upstream

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// coding is a supported content coding (RFC 9110 section 8.4.1).
type coding uint8

const (
	identity coding = iota
	gzipped
	deflated
)

// parseCodings parses Content-Encoding. Only one coding is accepted: two are only used to evade
// limits. unknown is a word that is not a content coding and is ignored, because services send a
// charset or "none"; it is "" if there is none.
func parseCodings(values []string) (found coding, unknown string, err error) {
	found = identity
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			c := identity
			switch name = strings.ToLower(strings.Trim(name, " \t")); {
			case name == "" || name == "identity":
				continue
			case name == "gzip" || name == "x-gzip":
				c = gzipped
			case name == "deflate":
				c = deflated
			case slices.Contains(unsupportedCodings, name):
				return identity, "", fmt.Errorf("answer in a content coding that was not asked for: %.40q", name)
			default:
				unknown = name
				continue
			}
			if found != identity {
				return identity, "", fmt.Errorf("answer in two content codings: %.80q", values)
			}
			found = c
		}
	}
	return found, unknown, nil
}

// unsupportedCodings are the registered codings that are not supported (RFC 9110 section 16.6.1),
// and names by which others are in use. All other words are ignored.
var unsupportedCodings = []string{
	"aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress", "zstd",
	"brotli", "bzip2", "lz4", "lzma", "sdch", "snappy", "x-bzip2", "xpress", "xz", "zip", "zlib", "zstandard",
}

// decoder decodes a content coding. Decoders are reused, because the state of one has some 40 KiB.
type decoder struct {
	encoded    int64 // bytes read from the source so far, read-ahead included
	maxEncoded int64 // limit of encoded
	nonEmpty   bool  // an empty stream is an error

	source  io.Reader
	coding  coding
	buf     *bufio.Reader // reads from the decoder itself through counter
	gzip    *gzip.Reader
	zlib    io.ReadCloser
	flate   io.ReadCloser
	current io.Reader // nil until the first read
	err     error
}

// corruptError is a compressed stream that can't be decoded.
type corruptError struct{ err error }

func (e *corruptError) Error() string { return "broken compression: " + e.err.Error() }
func (e *corruptError) Unwrap() error { return e.err }

// errEncoded ends a stream that has more encoded bytes than its decoded size may have: members and
// blocks can be empty, and continue for ever.
var errEncoded = errors.New("compressed answer is larger than what it may hold")

// encodedSlack is the number of encoded bytes allowed beyond the limit of decoded ones.
const encodedSlack = 64 << 10

// counter counts what is read from the source.
type counter struct{ d *decoder }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.d.source.Read(p)
	if c.d.encoded += int64(n); c.d.encoded > c.d.maxEncoded {
		return 0, errEncoded
	}
	return n, err
}

// Read returns io.EOF only if both the compressed stream and the source ended properly. Other
// errors are those of the source, errEncoded, [io.ErrUnexpectedEOF] or a *corruptError.
func (d *decoder) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.current == nil {
		if d.err = d.open(); d.err != nil {
			return 0, d.err
		}
	}
	n, err := d.current.Read(p)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = d.checkEnd()
		} else {
			err = corrupt(err)
		}
		d.err = err
	}
	return n, err
}

// open reads the header of the stream. A response without any byte is empty, not corrupt, unless
// nonEmpty is set.
func (d *decoder) open() error {
	if _, err := d.buf.Peek(1); err != nil {
		if d.nonEmpty && errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	var err error
	switch d.coding {
	case gzipped:
		if d.gzip == nil {
			d.gzip, err = gzip.NewReader(d.buf)
		} else {
			err = d.gzip.Reset(d.buf)
		}
		d.current = d.gzip
	case deflated:
		err = d.openDeflate()
	case identity:
		d.current = d.buf
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return corrupt(err)
}

// openDeflate distinguishes the zlib format, which RFC 9110 section 8.4.1.2 means by "deflate",
// from the raw stream that some servers send: a raw stream whose first two bytes are a zlib header
// would begin with a stored block with non-zero padding, which no encoder writes.
func (d *decoder) openDeflate() error {
	head, err := d.buf.Peek(2)
	if len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		if r, ok := d.zlib.(zlib.Resetter); ok {
			err = r.Reset(d.buf, nil)
		} else {
			d.zlib, err = zlib.NewReader(d.buf)
		}
		d.current = d.zlib
		return err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if r, ok := d.flate.(flate.Resetter); !ok {
		d.flate = flate.NewReader(d.buf)
	} else if err := r.Reset(d.buf, nil); err != nil {
		return err
	}
	d.current = d.flate
	return nil
}

// checkEnd checks that no data follows the stream. It also lets the transport see the end of the
// response, so that the connection is reused.
func (d *decoder) checkEnd() error {
	switch _, err := d.buf.Peek(1); {
	case err == nil:
		return &corruptError{errors.New("data after its end")}
	default:
		return err // io.EOF or the error of the connection
	}
}

// corrupt wraps the errors of the decompressors.
func corrupt(err error) error {
	var input flate.CorruptInputError
	var internal flate.InternalError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrDictionary),
		errors.As(err, &input), errors.As(err, &internal):
		return &corruptError{err}
	}
	return err
}

// decoderPool holds unused decoders.
type decoderPool struct{ pool sync.Pool }

// get returns a decoder for a source of at most maxEncoded bytes.
func (p *decoderPool) get(c coding, source io.Reader, most int64) *decoder {
	d, ok := p.pool.Get().(*decoder)
	if !ok {
		d = &decoder{}
		d.buf = bufio.NewReaderSize(counter{d}, 8<<10)
	}
	d.source, d.coding, d.encoded, d.maxEncoded, d.nonEmpty, d.current, d.err = source, c, 0, most, false, nil, nil
	d.buf.Reset(counter{d})
	return d
}

func (p *decoderPool) put(d *decoder) {
	d.source, d.current, d.err = nil, nil, io.ErrClosedPipe
	p.pool.Put(d)
}
