package answer

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
)

// brokenReader sends a text in pieces, and then fails.
type brokenReader struct {
	text   []byte
	pieces int
	after  error
}

func (s *brokenReader) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, s.after
	}
	n := copy(p[:min(len(p), s.pieces)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// TestPromisedLength checks that a service that declares much and sends little causes no large allocation, and that one
// with a correct length costs one buffer of that length.
func TestPromisedLength(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	for name, tt := range map[string]struct {
		promised, sent int64
		least, most    int // size of the buffer at the end
	}{
		"nothing is said, nothing comes":      {-1, 0, minBuffer, minBuffer + 1},
		"nothing is said, much comes":         {-1, 3 * mib, 3 * mib, 6 * mib},
		"little is promised":                  {100, 100, minBuffer, minBuffer + 1},
		"a promise that is believed at once":  {200 * kib, 200 * kib, 200*kib + 1, 200*kib + 1},
		"a large one, and nothing comes":      {1 << 40, 0, trustedAtFirst, trustedAtFirst + 1},
		"a large one, and little comes":       {8 * mib, 100 * kib, trustedAtFirst, trustedAtFirst + 1},
		"a large one, half of what is needed": {8 * mib, trustedAfter - 1, trustedAfter - 1, 2 * trustedAfter},
		"a large one that is kept":            {3 * mib, 3 * mib, 3*mib + 1, 3*mib + 1},
		"a boundless one, and much comes":     {1 << 40, mib, maxTrusted + 1, maxTrusted + 1},
		"more comes than was promised":        {300 * kib, 2 * mib, 2 * mib, 4 * mib},
		"no length that there is":             {-1 << 62, 10, minBuffer, minBuffer + 1},
	} {
		for _, pieces := range []int{4096, 1 << 30} {
			b := (&buffers{}).expect(tt.promised)
			if cap(b.data) > trustedAtFirst+1 {
				t.Errorf("%s: %d bytes before anything has come", name, cap(b.data))
			}
			text := bytes.Repeat([]byte("x"), int(tt.sent))
			if err := b.readFrom(&brokenReader{text, pieces, io.EOF}); err != nil {
				t.Error(name, err)
			}
			if !bytes.Equal(b.data, text) {
				t.Errorf("%s: %d bytes were read of %d", name, len(b.data), len(text))
			}
			if n := cap(b.data); n < tt.least || n > tt.most {
				t.Errorf("%s: a buffer of %d bytes, want %d to %d", name, n, tt.least, tt.most)
			}
		}
	}
}

// TestBuffersForget checks that no data of one response is left for the next, and that a buffer that became large is
// not kept.
func TestBuffersForget(t *testing.T) {
	bs := &buffers{}
	b := bs.expect(8 << 20)
	if err := b.readFrom(&brokenReader{[]byte("half"), 1 << 30, io.ErrUnexpectedEOF}); err != io.ErrUnexpectedEOF || string(b.data) != "half" { //nolint:errorlint // the error is returned unchanged
		t.Errorf("%q, %v", b.data, err)
	}
	bs.put(b)
	for range 10 { // whether or not the pool has kept it
		next := bs.get(10)
		if len(next.data) != 0 || next.declared != 0 {
			t.Errorf("%d bytes, %d promised", len(next.data), next.declared)
		}
		bs.put(next)
	}
	large := bs.get(maxPooled + 1)
	bs.put(large)
	for range 10 {
		if next := bs.get(0); cap(next.data) > maxPooled {
			t.Errorf("a buffer of %d bytes was kept", cap(next.data))
		}
	}
}

// TestPromiseOfHead checks that a response to HEAD, which has the length of one to GET and no content, gets no buffer
// of that length.
func TestPromiseOfHead(t *testing.T) {
	p := NewCompiler(false).Compile(Declaration{Method: http.MethodHead})
	resp := &http.Response{StatusCode: 200, ContentLength: 200 << 10, Body: io.NopCloser(iotest.ErrReader(io.EOF))}
	if err := readParts(p, resp, func(Part) error { t.Error("a part"); return nil }); err != nil {
		t.Error(err)
	}
	if b := p.buffers.get(0); cap(b.data) > minBuffer+1 {
		t.Errorf("a buffer of %d bytes", cap(b.data))
	}
}
