package endpoint

import (
	"encoding/base64"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzCursor holds that a cursor opens for its caller, on its list, and that nothing else opens: no text that somebody made
// up, and no cursor with a letter changed (T20).
func FuzzCursor(f *testing.F) {
	c, err := NewCursors([][]byte{[]byte("key")})
	if err != nil {
		f.Fatal(err)
	}
	list, other := [32]byte{1}, [32]byte{2}
	// A text that says its bytes are its own: the list's name ends where the caller's begins.
	f.Add("", "alice", uint32(1), uint16(7))
	f.Add(base64.RawURLEncoding.EncodeToString(make([]byte, 40)), "", uint32(0), uint16(0))
	f.Add(c.seal(3, "alice", other), "\x02", uint32(1<<32-1), uint16(90))
	f.Fuzz(func(t *testing.T, foreign, principal string, page uint32, at uint16) {
		cursor := c.seal(int(page), principal, list)
		if got, err := c.open(cursor, principal, list); err != nil || got != int(page) {
			t.Fatalf("page %d: %d, %v", page, got, err)
		}
		for _, bad := range []struct {
			what, cursor, principal string
			list                    [32]byte
		}{
			{"made up", foreign, principal, list},
			{"of another caller", cursor, principal + "x", list},
			{"of another list", cursor, principal, other},
			{"cut off", cursor[:int(at)%len(cursor)], principal, list},
			{"with more", cursor + "A", principal, list},
			{"changed", changed(cursor, int(at)), principal, list},
		} {
			if page, err := c.open(bad.cursor, bad.principal, bad.list); err == nil {
				t.Fatalf("one %s opens, with page %d: %q", bad.what, page, bad.cursor)
			}
		}
	})
}

// changed is a text with one of its letters changed.
func changed(text string, at int) string {
	b := []byte(text)
	i := at % len(b)
	if b[i]++; b[i] == '{' { // z becomes no letter of the alphabet
		b[i] = 'A'
	}
	return string(b)
}

// TestCursorExpires holds that a cursor is good for ten minutes, and for no moment more.
func TestCursorExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := NewCursors(nil)
		if err != nil {
			t.Fatal(err)
		}
		cursor := c.seal(1, "alice", [32]byte{})
		time.Sleep(cursorLife)
		if _, err := c.open(cursor, "alice", [32]byte{}); err != nil {
			t.Errorf("at its end: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := c.open(cursor, "alice", [32]byte{}); err == nil {
			t.Error("after its end it opens")
		}
	})
}

// TestCursorsAreBound holds that a cursor is good for its list and its caller alone (pains row 20).
func TestCursorsAreBound(t *testing.T) {
	a, err := NewCursors([][]byte{[]byte("first key")})
	if err != nil {
		t.Fatal(err)
	}
	both, err := NewCursors([][]byte{[]byte("second key"), []byte("first key")})
	if err != nil {
		t.Fatal(err)
	}
	list := [32]byte{1}
	cursor := a.seal(3, "alice", list)
	if page, err := both.open(cursor, "alice", list); err != nil || page != 3 {
		t.Errorf("after a rotation of keys: %d, %v", page, err)
	}
	altered := "A" + cursor[1:]
	if altered == cursor {
		altered = "B" + cursor[1:]
	}
	for name, open := range map[string]func() (int, error){
		"another caller": func() (int, error) { return a.open(cursor, "bob", list) },
		"another list":   func() (int, error) { return a.open(cursor, "alice", [32]byte{2}) },
		"altered":        func() (int, error) { return a.open(altered, "alice", list) },
		"cut":            func() (int, error) { return a.open(cursor[:4], "alice", list) },
		"no base64":      func() (int, error) { return a.open("!", "alice", list) },
	} {
		if _, err := open(); !errors.Is(err, errCursor) {
			t.Errorf("%s: %v, want %v", name, err, errCursor)
		}
	}
}
