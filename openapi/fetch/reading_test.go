package fetch

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// TestReadLimited checks that a file is read completely or refused, for any announced length.
func TestReadLimited(t *testing.T) {
	const max = 4 << 20
	random := make([]byte, max+1)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(random)
	for _, tt := range []struct {
		name       string
		text       []byte
		size       int64
		cut        bool // the connection breaks at the end
		wantsError string
	}{
		{name: "as long as told", text: random[:1000], size: 1000},
		{name: "nothing", size: 0},
		{name: "unknown length", text: random[:1000], size: -1},
		{name: "one piece", text: random[:pieceBytes], size: -1},
		{name: "many pieces", text: random[:3*pieceBytes+7], size: -1},
		{name: "all that is allowed", text: random[:max], size: -1},
		{name: "more than is allowed", text: random, size: -1, wantsError: "is larger than 4 MiB; the limit is there to protect the gateway"},
		{name: "told to be more than is allowed", text: random, size: max + 1, wantsError: "is larger than 4 MiB; the limit is there to protect the gateway"},
		{name: "longer than told", text: random[:2*pieceBytes], size: 10},
		{name: "shorter than told", text: random[:10], size: 1000},
		{name: "cut", text: random[:1000], size: -1, cut: true, wantsError: "unexpected EOF"},
		{name: "cut behind a piece", text: random[:pieceBytes], size: -1, cut: true, wantsError: "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r io.Reader = iotest.HalfReader(bytes.NewReader(tt.text))
			if tt.cut {
				r = io.MultiReader(r, iotest.ErrReader(io.ErrUnexpectedEOF))
			}
			got, err := readLimited(r, tt.size, max, nil)
			switch {
			case tt.wantsError != "":
				if err == nil || err.Error() != tt.wantsError {
					t.Errorf("error %v, want %q", err, tt.wantsError)
				}
			case err != nil:
				t.Error(err)
			case !bytes.Equal(got, tt.text):
				t.Errorf("%d bytes that differ from the %d that were sent", len(got), len(tt.text))
			}
		})
	}
}
