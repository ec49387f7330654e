package render

import (
	"fmt"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Summary describes a JSON text in a few words, without its values.
func Summary(data []byte) string {
	const most = 140 // total length of the names, in bytes
	switch kind := jsonscan.KindOf(data); kind {
	case jsonscan.Array:
		n := 0
		for range jsonscan.Elements(data) {
			n++
		}
		if n == 1 {
			return "an array of 1 element"
		}
		return fmt.Sprintf("an array of %d elements", n)
	case jsonscan.Object:
		names, n := "", 0
		for name := range jsonscan.Members(data) {
			shown := text.Truncate(strings.ToValidUTF8(string(name), "\uFFFD"), 40)
			if len(names)+len(shown) > most {
				names += " and more"
				break
			}
			if names != "" {
				names += ", "
			}
			names += shown
			n++
		}
		switch n {
		case 0:
			return "an empty object"
		case 1:
			return "an object with the member " + names
		}
		return "an object with the members " + names
	case jsonscan.Null:
		return "null"
	case jsonscan.Bool, jsonscan.Number, jsonscan.String:
		return "a " + kind.String()
	}
	return "nothing"
}
