package mcp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"drawbridge/openapi/jsonscan"
)

// jsonDigest returns a SHA-256 of a scanned JSON value that does not depend on white space, the order of members or the
// spelling of strings. Numbers are compared as they are spelled, since a client that repeats a request copies them. nil
// stands for an empty object.
func jsonDigest(value []byte) [sha256.Size]byte {
	if value == nil {
		value = []byte("{}")
	}
	h := sha256.New()
	writeDigest(h, value)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// writeDigest hashes a value, each part with its kind and length.
func writeDigest(h hash.Hash, value []byte) {
	value = bytes.TrimSpace(value)
	kind := jsonscan.KindOf(value)
	switch kind {
	case jsonscan.Object:
		type member struct{ name, value []byte }
		var members []member
		for name, v := range jsonscan.Members(value) {
			members = append(members, member{bytes.Clone(name), v})
		}
		slices.SortFunc(members, func(a, b member) int { return cmp.Compare(string(a.name), string(b.name)) })
		writeDigestHead(h, kind, len(members))
		for _, m := range members {
			writeDigestHead(h, jsonscan.String, len(m.name))
			h.Write(m.name)
			writeDigest(h, m.value)
		}
	case jsonscan.Array:
		n := 0
		for range jsonscan.Elements(value) {
			n++
		}
		writeDigestHead(h, kind, n)
		for e := range jsonscan.Elements(value) {
			writeDigest(h, e)
		}
	case jsonscan.String:
		text := jsonscan.Unquote(value)
		writeDigestHead(h, kind, len(text))
		h.Write(text)
	default:
		writeDigestHead(h, kind, len(value))
		h.Write(value)
	}
}

func writeDigestHead(h hash.Hash, kind jsonscan.Kind, n int) {
	var head [9]byte
	head[0] = byte(kind)
	binary.BigEndian.PutUint64(head[1:], uint64(n))
	h.Write(head[:])
}
