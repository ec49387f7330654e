package filestore

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"filippo.io/age"
)

// key is what the files of one secret are sealed with.
type key struct {
	folder []byte      // of the names of folders
	seal   cipher.AEAD // of heads, and of the keys of files
}

// newKeys derives keys from secrets that seal other things, too. The labels separate these keys from all others.
func newKeys(secrets [][]byte) ([]key, error) {
	keys := make([]key, len(secrets))
	for i, secret := range secrets {
		folder, err := hkdf.Key(sha256.New, secret, nil, "drawbridge file folder", 32)
		if err != nil {
			return nil, fmt.Errorf("derive key: %w", err)
		}
		sealing, err := hkdf.Key(sha256.New, secret, nil, "drawbridge file", 32)
		if err != nil {
			return nil, fmt.Errorf("derive key: %w", err)
		}
		block, err := aes.NewCipher(sealing)
		if err != nil {
			return nil, err
		}
		seal, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		keys[i] = key{folder, seal}
	}
	return keys, nil
}

// folderOf returns the name of the folder with the files of a principal, which does not reveal it.
func (k *key) folderOf(owner string) string {
	mac := hmac.New(sha256.New, k.folder)
	mac.Write([]byte(owner))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// headSize is the size in bytes of the sealed head, which stands before the encrypted content of a file. It is the same for all files, so
// that it can be written when the content is complete: the file appears with its head, or not at all.
const headSize = 4 << 10

// head is the metadata of a file as it is sealed.
type head struct {
	Name, Type, API, Tool string
	Size                  int64
	Expires               int64 // seconds since 1970
}

// sealHead returns the sealed head of the file at a place.
func (k *key) sealHead(h head, place string) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	room := headSize - k.seal.Overhead()
	if len(text) > room {
		return nil, fmt.Errorf("metadata of %d bytes, more than %d", len(text), room)
	}
	text = append(text, bytes.Repeat([]byte{' '}, room-len(text))...)
	return k.seal.Seal(nil, nil, text, []byte(place)), nil
}

var errSealed = errors.New("the file does not open")

// openHead returns the head of the file at a place.
func (k *key) openHead(sealed []byte, place string) (h head, err error) {
	text, err := k.seal.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return head{}, errSealed
	}
	return h, json.Unmarshal(text, &h)
}

// stanzaType is the type of the recipient stanza in the header of an encrypted file (age-encryption.org/v1).
const stanzaType = "drawbridge"

// envelope wraps the keys of the file at a place. It implements [age.Recipient] and [age.Identity].
type envelope struct {
	*key
	place string // so that the content of one file does not open as that of another
}

// Wrap implements [age.Recipient].
func (e envelope) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	return []*age.Stanza{{Type: stanzaType, Body: e.seal.Seal(nil, nil, fileKey, []byte("key of "+e.place))}}, nil
}

// Unwrap implements [age.Identity].
func (e envelope) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != stanzaType || len(s.Args) > 0 {
			continue
		}
		if fileKey, err := e.seal.Open(nil, nil, s.Body, []byte("key of "+e.place)); err == nil {
			return fileKey, nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}
