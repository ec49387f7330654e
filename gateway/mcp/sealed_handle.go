package mcp

import (
	"encoding/binary"
	"fmt"
	"time"
)

// SealedHandles makes sealed handles that expire, such as request states and task ids, so that the server need not
// store their contents. A handle grants nothing by itself: the caller is authorized as usual, and is bound to the
// handle besides (T20). It is safe for concurrent use.
type SealedHandles struct{ sealer *Sealer }

// NewSealedHandles derives the keys as [NewSealer] does. label separates the handles of one purpose, and of one layout
// of the payload, from all others.
func NewSealedHandles(secrets [][]byte, label string) (*SealedHandles, error) {
	s, err := NewSealer(secrets, label)
	if err != nil {
		return nil, err
	}
	return &SealedHandles{s}, nil
}

// Rekey replaces the keys as [Sealer.Rekey] does.
func (h *SealedHandles) Rekey(secrets [][]byte) error { return h.sealer.Rekey(secrets) }

// Seal returns a handle of payload that is valid until expiry and opens only with the same bound: the caller that may
// use it, and for what. It is unguessable, visible ASCII ([A-Za-z0-9_-]), and a third longer than the payload and 36
// bytes.
func (h *SealedHandles) Seal(payload []byte, expiry time.Time, bound ...string) string {
	text := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(payload)), uint64(expiry.Unix()))
	return h.sealer.Seal(append(text, payload...), binding(bound))
}

// Open returns the payload of a handle and its expiry. It is an error if the handle was altered, was made for something
// else or has expired; clients must not learn which.
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

// binding joins texts unambiguously.
func binding(bound []string) []byte {
	var b []byte
	for _, s := range bound {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}
