package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"drawbridge/openapi/jsonscan"
)

// hashes computes the keyed hashes of a log. Without a key, a reader of the log could guess the
// hashed values: subjects are often mail addresses, and arguments a single id. It is safe for
// concurrent use.
type hashes struct {
	pool sync.Pool
	// recent is a direct-mapped cache of recent subjects, since most callers call repeatedly.
	recent [keptSubjects]atomic.Pointer[subjectHash]
	seed   maphash.Seed
}

const (
	keptSubjects = 256
	// maxKeptSubject is the maximum length of issuer and subject, together, of a cached hash.
	maxKeptSubject = 512
)

// subjectHash is the hash of a subject, in hexadecimal digits. It is immutable.
type subjectHash struct {
	issuer, subject string
	digits          []byte
}

func newHashes(key []byte) *hashes {
	h := &hashes{seed: maphash.MakeSeed()}
	h.pool.New = func() any { return &hashing{mac: hmac.New(sha256.New, key)} }
	return h
}

// hashing holds the buffers of one hash computation.
type hashing struct {
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

// maxKeptText is the maximum size of a buffer for canonical forms that is reused.
const maxKeptText = 64 << 10

// appendSubject appends the hash of "subject", the issuer and the subject, separated by line feeds.
func (h *hashes) appendSubject(dst []byte, issuer, subject string) []byte {
	place := &h.recent[maphash.String(h.seed, subject)%keptSubjects]
	if kept := place.Load(); kept != nil && kept.subject == subject && kept.issuer == issuer {
		return append(dst, kept.digits...)
	}
	start := len(dst)
	dst = h.hashSubject(dst, issuer, subject)
	if len(issuer)+len(subject) <= maxKeptSubject {
		place.Store(&subjectHash{issuer: strings.Clone(issuer), subject: strings.Clone(subject), digits: bytes.Clone(dst[start:])})
	}
	return dst
}

func (h *hashes) hashSubject(dst []byte, issuer, subject string) []byte {
	w := h.pool.Get().(*hashing) //nolint:errcheck // nothing else is in it
	w.text = append(w.text[:0], "subject\n"...)
	w.text = append(append(w.text, issuer...), '\n')
	w.text = append(w.text, subject...)
	return h.finish(dst, w)
}

// appendArguments appends the hash of "arguments", a line feed, and the canonical form of a JSON
// text.
func (h *hashes) appendArguments(dst, arguments []byte) []byte {
	w := h.pool.Get().(*hashing) //nolint:errcheck // nothing else is in it
	w.text = append(w.text[:0], "arguments\n"...)
	w.text = jsonscan.AppendCanonical(w.text, arguments)
	return h.finish(dst, w)
}

// finish appends the hash of the text, in hexadecimal digits.
func (h *hashes) finish(dst []byte, w *hashing) []byte {
	w.mac.Reset()
	w.mac.Write(w.text)
	dst = hex.AppendEncode(dst, w.mac.Sum(w.sum[:0]))
	if cap(w.text) > maxKeptText {
		w.text = nil
	}
	h.pool.Put(w)
	return dst
}
