package redact

import (
	"io"

	"drawbridge/openapi/answer"
)

// Stream removes the credentials that the gateway attached to the request from a text that is written in pieces. What may be the beginning of
// a credential is held back until [Stream.End].
type Stream struct {
	to       io.Writer
	redactor Redactor
	keep     int // bytes that are held back
	held     []byte
	found    bool
}

// NewStream returns a stream that writes what is left of a text to another writer.
func NewStream(to io.Writer, r Redactor) *Stream {
	return &Stream{to: to, redactor: r, keep: r.Longest()}
}

// Write implements [io.Writer].
func (s *Stream) Write(p []byte) (int, error) {
	text := s.redacted(append(s.held, p...))
	n := max(0, len(text)-s.keep)
	if _, err := s.to.Write(text[:n]); err != nil {
		return 0, err
	}
	s.held = append(s.held[:0], text[n:]...)
	return len(p), nil
}

// End writes what was held back, and reports whether a credential was found.
func (s *Stream) End() (found bool, err error) {
	_, err = s.to.Write(s.held)
	return s.found, err
}

func (s *Stream) redacted(text []byte) []byte {
	part := answer.Part{Kind: answer.Text, Data: text}
	s.found = s.redactor.Part(&part) || s.found
	return part.Data
}
