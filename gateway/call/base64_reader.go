package call

import (
	"encoding/base64"
	"io"
)

// base64Block is the number of bytes that are encoded at once: a multiple of three, so that no block but the last has padding.
const base64Block = 48 << 10

// base64Reader reads what another reader has, as base64.
type base64Reader struct {
	from io.Reader
	as   *base64.Encoding

	raw     []byte
	encoded []byte
	rest    []byte // of encoded, not read yet
	err     error  // of from
}

// Read implements [io.Reader].
func (r *base64Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.raw == nil {
			r.raw = make([]byte, base64Block)
		}
		var n int
		n, r.err = io.ReadFull(r.from, r.raw)
		if r.err == io.ErrUnexpectedEOF { //nolint:errorlint // ReadFull returns it as it is
			r.err = io.EOF
		}
		r.encoded = r.as.AppendEncode(r.encoded[:0], r.raw[:n])
		r.rest = r.encoded
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// encodedLen is [base64.Encoding.EncodedLen] for sizes that exceed an int.
func encodedLen(as *base64.Encoding, size int64) int64 {
	return size/3*4 + int64(as.EncodedLen(int(size%3)))
}
