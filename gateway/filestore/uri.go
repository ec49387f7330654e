package filestore

import (
	"crypto/rand"
	"encoding/base32"
	"regexp"
	"strconv"
	"strings"
)

// Scheme is the scheme of a file's URI, which its id follows. A URI grants nothing by itself: a file is opened for its principal only.
const Scheme = "drawbridge-file:"

// idBytes is the length of an id before it is encoded. Ids need not be secret, only different, and models repeat them.
const idBytes = 10

var (
	idForm     = regexp.MustCompile(`\A[a-z2-7]{16}\z`)
	idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

func newID() string {
	id := make([]byte, idBytes)
	rand.Read(id) // never fails (crypto/rand)
	return idEncoding.EncodeToString(id)
}

// IsID reports whether a text has the form of an id. Such a text is safe as the name of a file.
func IsID(text string) bool { return idForm.MatchString(text) }

// Reference names a file, or a range of its bytes.
type Reference struct {
	ID    string
	First int64 // of the range, from 0
	Last  int64 // of the range, included; -1 for the whole file
}

// Whole reports whether the reference names the whole file.
func (r Reference) Whole() bool { return r.Last < 0 }

// String returns the URI.
func (r Reference) String() string {
	if r.Whole() {
		return Scheme + r.ID
	}
	return Scheme + r.ID + "?bytes=" + strconv.FormatInt(r.First, 10) + "-" + strconv.FormatInt(r.Last, 10)
}

// ParseURI returns the reference that a URI is: drawbridge-file:ID, or drawbridge-file:ID?bytes=FIRST-LAST. ok is false for any other text.
func ParseURI(uri string) (r Reference, ok bool) {
	text, found := strings.CutPrefix(uri, Scheme)
	if !found {
		return Reference{}, false
	}
	id, query, ranged := strings.Cut(text, "?")
	if !IsID(id) {
		return Reference{}, false
	}
	if !ranged {
		return Reference{ID: id, Last: -1}, true
	}
	bounds, found := strings.CutPrefix(query, "bytes=")
	first, last, both := strings.Cut(bounds, "-")
	if !found || !both {
		return Reference{}, false
	}
	from, err := strconv.ParseUint(first, 10, 62)
	to, toErr := strconv.ParseUint(last, 10, 62)
	if err != nil || toErr != nil || to < from || strconv.FormatUint(from, 10) != first || strconv.FormatUint(to, 10) != last {
		return Reference{}, false
	}
	return Reference{ID: id, First: int64(from), Last: int64(to)}, true
}
