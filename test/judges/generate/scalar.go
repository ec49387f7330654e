package generate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// alphabet has what means something in a URL, a header, a cookie, a form, or to some reader of them.
var alphabet = []string{" ", "&", "=", "+", "%", "/", "?", "#", ",", ";", ":", "@", "%20", "%2F", "%zz", "'", "\"", "(", ")", "*", "!", "$",
	"[", "]", "{", "}", "|", "\\", "^", "`", "<", ">", "~", ".", "_", "-", "é", "ß", "✓", "日本", "😀"}

// longest is how long a text is made for the sake of its bound.
const longest = 1000

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// word is n letters and digits, a letter first.
func (m *maker) word(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[m.r.IntN(len(letters))]
	}
	if n > 0 {
		b[0] = letters[m.r.IntN(52)]
	}
	return string(b)
}

// nasty is a text of n pieces of the alphabet among letters.
func (m *maker) nasty(n int) string {
	var b strings.Builder
	for range n {
		if m.r.IntN(3) == 0 {
			b.WriteByte(letters[m.r.IntN(len(letters))])
		} else {
			b.WriteString(alphabet[m.r.IntN(len(alphabet))])
		}
	}
	return b.String()
}

func (m *maker) text(p parts) (any, error) {
	least, most := p.least("minLength"), p.most("maxLength")
	if least > 100_000 {
		return nil, fmt.Errorf("%w: %d characters are wanted", errUnfit, least)
	}
	if patterns := p.all("pattern"); len(patterns) > 0 {
		pattern, _ := patterns[0].(string)
		if text, ok := m.formattedAndMatching(p, pattern, least, most); ok {
			return text, nil
		}
		return m.matching(pattern, least, most)
	}
	encoded := slices.Contains(p.all("contentEncoding"), any("base64"))
	for _, format := range p.all("format") {
		format, _ := format.(string)
		if format == "byte" || format == "binary" || format == "base64" {
			encoded = true
		} else if text := m.formatted(format); text != "" {
			if n := utf8.RuneCountInString(text); n >= least && n <= most {
				return text, nil
			}
		}
	}
	if encoded {
		if text := m.base64(least); len(text) <= most {
			return text, nil
		}
	}
	var text string
	switch {
	case m.o.Plain || m.r.IntN(3) == 0:
		text = m.word(min(max(least, 3+m.r.IntN(6)), most))
	case least == 0 && !m.o.NoEmpty && m.r.IntN(16) == 0:
		return "", nil
	default:
		text = m.nasty(max(least, 1+m.r.IntN(6)))
	}
	if n := utf8.RuneCountInString(text); m.o.Bounds && n < most && most <= longest && m.r.IntN(8) == 0 {
		text += m.word(most - n)
	}
	if n := utf8.RuneCountInString(text); n > most {
		text = string([]rune(text)[:most])
	}
	return text, nil
}

