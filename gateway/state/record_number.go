package state

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

const (
	// settled is the number of a record that settles its name: the highest.
	settled = 1 << 50
	// numberDigits is how many digits a number has where Redis compares it.
	numberDigits = 16
)

// numbered is a record that replicas share.
type numbered struct {
	// number is one more than that of the record in whose place it was put. It is not a time, since clocks differ.
	number int64
	owner  string
	value  []byte
	until  time.Time
}

// plain is the record as bytes, which [parseRecord] reads.
func (n numbered) plain() []byte {
	dst := make([]byte, 0, 16+binary.MaxVarintLen64+len(n.owner)+len(n.value))
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.number))            //nolint:gosec // not below 0
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.until.UnixMilli())) //nolint:gosec // after 1970
	dst = binary.AppendUvarint(dst, uint64(len(n.owner)))
	return append(append(dst, n.owner...), n.value...)
}

// parseRecord reads what plain has made; false: it was not.
func parseRecord(plain []byte) (n numbered, ok bool) {
	if len(plain) < 16 {
		return n, false
	}
	const most = 1 << 50 // milliseconds: no time in them overflows
	number, until := binary.BigEndian.Uint64(plain), binary.BigEndian.Uint64(plain[8:])
	owner, digits := binary.Uvarint(plain[16:])
	if number > settled || until > most || digits <= 0 || owner > uint64(len(plain)-16-digits) {
		return n, false
	}
	rest := plain[16+digits:]
	return numbered{int64(number), string(rest[:owner]), rest[owner:], time.UnixMilli(int64(until))}, true
}

// withNumber puts the number in front of a sealed record, where Redis can read it. It is sealed as well: a record with another one in front does not
// count.
func withNumber(number int64, sealed string) string {
	return fmt.Sprintf("%0*d", numberDigits, number) + sealed
}

// cutNumber undoes that.
func cutNumber(text string) (number int64, sealed string, ok bool) {
	if len(text) < numberDigits {
		return 0, "", false
	}
	number, err := strconv.ParseInt(text[:numberDigits], 10, 64)
	return number, text[numberDigits:], err == nil
}
