package filestore

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
)

// maxOffer is the longest time for which an offer is valid.
const maxOffer = 5 * time.Minute

// Offer lets its holder store one file of a principal, without a token of the principal.
type Offer struct {
	Metadata
	Owner   string
	ID      string // of the file
	Size    int64  // of the file in bytes, exactly
	Expires time.Time
}

// sealedOffer is an offer as it is sealed.
type sealedOffer struct {
	Owner, ID, Name, Type, Tool string
	Size, Expires               int64
}

// offerPlace is what offers are bound to. It is no place of a file.
const offerPlace = "offer"

// Offer offers a principal to store a file of a size and with metadata. The result is the offer as a text that opens with [Store.OpenOffer]
// for 5 minutes, or the lifetime of a file if that is shorter, so that a file that was stored is there for as long as its offer. It is for a
// URL: [A-Za-z0-9_-].
func (s *Store) Offer(owner string, m Metadata, size int64) (sealed string, o Offer, err error) {
	o = Offer{Metadata: m, Owner: owner, ID: newID(), Size: size, Expires: time.Now().Add(min(maxOffer, s.limits.TTL)).Truncate(time.Second)}
	text, err := json.Marshal(sealedOffer{owner, o.ID, m.Name, m.MediaType, m.Tool, size, o.Expires.Unix()})
	if err != nil {
		return "", Offer{}, err
	}
	return base64.RawURLEncoding.EncodeToString((*s.keys.Load())[0].seal.Seal(nil, nil, text, []byte(offerPlace))), o, nil
}

// OpenOffer opens an offer. ok is false for one that was altered, has expired, or whose file is stored.
func (s *Store) OpenOffer(sealed string) (o Offer, ok bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return Offer{}, false
	}
	for _, k := range *s.keys.Load() {
		text, err := k.seal.Open(nil, nil, data, []byte(offerPlace))
		if err != nil {
			continue
		}
		var from sealedOffer
		if json.Unmarshal(text, &from) != nil || !time.Now().Before(time.Unix(from.Expires, 0)) {
			return Offer{}, false
		}
		o = Offer{Metadata{Name: from.Name, MediaType: from.Type, Tool: from.Tool}, from.Owner, from.ID, from.Size, time.Unix(from.Expires, 0)}
		return o, !s.has(o.Owner, o.ID)
	}
	return Offer{}, false
}

// has reports whether a file is stored, under any of the keys.
func (s *Store) has(owner, id string) bool {
	for i := range *s.keys.Load() {
		if _, err := os.Lstat(s.path((*s.keys.Load())[i].folderOf(owner), id+suffix)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// ErrTaken means that the file of an offer is stored, or is being stored.
var ErrTaken = errors.New("the file was sent before")

// CreateOffered begins the file of an offer. Only one writer at a time has it, in all processes that share the directory. The error is
// [ErrTaken] or an [*Error].
func (s *Store) CreateOffered(o Offer) (*Writer, error) {
	w, err := s.begin(o.Owner, o.ID)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, ErrTaken
	case err != nil:
		return nil, err
	case s.has(o.Owner, o.ID): // another writer has ended since the offer was opened
		w.Abort()
		return nil, ErrTaken
	}
	return w, nil
}
