package terminal

import (
	"bytes"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// defaultWidth is the width of a terminal that does not tell its own.
const defaultWidth = 80

// Screen is a terminal. Its last line can show a status, which moves down as other lines are written. It is safe for
// concurrent use.
type Screen struct {
	w     io.Writer
	width func() int

	mu     sync.Mutex
	status string // on the last line; "" if none is shown
}

// Of returns the terminal that w is, or nil for a file, a pipe or the null device. A Screen is its own.
func Of(w io.Writer) *Screen {
	if s, ok := w.(*Screen); ok {
		return s
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	enableEscapes(f)
	return &Screen{w: f, width: func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return defaultWidth
		}
		return width
	}}
}

// Interactive reports whether r is a terminal, from which a person can answer questions.
func Interactive(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the number of cells of a line, as it is now.
func (s *Screen) Width() int { return s.width() }

// clearLine returns to the begin of the line and erases it (ECMA-48 section 8.3.41).
const clearLine = "\r\x1b[K"

// Write writes lines above the status.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "" {
		return s.w.Write(b)
	}
	text := append([]byte(clearLine), b...)
	if bytes.HasSuffix(b, []byte("\n")) {
		text = append(text, s.status...)
	} else { // the rest of the line is still to come
		s.status = ""
	}
	if _, err := s.w.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Show makes text the status, truncated to the width; "" removes it.
func (s *Screen) Show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = Truncate(text, s.width()-1)
	if text == "" && s.status == "" {
		return
	}
	s.status = text
	_, _ = io.WriteString(s.w, clearLine+text) // nobody is left to tell
}
