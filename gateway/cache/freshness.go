package cache

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Rule configures caching for one operation. It is immutable.
type Rule struct {
	// TTL is the freshness lifetime of a response without max-age, Expires and no-cache. If 0, such
	// a response is not fresh.
	TTL time.Duration
	// Shared shares responses among callers, as configured. Responses that the service marks as
	// private are not stored then.
	Shared bool
	// MaxBytes is the maximum size of a stored response.
	MaxBytes int64
	// Keep reports whether a response may be stored according to its header, in addition to HTTP's
	// rules. It may be nil.
	Keep func(*http.Response) bool
	// Whole reports whether a response may be stored, when its body is complete. It may be nil.
	Whole func(head http.Header, body []byte) bool
	// Count is called with the outcome of each request, and for each stored response. It may be
	// nil.
	Count func(Outcome)
}

// Outcome is the outcome of a request.
type Outcome string

// Values of [Outcome]. Each request has one of the first five; Stored is counted in addition.
const (
	Hit         Outcome = "hit"         // a stored response was fresh
	Shared      Outcome = "shared"      // a response stored by another replica was fresh
	Revalidated Outcome = "revalidated" // a stored response was stale, and the service confirmed it
	Miss        Outcome = "miss"        // the service was asked
	Bypass      Outcome = "bypass"      // the request was not cacheable
	Stored      Outcome = "stored"      // a response was stored
)

// directives are the directives of Cache-Control (RFC 9111 section 5.2). A directive that is
// limited to some fields by an argument counts as one without, which is the strict interpretation.
type directives map[string]string

func parseControl(h http.Header) directives {
	d := directives{}
	for text, part, ok := strings.Join(h["Cache-Control"], ","), "", true; text != ""; {
		if part, text, ok = cutDirective(text); !ok {
			d["no-store"] = "" // malformed
			return d
		}
		name, value, _ := strings.Cut(part, "=")
		if name = strings.Trim(name, " \t"); strings.Trim(part, " \t") == "" {
			continue // an empty list element (RFC 9110 section 5.6.1.2)
		} else if !isToken(name) {
			d["no-store"] = "" // such as no-store before a no-break space, which another cache may accept
			return d
		}
		name = strings.ToLower(name)
		value = strings.Trim(strings.Trim(value, " \t"), `"`)
		if before, twice := d[name]; twice && seconds(before) < seconds(value) {
			continue // duplicate: the shorter time counts
		}
		d[name] = value
	}
	return d
}

// cutDirective returns the first directive of a list, and the rest. Commas in a quoted value do not
// separate (RFC 9110 section 5.6.4). It returns false if a quote is unterminated or misplaced.
func cutDirective(text string) (part, rest string, ok bool) {
	at := strings.IndexAny(text, `",`)
	if at < 0 {
		return text, "", true
	}
	if text[at] == ',' {
		return text[:at], text[at+1:], true
	}
	if !strings.HasSuffix(strings.TrimRight(text[:at], " \t"), "=") {
		return "", "", false
	}
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	if at >= len(text) {
		return "", "", false
	}
	part, rest, _ = strings.Cut(text[at+1:], ",")
	return text[:at+1], rest, strings.Trim(part, " \t") == ""
}

// isToken reports whether s is a token (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}

func (d directives) has(name string) bool { _, ok := d[name]; return ok }

// seconds parses a time; an invalid one is 0, which makes a response stale (RFC 9111 section
// 4.2.1).
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil && (text == "" || strings.Trim(text, "0123456789") != "") {
		return 0
	}
	return time.Duration(min(n, math.MaxInt32)) * time.Second
}

// longest is the maximum time (RFC 9111 section 1.2.2); the sum of two does not overflow.
const longest = math.MaxInt32 * time.Second

// storable reports whether a response may be stored (RFC 9111 section 3), and its freshness
// lifetime; said reports whether that is the service's. received is when the header arrived.
func (r *Rule) storable(resp *http.Response, received time.Time) (lifetime time.Duration, said, ok bool) {
	d := parseControl(resp.Header)
	switch {
	case d.has("no-store"), r.Shared && d.has("private"), varies(resp.Header), r.Keep != nil && !r.Keep(resp):
		return 0, false, false
	case r.Shared && len(resp.Header["Set-Cookie"]) > 0:
		return 0, false, false // it is for one client
	}
	lifetime, said = r.lifetime(resp.Header, d, received)
	switch resp.StatusCode {
	case http.StatusOK:
		return lifetime, said, lifetime > 0 || Validators(resp.Header) != nil
	case http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusNotFound, http.StatusGone:
		return lifetime, said, said && lifetime > 0 // the configured TTL does not apply
	}
	return 0, false, false
}

// lifetime returns the freshness lifetime of a response (RFC 9111 section 4.2.1), and whether the
// service has specified it.
func (r *Rule) lifetime(h http.Header, d directives, received time.Time) (_ time.Duration, said bool) {
	switch {
	case d.has("no-cache"), len(d) == 0 && strings.EqualFold(h.Get("Pragma"), "no-cache"):
		return 0, true
	case r.Shared && d.has("s-maxage"):
		return seconds(d["s-maxage"]), true
	case d.has("max-age"):
		return seconds(d["max-age"]), true
	case len(h["Expires"]) > 0:
		expires, err := http.ParseTime(h.Get("Expires"))
		if err != nil {
			return 0, true // usually "0"
		}
		return min(max(0, expires.Sub(dateOf(h, received))), longest), true
	}
	return r.TTL, false
}

func dateOf(h http.Header, received time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return received
}

// age returns the age of a response on receipt (RFC 9111 section 4.2.3). The first of several
// values of Age counts (section 5.1).
func age(h http.Header, requested, received time.Time) time.Duration {
	apparent := max(0, received.Sub(dateOf(h, received)))
	said, _, _ := strings.Cut(h.Get("Age"), ",")
	return min(max(apparent, seconds(strings.Trim(said, " \t"))+received.Sub(requested)), longest)
}

// varies reports whether a response depends on more than the request.
func varies(h http.Header) bool {
	for _, line := range h["Vary"] {
		if strings.Contains(line, "*") {
			return true
		}
	}
	return false
}

// Validators returns the headers that make the next request for a response conditional (RFC 9110
// section 13.1); nil if there are none.
func Validators(answer http.Header) http.Header {
	h := http.Header{}
	if tag := answer.Get("ETag"); tag != "" {
		h.Set("If-None-Match", tag)
	} else if modified := answer.Get("Last-Modified"); modified != "" {
		h.Set("If-Modified-Since", modified)
	}
	if len(h) == 0 {
		return nil
	}
	return h
}

// isOf reports whether a 304 refers to the stored response: one for another version must not
// freshen it (RFC 9111 section 4.3.4). A tag may have become weak or strong on its way.
func isOf(kept, said http.Header) bool {
	tag, known := said.Get("ETag"), kept.Get("ETag")
	if tag != "" && known != "" {
		return strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(known, "W/")
	}
	modified := said.Get("Last-Modified")
	return known != "" || modified == "" || modified == kept.Get("Last-Modified")
}

// isCacheable reports whether a request can be answered from a cache: it is not conditional, has no
// range, and accepts stored responses.
func isCacheable(req *http.Request) bool {
	if req.Method != http.MethodGet && req.Method != http.MethodHead || req.Body != nil && req.Body != http.NoBody {
		return false
	}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range", "Cache-Control", "Pragma"} {
		if len(req.Header[name]) > 0 {
			return false
		}
	}
	return true
}
