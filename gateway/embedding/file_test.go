package embedding

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func someVectors(t testing.TB, n int) *vectors {
	t.Helper()
	s := newVectors()
	for i := range n {
		v, ok := newVector([]float32{float32(i), 1, -2})
		if !ok || !s.add(digestOf(string(rune('a'+i))), v) {
			t.Fatal("no vector")
		}
	}
	return s
}

// TestFile checks that vectors survive a round trip, and that a damaged file yields none.
func TestFile(t *testing.T) {
	s := someVectors(t, 5)
	text := s.encode(3)
	if !bytes.Equal(text, s.encode(3)) {
		t.Error("the file differs from time to time")
	}
	all, dimensions, err := decode(text)
	if err != nil || dimensions != 3 || len(all) != 5 {
		t.Fatalf("%d vectors of %d dimensions, %v", len(all), dimensions, err)
	}
	for d, v := range s.all {
		if got := all[d]; got == nil || got.day != v.day || got.scale != v.scale || !bytes.Equal(encoded(got), encoded(v)) {
			t.Errorf("%v, want %v", got, v)
		}
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "cut": text[:len(text)-1], "longer": append(bytes.Clone(text), 0), "changed": bytes.Replace(text, []byte("3\n"), []byte("4\n"), 1),
		"another format": bytes.Replace(text, []byte("vectors 1"), []byte("vectors 2"), 1),
		"zero":           resum([]byte("1\n" + string(make([]byte, 37)))), "no dimensions": resum([]byte("0\n")), "many dimensions": resum([]byte("5000\n")),
		"a torn record": resum([]byte("3\nabc")),
	} {
		if _, _, err := decode(bad); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func encoded(v *stored) (all []byte) {
	for _, x := range v.values {
		all = append(all, byte(x))
	}
	return all
}

// resum returns a file with that body and the correct checksum.
func resum(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append([]byte(formatVersion+hex.EncodeToString(sum[:])+"\n"), body...)
}

// FuzzDecode checks that decoding ends for any file, and that decoded vectors are encoded to the same bytes.
func FuzzDecode(f *testing.F) {
	text := someVectors(f, 3).encode(3)
	f.Add(text[len(formatVersion)+65:])
	f.Fuzz(func(t *testing.T, body []byte) {
		all, dimensions, err := decode(resum(body))
		if err != nil {
			return
		}
		again, same, err := decode((&vectors{all: all}).encode(dimensions))
		if err != nil || same != dimensions || len(again) != len(all) {
			t.Fatalf("%d of %d vectors, %v", len(again), len(all), err)
		}
	})
}

// TestWriteFile checks that a file is written atomically, with mode 0600, and that the files of unused models are
// removed.
func TestWriteFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	name := func(c string) string { return filepath.Join(dir, hex.EncodeToString([]byte(c))+fileSuffix) }
	old, used, other := name("01234567890123456789012345678901"), name("a1234567890123456789012345678901"), filepath.Join(dir, "other"+fileSuffix)
	for _, file := range []string{old, used, other} {
		if err := writeFile(file, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-unusedAge - time.Hour)
	for _, file := range []string{old, other} {
		if err := os.Chtimes(file, before, before); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeFile(used, []byte("text")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	if text, err := readFile(used); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(used); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(used, link); err != nil {
		t.Fatal(err)
	}
	if _, err := readFile(link); err == nil {
		t.Error("a link is read")
	}
}

// TestPrune checks that vectors are removed that no tool has used for long, and the oldest of the others when memory is
// short.
func TestPrune(t *testing.T) {
	s := someVectors(t, 5)
	for i, age := range []uint32{0, 31, 2, 1, 0} {
		s.all[digestOf(string(rune('a'+i)))].day -= age
	}
	has := func() (text string) {
		for i := range 5 {
			if s.all[digestOf(string(rune('a'+i)))] != nil {
				text += string(rune('a' + i))
			}
		}
		return text
	}
	for _, tt := range []struct {
		most int
		want string
	}{{5, "acde"}, {3, "ade"}, {0, "ae"}} {
		if s.prune(tt.most); has() != tt.want {
			t.Errorf("at most %d: %s, want %s", tt.most, has(), tt.want)
		}
	}
}
