package listener

import (
	"errors"
	"io"
	"net/http"

	"drawbridge/gateway/trailer"
)

// framedBody closes the connection of a request whose body is broken: it is not certain where the next request begins. net/http does so
// for bodies of its own type alone, and takes trailers that HTTP does not allow.
type framedBody struct {
	io.ReadCloser
	req    *http.Request
	header http.Header // of the response
	err    error
}

// framed returns the body of a request, which must be read before the response is begun.
func framed(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	if r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody {
		return r.Body
	}
	return &framedBody{ReadCloser: r.Body, req: r, header: w.Header()}
}

// Read implements [io.Reader].
func (b *framedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if broken := trailer.Check(b.req.Trailer); broken != nil {
			err = broken
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
		b.header["Connection"] = []string{"close"}
	}
	return n, err
}
