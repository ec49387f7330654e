package state

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

const (
	// settled is the number of a final record: the highest.
	settled = 1 << 50
	// numberDigits is the number of digits of a record number in Redis, where it is compared.
	numberDigits = 16
)

// numbered is a shared record.
type numbered struct {
	// number is one more than that of the record that it replaced. It is not a time, since clocks
	// differ.
	number int64
	owner  string
	value  []byte
	until  time.Time
}

// plain encodes the record for [parseRecord].
func (n numbered) plain() []byte {
	dst := make([]byte, 0, 16+binary.MaxVarintLen64+len(n.owner)+len(n.value))
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.number))            //nolint:gosec // not below 0
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.until.UnixMilli())) //nolint:gosec // after 1970
	dst = binary.AppendUvarint(dst, uint64(len(n.owner)))
	return append(append(dst, n.owner...), n.value...)
}

// parseRecord decodes the result of plain, and returns false for anything else.
func parseRecord(plain []byte) (n numbered, ok bool) {
	if len(plain) < 16 {
		return n, false
	}
	const most = 1 << 50 // milliseconds: no such time overflows
	number, until := binary.BigEndian.Uint64(plain), binary.BigEndian.Uint64(plain[8:])
	owner, digits := binary.Uvarint(plain[16:])
	if number > settled || until > most || digits <= 0 || owner > uint64(len(plain)-16-digits) {
		return n, false
	}
	rest := plain[16+digits:]
	return numbered{int64(number), string(rest[:owner]), rest[owner:], time.UnixMilli(int64(until))}, true
}

// withNumber prepends the number to a sealed record, where Redis can read it. It is sealed as well:
// a record with a different number in front is rejected.
func withNumber(number int64, sealed string) string {
	return fmt.Sprintf("%0*d", numberDigits, number) + sealed
}

// cutNumber undoes withNumber.
func cutNumber(text string) (number int64, sealed string, ok bool) {
	if len(text) < numberDigits {
		return 0, "", false
	}
	number, err := strconv.ParseInt(text[:numberDigits], 10, 64)
	return number, text[numberDigits:], err == nil
}
