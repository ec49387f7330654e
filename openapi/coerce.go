package openapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// maxHealing is how often arguments are healed: what a string holds may hold strings again, and a validator names only
// so many faults at once. Large ones are healed no further once maxHealed bytes were gone through: each time costs as much
// as all other checks together.
const (
	// maxHealing is how often values are replaced: a text may hold objects with texts that hold objects.
	maxHealing = 8
	// maxHealed is how many bytes of arguments are validated for one call to be healed, in the end.
	maxHealed = 1 << 20
	// maxHealedFaults is how many faults are looked at each time: clients that fill in every argument give hundreds of nulls.
	maxHealedFaults = 500
)

// healed is what became of arguments that were refused.
type healed struct {
	args    json.RawMessage // nil: some faults are left
	dropped []string        // pointers of members that count as absent
	left    []schema.Fault
}

// heal replaces values that are at fault and are strings holding JSON by what they hold, at any depth: models write
// {"filter":"{\"a\":1}"} and {"limit":"5"} (pains row 32). Members that are at fault and stand for nothing count as absent, see
// isAbsent. Without arguments in the result some faults are left, and it has those of the faults that are not gone: what could be
// healed needs no correction.
func (o *Operation) heal(v *schema.Validator, args json.RawMessage, faults []schema.Fault) healed {
	all := faults
	if len(faults) > schema.MaxFaults {
		all = v.ValidateUpTo(decode(args), maxHealedFaults)
	}
	h := healing{o: o, v: v, empties: httpmethod.IsSafe(o.Method)}
	result := h.run(args, all)
	if result.args != nil {
		return result
	}
	result.left = unhealed(faults, result.left)
	if !h.empties {
		h.empties = true
		sayOptional(args, result.left, h.run(args, all))
	}
	return result
}

// healing is the work on the arguments of one call.
type healing struct {
	o       *Operation
	v       *schema.Validator
	empties bool            // not only null stands for nothing
	kept    map[string]bool // pointers of members that are not dropped, since they are required
	work    int             // bytes so far
}

// run heals, and keeps what is missed when it is dropped. All faults that are left are in the result.
func (h *healing) run(args json.RawMessage, faults []schema.Fault) healed {
	h.kept = make(map[string]bool)
	for {
		result := h.once(args, faults)
		if result.args != nil || !h.keep(result) {
			return result
		}
	}
}

// once heals without dropping what is to be kept.
func (h *healing) once(args json.RawMessage, faults []schema.Fault) healed {
	first := faults
	var dropped []string
	for range maxHealing {
		if h.work > maxHealed/2 {
			break
		}
		h.work += len(args)
		pass := healer{
			scanning: h.o.scanning(), at: make(map[string]bool, len(faults)), above: make(map[string]bool, len(faults)),
			empties: h.empties, kept: h.kept, dropped: dropped,
		}
		for _, f := range faults {
			pass.at[f.Pointer] = true
			for p := f.Pointer; p != ""; p = p[:strings.LastIndexByte(p, '/')] {
				pass.above[p] = true
			}
		}
		args = pass.append(nil, args, "")
		if !pass.changed {
			break
		}
		if _, err := jsonscan.Scan(args, h.o.scanning()); err != nil {
			return healed{left: first} // too deep, all put together
		}
		dropped = pass.dropped
		if faults = h.v.ValidateUpTo(decode(args), maxHealedFaults); len(faults) == 0 {
			return healed{args: args, dropped: dropped}
		}
	}
	return healed{dropped: dropped, left: faults}
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
	empties  bool            // not only null stands for nothing
	kept     map[string]bool // pointers of members that are not dropped
	dropped  []string        // pointers of those that were
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
			below := pointer + pointerTo(string(name))
			if h.at[below] && !h.kept[below] && isAbsent(member, h.empties) {
				h.dropped, h.changed = append(h.dropped, below), true
				continue
			}
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(jsonscan.AppendString(dst, name), ':')
			dst = h.append(dst, member, below)
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