// base64 encodes bytes, as at least so many characters.
func (m *maker) base64(least int) string {
	raw := make([]byte, max(least*3/4+3, 3)+m.r.IntN(8))
	for i := range raw {
		raw[i] = byte(m.r.IntN(256))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// formattedAndMatching makes a text of the format that a schema has beside a pattern, if it fits the pattern too: a date is
// more than digits with dashes.
func (m *maker) formattedAndMatching(p parts, pattern string, least, most int) (string, bool) {
	re, err := regexp.Compile(withoutLookaround(pattern))
	if err != nil {
		return "", false
	}
	for _, format := range p.all("format") {
		format, _ := format.(string)
		for range 8 {
			text := m.formatted(format)
			if format == "byte" || format == "base64" {
				text = m.base64(least)
			}
			if n := utf8.RuneCountInString(text); text != "" && n >= least && n <= most && re.MatchString(text) {
				return text, true
			}
		}
	}
	return "", false
}

// formatted makes a text of a format that services know, "" for others.
func (m *maker) formatted(format string) string {
	at := time.Date(2001+m.r.IntN(40), time.Month(1+m.r.IntN(12)), 1+m.r.IntN(28), m.r.IntN(24), m.r.IntN(60), m.r.IntN(60), 0, time.UTC)
	switch format {
	case "date":
		return at.Format(time.DateOnly)
	case "date-time":
		return at.Format(time.RFC3339)
	case "time":
		return at.Format("15:04:05Z")
	case "duration":
		return fmt.Sprintf("P%dDT%dH", 1+m.r.IntN(20), 1+m.r.IntN(20))
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", m.r.Uint32(), m.r.IntN(1<<16), m.r.IntN(1<<12), m.r.IntN(1<<12), m.r.Uint64N(1<<48))
	case "email", "idn-email":
		return strings.ToLower(m.word(5)) + "@example.com"
	case "uri", "url", "iri", "uri-reference", "iri-reference":
		return "https://example.com/" + m.word(5)
	case "uri-template":
		return "https://example.com/{" + m.word(3) + "}"
	case "hostname", "idn-hostname":
		return strings.ToLower(m.word(5)) + ".example.com"
	case "ipv4":
		return fmt.Sprintf("192.0.2.%d", m.r.IntN(256))
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", 1+m.r.IntN(1<<15))
	case "json-pointer":
		return "/" + m.word(3)
	case "relative-json-pointer":
		return "0/" + m.word(3)
	case "regex":
		return "^" + m.word(3) + "$"
	}
	return ""
}

// keeps tells whether a text is of a format; of formats that it does not know every text is.
func keeps(format, text string) bool {
	switch format {
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	case "time":
		_, err := time.Parse("15:04:05Z07:00", text)
		return err == nil
	case "uri", "url", "iri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs() && u.Host != ""
	case "email", "idn-email":
		_, err := mail.ParseAddress(text)
		return err == nil && !strings.ContainsAny(text, " <>")
	case "ipv4", "ipv6":
		a, err := netip.ParseAddr(text)
		return err == nil && a.Is4() == (format == "ipv4")
	case "uuid":
		return uuid.MatchString(text)
	case "byte", "base64":
		_, err := base64.StdEncoding.DecodeString(text)
		return err == nil
	case "duration":
		return strings.HasPrefix(text, "P")
	}
	return true
}

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// bounds are the least and greatest number; a nil one is not given. An open one is itself not allowed.
type bounds struct {
	low, high         *big.Rat
	lowOpen, highOpen bool
}

func (b *bounds) raise(low *big.Rat, open bool) {
	if low == nil {
		return
	}
	if b.low != nil {
		if c := low.Cmp(b.low); c < 0 || c == 0 && !open {
			return
		}
	}
	b.low, b.lowOpen = low, open
}

func (b *bounds) lower(high *big.Rat, open bool) {
	if high == nil {
		return
	}
	if b.high != nil {
		if c := high.Cmp(b.high); c > 0 || c == 0 && !open {
			return
		}
	}
	b.high, b.highOpen = high, open
}

func (b *bounds) holds(r, step *big.Rat) bool {
	if b.low != nil {
		if c := r.Cmp(b.low); c < 0 || c == 0 && b.lowOpen {
			return false
		}
	}
	if b.high != nil {
		if c := r.Cmp(b.high); c > 0 || c == 0 && b.highOpen {
			return false
		}
	}
	return step == nil || new(big.Rat).Quo(r, step).IsInt()
}

func rational(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok || len(n) > 100 {
		return nil
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(n.String()), "e"); ok {
		if e, err := strconv.Atoi(exponent); err != nil || e > 400 || e < -400 {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil
	}
	return r
}

func (m *maker) number(p parts, whole bool) (any, error) {
	var b bounds
	step := (*big.Rat)(nil)
	fine := big.NewRat(1, 8)
	for _, v := range p.all("multipleOf") {
		if s := rational(v); s != nil && s.Sign() > 0 {
			step = s
		}
	}
	if whole {
		fine = big.NewRat(1, 1)
		if step == nil || !step.IsInt() {
			step = fine
		}
	}
	for _, v := range p.all("minimum") {
		b.raise(rational(v), false)
	}
	for _, v := range p.all("maximum") {
		b.lower(rational(v), false)
	}
	for _, v := range p.all("exclusiveMinimum") {
		b.raise(rational(v), true)
	}
	for _, v := range p.all("exclusiveMaximum") {
		b.lower(rational(v), true)
	}
	wide := false // int64 may go to its ends
	for _, v := range p.all("format") {
		switch v {
		case "int8", "int16", "int32":
			bits := map[any]uint{"int8": 7, "int16": 15, "int32": 31}[v]
			limit := new(big.Int).Lsh(big.NewInt(1), bits)
			b.raise(new(big.Rat).SetInt(new(big.Int).Neg(limit)), false)
			b.lower(new(big.Rat).SetInt(limit.Sub(limit, big.NewInt(1))), false)
		case "uint8", "uint16", "uint32", "uint64":
			bits := map[any]uint{"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}[v]
			limit := new(big.Int).Lsh(big.NewInt(1), bits)
			b.raise(new(big.Rat), false)
			b.lower(new(big.Rat).SetInt(limit.Sub(limit, big.NewInt(1))), false)
		case "int64":
			wide = true
		}
	}
	if whole && !m.o.SafeNumbers && !m.o.Plain && m.r.IntN(4) == 0 {
		edges := []string{"0", "-1", "2147483648", "9007199254740993", "-9007199254740993", "1000000"}
		if wide {
			edges = append(edges, "9223372036854775807", "-9223372036854775808")
		}
		if r := rational(json.Number(edges[m.r.IntN(len(edges))])); b.holds(r, step) {
			return json.Number(r.Num().String()), nil
		}
	}
	if !whole && !m.o.Plain && m.r.IntN(4) == 0 {
		edges := []string{"0.1", "-0.5", "123456789.125", "3", "0"}
		if !m.o.SafeNumbers {
			edges = append(edges, "0.30000000000000000001", "12345678901234567890.5", "1e-7")
		}
		n := json.Number(edges[m.r.IntN(len(edges))])
		if b.holds(rational(n), step) {
			return n, nil
		}
	}
	return m.between(b, step, fine)
}

// between takes a multiple of step, or of fine without one, within the bounds.
func (m *maker) between(b bounds, step, fine *big.Rat) (any, error) {
	if step == nil {
		step = fine
		if b.low != nil && b.high != nil { // a narrow range needs a finer one
			for range 12 {
				if new(big.Rat).Add(b.low, new(big.Rat).Add(step, step)).Cmp(b.high) <= 0 {
					break
				}
				step = new(big.Rat).Quo(step, big.NewRat(10, 1))
			}
			if b.low.Cmp(b.high) == 0 && !b.lowOpen && !b.highOpen {
				return decimal(b.low), nil
			}
		}
	}
	var least, most *big.Int
	if b.low != nil {
		q := new(big.Rat).Quo(b.low, step)
		least = new(big.Int).Div(q.Num(), q.Denom())
		if !q.IsInt() || b.lowOpen {
			least.Add(least, big.NewInt(1))
		}
	}
	if b.high != nil {
		q := new(big.Rat).Quo(b.high, step)
		most = new(big.Int).Div(q.Num(), q.Denom())
		if q.IsInt() && b.highOpen {
			most.Sub(most, big.NewInt(1))
		}
	}
	room := big.NewInt(int64(200 + m.r.IntN(800)))
	switch {
	case least == nil && most == nil:
		least = big.NewInt(1)
		if !m.o.Plain {
			least = big.NewInt(-100)
		}
		most = new(big.Int).Add(least, room)
	case least == nil:
		least = new(big.Int).Sub(most, room)
		if least.Sign() < 0 && most.Sign() > 0 {
			least = big.NewInt(1)
		}
	case most == nil:
		most = new(big.Int).Add(least, room)
	}
	span := new(big.Int).Sub(most, least)
	if span.Sign() < 0 {
		return nil, fmt.Errorf("%w: no number is within the bounds", errUnfit)
	}
	steps := int64(1000)
	if span.IsInt64() && span.Int64() < steps {
		steps = span.Int64()
	}
	k := new(big.Int).Add(least, big.NewInt(m.r.Int64N(steps+1)))
	if !m.o.Plain && m.r.IntN(8) == 0 {
		k = most
	}
	if m.o.Bounds && m.r.IntN(8) == 0 {
		k = least
	}
	if m.o.Plain && least.Sign() < 0 && most.Sign() > 0 && m.r.IntN(8) > 0 {
		if most.IsInt64() {
			k = big.NewInt(1 + m.r.Int64N(min(most.Int64(), 1000)))
		} else {
			k = big.NewInt(1 + m.r.Int64N(1000))
		}
	}
	return decimal(new(big.Rat).Mul(new(big.Rat).SetInt(k), step)), nil
}

// decimal writes a number without exponent and needless zeros.
func decimal(r *big.Rat) json.Number {
	if r.IsInt() {
		return json.Number(r.Num().String())
	}
	return json.Number(strings.TrimRight(r.FloatString(30), "0"))
}
