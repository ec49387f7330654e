package text

import "strings"

// NameWords returns the words of a name in lower case: those of orderNo, order_no and order-no are
// "order" and "no". Of a longer name only the first 100 bytes count.
func NameWords(name string) []string {
	var b strings.Builder
	small := false // the character before is a lower case letter or a digit
	for i := range min(len(name), 100) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			if small {
				b.WriteByte(' ')
			}
			b.WriteByte(c + 'a' - 'A')
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80:
			b.WriteByte(c)
		default:
			b.WriteByte(' ')
		}
		small = c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
	}
	return strings.Fields(b.String())
}
