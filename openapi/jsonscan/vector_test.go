package jsonscan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// isPlain is the condition of plainRun for one byte.
func isPlain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// checkPlainRuns compares every version of plainRun with isPlain.
func checkPlainRuns(t *testing.T, text []byte) {
	t.Helper()
	want := 0
	for want < len(text) && isPlain(text[want]) {
		want++
	}
	for name, run := range map[string]func([]byte) int{"plainRun": plainRun, "plainWords": plainWords} {
		got := run(text)
		if got != want && (want < len(text) && want+16 <= len(text) || got > want || want-got > 15) {
			t.Fatalf("%s(%q) = %d, want %d", name, text, got, want)
		}
	}
}

// checkVisibleRuns checks the documented results of VisibleRun.
func checkVisibleRuns(t *testing.T, text []byte) {
	t.Helper()
	for _, slashes := range []bool{false, true} {
		want := 0
		for want < len(text) && text[want] >= ' ' && text[want] <= '~' && !(slashes && text[want] == '\\') {
			want++
		}
		if got := VisibleRun(text, slashes); got > want || got < want && VisibleRun(bytes.Repeat([]byte("a"), 32), false) == 32 && (want+16 <= len(text) || want-got > 15) {
			t.Fatalf("VisibleRun(%q, %v) = %d, want %d", text, slashes, got, want)
		}
	}
}

// checkEscapes compares every version of escapeRun, and AppendEscaped, with appendEscapedByte. room is the number of
// bytes that may be written; the bytes after them must not change.
func checkEscapes(t *testing.T, text []byte, room int) {
	t.Helper()
	var want []byte
	for _, c := range text {
		want = appendEscapedByte(want, c)
	}
	if got := AppendEscaped([]byte("x"), text); string(got[1:]) != string(want) {
		t.Fatalf("AppendEscaped(%q) = %q, want %q", text, got[1:], want)
	}
	if n := EscapedLen(text); n != len(want) {
		t.Fatalf("EscapedLen(%q) = %d, want %d", text, n, len(want))
	}
	for name, escape := range map[string]func(room, text []byte) (int, int){"escapeRun": escapeRun, "escapeWords": escapeWords} {
		out := bytes.Repeat([]byte{0xfe}, room+64)
		read, written := escape(out[:room:room], text)
		if read < 0 || read > len(text) || written < 0 || written > room {
			t.Fatalf("%s of %d bytes into %d: read %d, written %d", name, len(text), room, read, written)
		}
		var part []byte
		for _, c := range text[:read] {
			part = appendEscapedByte(part, c)
		}
		if string(out[:written]) != string(part) {
			t.Fatalf("%s(%q) = %q, want %q", name, text[:read], out[:written], part)
		}
		if behind := bytes.Trim(out[room:], "\xfe"); len(behind) > 0 {
			t.Fatalf("%s of %d bytes into %d wrote %q behind its room", name, len(text), room, behind)
		}
		if next := text[read:min(read+8, len(text))]; len(next) == 8 && room-written >= 24 && !bytes.ContainsFunc(next, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%s stopped for no reason before %q, with room for %d bytes", name, next, room-written)
		}
	}
}

// TestVectorsAgree compares the versions at every offset and length around a block, and on longer texts of every
// density.
func TestVectorsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	alphabets := []string{`"`, `\`, "x", `"x`, `\"x`, `"xxxxxxx`, strings.Repeat("x", 60) + `"`, strings.Repeat("x", 200) + "\n", "xé", "\x1f\x20\x21\x22\x23\x7f\x80\xff"}
	for _, alphabet := range alphabets {
		for n := range 80 {
			text := make([]byte, n)
			for i := range text {
				text[i] = alphabet[r.IntN(len(alphabet))]
			}
			for offset := range min(n, 17) {
				checkPlainRuns(t, text[offset:])
				checkVisibleRuns(t, text[offset:])
				checkEscapes(t, text[offset:], 2*n+32)
				checkEscapes(t, text[offset:], r.IntN(2*n+32))
			}
		}
		text := make([]byte, 10_000)
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		checkPlainRuns(t, text)
		checkVisibleRuns(t, text)
		checkEscapes(t, text, 2*len(text)+32)
	}
	for c := range 256 { // each byte alone among plain ones, at each position in a block
		for at := range 32 {
			text := bytes.Repeat([]byte("-"), 64)
			text[at] = byte(c)
			checkPlainRuns(t, text)
			checkVisibleRuns(t, text)
			checkEscapes(t, text, 160)
		}
	}
}

func TestPrefix(t *testing.T) {
	for n := range 40 {
		text := strings.Repeat("x", n)
		p := newPrefix(text)
		for _, b := range []string{"", "x", text, text + "y", text + strings.Repeat("y", 20), strings.Repeat("x", max(0, n-1)) + strings.Repeat("y", 20)} {
			if got, want := p.of([]byte(b)), n > 0 && strings.HasPrefix(b, text); got != want {
				t.Errorf("prefix %q of %q: %v", text, b, got)
			}
		}
	}
	if (&prefix{}).of([]byte("0123456789abcdef0")) {
		t.Error("the zero prefix is one of a text")
	}
}

func FuzzEscape(f *testing.F) {
	f.Add([]byte(`{"id":1,"name":"A \"quoted\" name","path":"C:\\x"}`), uint16(200))
	f.Add([]byte("plain text of more than one block, then a line\nand a quote \" and é"), uint16(40))
	f.Add(bytes.Repeat([]byte{'"'}, 100), uint16(232))
	f.Fuzz(func(t *testing.T, text []byte, room uint16) {
		checkEscapes(t, text, int(room))
		for offset := range min(len(text), 17) {
			checkPlainRuns(t, text[offset:])
			checkVisibleRuns(t, text[offset:])
		}
	})
}

func BenchmarkPlainRun(b *testing.B) {
	for _, n := range []int{8, 24, 60, 4096} {
		text := append(bytes.Repeat([]byte("x"), n), '"')
		text = append(text, "0123456789abcdef"...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if plainRun(text) != n {
					b.Fatal("wrong")
				}
			}
		})
	}
}
