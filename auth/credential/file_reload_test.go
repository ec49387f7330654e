package credential

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTornRead: what is read of a file while it is written in place is not taken for what it holds; one that never rests is taken as it is.
func TestTornRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reads []string // what each read gives, the last of them from then on; "!": an error
		want  string   // the values after each look
	}{
		{"at rest", []string{"old", "old", "old", "new", "new", "new"}, "old old new new"},
		{"torn", []string{"old", "old", "onw", "new", "new"}, "old new new new"},
		{"torn twice", []string{"old", "old", "onw", "oew", "new", "new"}, "old new new new"},
		{"torn, and as it was", []string{"old", "old", "onw", "old", "old"}, "old old old old"},
		{"never at rest", []string{"old", "old", "a", "b", "c", "d", "e", "f"}, "old e f f"},
		{"gone meanwhile", []string{"old", "old", "onw", "!", "new", "new"}, "old old new new"},
		{"at first", []string{"onw", "new", "new"}, "new new new new"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			w := &reloader[string]{paths: []string{"file"}, now: time.Now,
				parse: func(contents [][]byte) (string, error) { return string(contents[0]), nil },
				read: func(string) ([]byte, fs.FileMode, error) {
					text := tt.reads[min(n, len(tt.reads)-1)]
					n++
					if text == "!" {
						return nil, 0, errors.New("gone")
					}
					return []byte(text), 0o600, nil
				}}
			var got []string
			for range 4 {
				value, err := w.get()
				if err != nil {
					t.Error(err)
				}
				got = append(got, value)
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// What is watched is the bytes of each file, and who may read it.
func TestWatchedChanges(t *testing.T) {
	first, second, mode := "ab", "c", fs.FileMode(0o600)
	w := &reloader[string]{paths: []string{"first", "second"}, now: time.Now,
		parse: func(contents [][]byte) (string, error) { return string(contents[0]) + "|" + string(contents[1]), nil },
		read: func(path string) ([]byte, fs.FileMode, error) {
			if path == "first" {
				return []byte(first), 0o600, nil
			}
			return []byte(second), mode, nil
		}}
	look := func(want string, exposed ...string) {
		t.Helper()
		if got, err := w.get(); got != want || err != nil || !slices.Equal(w.exposed(), exposed) {
			t.Errorf("%q, %v, %q, want %q and %q", got, err, w.exposed(), want, exposed)
		}
	}
	look("ab|c")
	first, second = "a", "bc" // the same bytes, one after the other
	look("a|bc")
	mode = 0o644
	look("a|bc", "second")
	mode = 0o600
	look("a|bc")
}
