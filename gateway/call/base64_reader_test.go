package call

import (
	"bytes"
	"encoding/base64"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzBase64Reader holds that a file is encoded as a whole would be, whatever its size and the pieces in which it is read.
func FuzzBase64Reader(f *testing.F) {
	for _, size := range []int{0, 1, 2, 3, base64Block - 1, base64Block, base64Block + 1, 2*base64Block + 5} {
		f.Add(bytes.Repeat([]byte("\xfe9\x00"), size)[:size])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, as := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			for _, from := range []io.Reader{bytes.NewReader(content), iotest.HalfReader(bytes.NewReader(content)), iotest.DataErrReader(bytes.NewReader(content))} {
				got, err := io.ReadAll(&base64Reader{from: from, as: as})
				if err != nil || string(got) != as.EncodeToString(content) || int64(len(got)) != encodedLen(as, int64(len(content))) {
					t.Errorf("%d bytes as %d, %v", len(content), len(got), err)
				}
			}
		}
	})
}
