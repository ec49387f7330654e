package openapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// maxHealing is how often arguments are healed: what a string holds may hold strings again, and a validator names only
// so many faults at once. Large ones are healed no further once maxHealed bytes were gone through: each time costs as much
// as all other checks together.
const (
	maxHealing = 8
	maxHealed  = 1 << 20
)

// heal replaces values that are at fault and are strings holding JSON by what they hold, at any depth: models write
// {"filter":"{\"a\":1}"} and {"limit":"5"} (pains row 32). It returns nil
// unless all faults are gone then, and those of faults that are not: what could be healed needs no correction.
func (o *Operation) heal(v *schema.Validator, args json.RawMessage, faults []schema.Fault) (json.RawMessage, []schema.Fault) {
	work, first := 0, faults
	for range maxHealing {
		if work > maxHealed/2 {
			break
		}
		work += len(args)
		h := healer{scanning: o.scanning(), at: make(map[string]bool, len(faults)), above: make(map[string]bool, len(faults))}
		for _, f := range faults {
			h.at[f.Pointer] = true
			for p := f.Pointer; p != ""; p = p[:strings.LastIndexByte(p, '/')] {
				h.above[p] = true
			}
		}
		args = h.append(make([]byte, 0, len(args)), args, "")
		if !h.changed {
			break
		}
		if _, err := jsonscan.Scan(args, o.scanning()); err != nil {
			return nil, first // too deep, all put together
		}
		if faults = v.Validate(decode(args)); len(faults) == 0 {
			return args, nil
		}
	}
	return nil, unhealed(first, faults)
}

// unhealed returns those of the first faults in whose place, or below it, some are left. Where a value had another type than is
// wanted, and what it holds has not, what is wrong with that is told.
func unhealed(first, left []schema.Fault) []schema.Fault {
	var kept []schema.Fault
	for _, f := range first {
		var below []schema.Fault
		for _, l := range left {
			if l.Pointer == f.Pointer || strings.HasPrefix(l.Pointer, f.Pointer+"/") {
				below = append(below, l)
			}
		}
		switch {
		case len(below) == 0:
		case strings.HasPrefix(f.Message, "expected "):
			kept = append(kept, below...)
		default:
			kept = append(kept, f)
		}
	}
	if kept == nil {
		return first
	}
	return kept
}

// A healer goes through the arguments once.
type healer struct {
	scanning jsonscan.Options
	at       map[string]bool // pointers of faults
	above    map[string]bool // those and all that lead to them
	changed  bool
}

func (h *healer) append(dst, value []byte, pointer string) []byte {
	switch kind := jsonscan.KindOf(value); {
	case kind == jsonscan.String && h.at[pointer]:
		return append(dst, h.held(value)...)
	case pointer != "" && !h.above[pointer]:
		return append(dst, value...)
	case kind == jsonscan.Object:
		dst = append(dst, '{')
		for name, member := range jsonscan.Members(value) {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(jsonscan.AppendString(dst, name), ':')
			dst = h.append(dst, member, pointer+pointerTo(string(name)))
		}
		return append(dst, '}')
	case kind == jsonscan.Array:
		dst = append(dst, '[')
		i := 0
		for item := range jsonscan.Elements(value) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = h.append(dst, item, pointer+"/"+strconv.Itoa(i))
			i++
		}
		return append(dst, ']')
	}
	return append(dst, value...)
}

// held returns what a string holds, the string itself if that is nothing.
func (h *healer) held(value []byte) []byte {
	text := bytes.TrimSpace(jsonscan.Unquote(value))
	if info, err := jsonscan.Scan(text, h.scanning); err == nil && info.Kind != jsonscan.String {
		h.changed = true
		return text
	}
	return value
}
