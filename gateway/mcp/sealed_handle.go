package mcp

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Handles makes sealed handles that expire: what a client carries for a server that
// keeps nothing, as the state of a question or the id of a task. Whoever has one is
// not thereby allowed anything: the caller is checked as ever, and is bound to the
// handle besides (T20). It is safe for concurrent use.
type SealedHandles struct{ sealer *Sealer }

// NewHandles derives the keys as [NewSealer] does; label separates the handles of one
// purpose, and of one layout of their payload, from all others.
func NewSealedHandles(secrets [][]byte, label string) (*SealedHandles, error) {
	s, err := NewSealer(secrets, label)
	if err != nil {
		return nil, err
	}
	return &SealedHandles{s}, nil
}

// Rekey is that of [Sealer].
func (h *SealedHandles) Rekey(secrets [][]byte) error { return h.sealer.Rekey(secrets) }

// Seal makes a handle of payload that is good until expiry, and opens only with the
// same bound: who may use it, on what. Its text is unguessable, visible ASCII
// ([A-Za-z0-9_-]), and a third longer than the payload and 36 bytes.
func (h *SealedHandles) Seal(payload []byte, expiry time.Time, bound ...string) string {
	text := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(payload)), uint64(expiry.Unix()))
	return h.sealer.Seal(append(text, payload...), binding(bound))
}

// Open returns the payload of a handle and when it expires. It is an error if the
// handle was altered, was made for something else, or has expired; which of them is
// nobody's business.
func (h *SealedHandles) Open(handle string, now time.Time, bound ...string) (payload []byte, expiry time.Time, err error) {
	text, err := h.sealer.Open(handle, binding(bound))
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(text) < 8 {
		return nil, time.Time{}, errSeal
	}
	expiry = time.Unix(int64(binary.BigEndian.Uint64(text)), 0)
	if !now.Before(expiry) {
		return nil, time.Time{}, fmt.Errorf("%w: it has expired", errSeal)
	}
	return text[8:], expiry, nil
}

// binding joins texts so that no two lists of them are joined to the same bytes.
func binding(bound []string) []byte {
	var b []byte
	for _, s := range bound {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}
