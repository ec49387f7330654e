package filestore

import (
	"path/filepath"
	"testing"
)

// FuzzParseURI holds that a text which is taken for a URI names one file and nothing else on the disk, and is the only spelling of its
// reference.
func FuzzParseURI(f *testing.F) {
	for _, uri := range []string{
		"drawbridge-file:abcdefghijklmnop", "drawbridge-file:abcdefghijklmnop?bytes=0-99", "drawbridge-file:../../etc/passwd", "drawbridge-file:abcdefghijklmno/",
		"drawbridge-file:abcdefghijklmnop?bytes=9-1", "drawbridge-file:abcdefghijklmnop?bytes=-1", "drawbridge-file:abcdefghijklmnop?bytes=00-1", "drawbridge-file:abcdefghijklmnop#1",
		"drawbridge-file:abcdefghijklmnop?bytes=0-99999999999999999999", "drawbridge-file:ABCDEFGHIJKLMNOP", "file:///etc/passwd", "drawbridge-file:abcdefghijklmnop\n", "",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		r, ok := ParseURI(uri)
		if !ok {
			return
		}
		if r.String() != uri {
			t.Errorf("%q is read as %q", uri, r)
		}
		if !IsID(r.ID) || filepath.Base(r.ID) != r.ID || !filepath.IsLocal(r.ID+suffix) {
			t.Errorf("%q names the file %q", uri, r.ID)
		}
		if !r.Whole() && (r.First < 0 || r.Last < r.First) {
			t.Errorf("%q has the range %d to %d", uri, r.First, r.Last)
		}
	})
}
