package jsonscan

import "encoding/binary"

// prefix is a text that other texts may begin with. Half of the strings of a response are member names, most of them
// short, so its first two words are compared without a call or a loop.
type prefix struct {
	text         string
	words, masks [2]uint64
}

func newPrefix(text string) prefix {
	var b, mask [16]byte
	for i := range copy(b[:], text) {
		mask[i] = 0xff
	}
	return prefix{
		text:  text,
		words: [2]uint64{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])},
		masks: [2]uint64{binary.LittleEndian.Uint64(mask[:]), binary.LittleEndian.Uint64(mask[8:])},
	}
}

// of reports whether b begins with the prefix; no text begins with the zero prefix.
func (p *prefix) of(b []byte) bool {
	n := len(p.text)
	if len(b) >= 16 {
		w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		if (w0^p.words[0])&p.masks[0]|(w1^p.words[1])&p.masks[1] != 0 {
			return false
		}
		if n <= 16 {
			return n > 0
		}
	}
	return n > 0 && len(b) >= n && string(b[:n]) == p.text
}
