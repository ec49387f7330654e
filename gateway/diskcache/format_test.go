package diskcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/fetch"
)

// FuzzDocument holds that decoding ends whatever stands in a file, and that a decoded document can be written and decoded again.
func FuzzDocument(f *testing.F) {
	doc := &Document{Head: Head{ID: "id", Operations: []string{"GET /a"}}, Copy: copyOfOne("http://a.example/x", "openapi: 3.1.0")}
	var text bytes.Buffer
	if err := doc.encode(&text, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(text.Bytes()))
	text.Reset()
	doc.Copy.Overlays = []fetch.File{{Location: "o.yaml", Data: []byte("overlay: 1.1.0")}}
	if err := doc.encode(&text, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte(formatVersion))
	f.Fuzz(func(t *testing.T, text []byte) {
		// The digest is for disks. Who writes to the directory can make it right.
		if rest, ok := bytes.CutPrefix(text, []byte(formatVersion)); ok && len(rest) > 65 {
			text = resum(text)
		}
		got, err := decode(text, "id")
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := got.encode(&again, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := decode(again.Bytes(), "id"); err != nil {
			t.Fatalf("%q: %v", again.Bytes(), err)
		}
	})
}

// TestOverlays holds that the overlays of a document are read as they were written, apart from its files.
func TestOverlays(t *testing.T) {
	doc := &Document{Head: Head{ID: "id"}, Copy: copyOfOne("http://a.example/x", "openapi: 3.1.0")}
	doc.Copy.Overlays = []fetch.File{{Location: "one.yaml", Data: []byte("one")}, {Location: "two.yaml", Data: []byte{}}}
	var text bytes.Buffer
	if err := doc.encode(&text, nil); err != nil {
		t.Fatal(err)
	}
	got, err := decode(text.Bytes(), "id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc.Copy, got.Copy); diff != "" {
		t.Error("-want +got:\n" + diff)
	}
}

// TestSize holds that the size of a compiled document is read without the rest of the file, and is 0 if the file has none or is no document.
func TestSize(t *testing.T) {
	var text bytes.Buffer
	doc := &Document{Head: Head{ID: strings.Repeat("a", 64), Size: 1 << 40, Spec: strings.Repeat("s", 5000)}, Copy: copyOfOne("http://a.example/x", "openapi: 3.1.0")}
	if err := doc.encode(&text, nil); err != nil {
		t.Fatal(err)
	}
	whole := text.String()
	for _, tt := range []struct {
		name, text string
		want       int64
	}{
		{"whole", whole, 1 << 40},
		{"its begin", whole[:300], 1 << 40},
		{"without the number", whole[:strings.Index(whole, `size`)+6], 0},
		{"of an earlier version", strings.Replace(whole, `"size":1099511627776,`, "", 1), 0},
		{"negative", strings.Replace(whole, `"size":1`, `"size":-1`, 1), 0},
		{"no number", strings.Replace(whole, `"size":1099511627776`, `"size":"1"`, 1), 0},
		{"another format", strings.Replace(whole, "document 1", "document 2", 1), 0},
		{"empty", "", 0},
	} {
		if got := decodeSize(strings.NewReader(tt.text)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func copyOfOne(location, text string) *fetch.Copy {
	return &fetch.Copy{Location: location, Files: []fetch.File{{Location: location, Data: []byte(text)}}}
}

// resum makes the digest of a file right.
func resum(text []byte) []byte {
	begin := len(formatVersion) + 65
	digest := sha256.Sum256(text[begin:])
	return slices.Concat([]byte(formatVersion), []byte(hex.EncodeToString(digest[:])), []byte("\n"), text[begin:])
}
