package gateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// cursorLife is how long a cursor of tools/list may be used (T20).
const cursorLife = 10 * time.Minute

// cursors seals the position in a list of several pages, so that it can be used only by the caller whom it was
// given to, on the list that it belongs to, and for a limited time. Any replica with the same keys can open it.
type cursors struct{ aeads []cipher.AEAD } // the first seals, all open

var errCursor = errors.New("cursor is not valid")

func newCursors(keys [][]byte) (*cursors, error) {
	if len(keys) == 0 {
		keys = [][]byte{[]byte(rand.Text() + rand.Text())}
	}
	c := &cursors{}
	for _, k := range keys {
		key, err := hkdf.Key(sha256.New, k, nil, "drawbridge cursor", 32)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		c.aeads = append(c.aeads, aead)
	}
	return c, nil
}

func (c *cursors) seal(page int, principal string, list [32]byte) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(cursorLife).Unix()))
	text = binary.BigEndian.AppendUint32(text, uint32(page))
	return base64.RawURLEncoding.EncodeToString(c.aeads[0].Seal(nil, nil, text, binding(principal, list)))
}

func (c *cursors) open(cursor, principal string, list [32]byte) (page int, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, errCursor
	}
	for _, a := range c.aeads {
		text, err := a.Open(nil, nil, sealed, binding(principal, list))
		if err != nil || len(text) != 12 {
			continue
		}
		if time.Now().Unix() > int64(binary.BigEndian.Uint64(text)) {
			return 0, errCursor
		}
		return int(binary.BigEndian.Uint32(text[8:])), nil
	}
	return 0, errCursor
}

// binding is the associated data of a cursor: what must be the same when it comes back.
func binding(principal string, list [32]byte) []byte { return append(list[:], principal...) }
