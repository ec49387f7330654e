package cache

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Rule says how the answers of one operation are kept. It is immutable.
type Rule struct {
	// TTL is how long an answer is fresh of which the service says nothing: no max-age, no Expires, no no-cache. 0: it is not.
	TTL time.Duration
	// Shared makes it the answer of all callers; the operator has said so. What a service calls private is not kept then.
	Shared bool
	// MaxBytes is the size of the largest answer that is kept.
	MaxBytes int64
	// Keep tells whether an answer may be kept, by its head, besides what HTTP says. Nil: each may.
	Keep func(*http.Response) bool
	// Whole tells whether an answer may be kept, when its body is there. Nil: each may.
	Whole func(head http.Header, body []byte) bool
	// Count is told what became of each request, and of each answer that was kept. Nil: nobody is.
	Count func(Outcome)
}

// Outcome is what became of a request.
type Outcome string

// The outcomes. Of a request there is one of the first five; Stored comes besides.
const (
	Hit         Outcome = "hit"         // a kept answer was fresh
	Shared      Outcome = "shared"      // one that another replica has kept was
	Revalidated Outcome = "revalidated" // a kept answer was not, and the service said that it is still good
	Miss        Outcome = "miss"        // the service answered
	Bypass      Outcome = "bypass"      // it was not for the cache
	Stored      Outcome = "stored"      // an answer was kept
)

// directives are what Cache-Control says (RFC 9111 section 5.2). A directive with an argument that limits it to some fields counts as
// one without, which is the strict reading.
type directives map[string]string

func parseControl(h http.Header) directives {
	d := directives{}
	for text, part, ok := strings.Join(h["Cache-Control"], ","), "", true; text != ""; {
		if part, text, ok = cutDirective(text); !ok {
			d["no-store"] = "" // nobody knows what it says
			return d
		}
		name, value, _ := strings.Cut(part, "=")
		if name = strings.Trim(name, " \t"); strings.Trim(part, " \t") == "" {
			continue // an empty element of a list (RFC 9110 section 5.6.1.2)
		} else if !isToken(name) {
			d["no-store"] = "" // such as no-store before a no-break space, which another cache may take for no-store
			return d
		}
		name = strings.ToLower(name)
		value = strings.Trim(strings.Trim(value, " \t"), `"`)
		if before, twice := d[name]; twice && seconds(before) < seconds(value) {
			continue // said twice: the shorter time counts
		}
		d[name] = value
	}
	return d
}

// cutDirective returns the first directive of a list, and what follows it. Commas in a quoted value are no ends (RFC 9110 section 5.6.4). false: a
// quote does not end, or stands where none can.
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

// isToken tells whether s is a token (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}

func (d directives) has(name string) bool { _, ok := d[name]; return ok }

// seconds reads a time; what is none is 0, so that what it is of is not fresh (section 4.2.1).
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil && (text == "" || strings.Trim(text, "0123456789") != "") {
		return 0
	}
	return time.Duration(min(n, math.MaxInt32)) * time.Second
}

// longest is the most that a time is taken for (section 1.2.2): two of them can be added.
const longest = math.MaxInt32 * time.Second

// storable tells whether an answer may be kept (section 3), and how long it is fresh. received is when its head came.
func (r *Rule) storable(resp *http.Response, received time.Time) (lifetime time.Duration, said, ok bool) {
	d := parseControl(resp.Header)
	switch {
	case d.has("no-store"), r.Shared && d.has("private"), varies(resp.Header), r.Keep != nil && !r.Keep(resp):
		return 0, false, false
	case r.Shared && len(resp.Header["Set-Cookie"]) > 0:
		return 0, false, false // it is for one
	}
	lifetime, said = r.lifetime(resp.Header, d, received)
	switch resp.StatusCode {
	case http.StatusOK:
		return lifetime, said, lifetime > 0 || Validators(resp.Header) != nil
	case http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusNotFound, http.StatusGone:
		return lifetime, said, said && lifetime > 0 // and never because the operator wants answers kept
	}
	return 0, false, false
}

// lifetime is how long an answer is fresh (section 4.2.1), and whether the service has said so.
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
			return 0, true // "0", above all
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

// age is that of an answer when its head came (section 4.2.3). Of several values of Age the first counts (section 5.1).
func age(h http.Header, asked, received time.Time) time.Duration {
	apparent := max(0, received.Sub(dateOf(h, received)))
	said, _, _ := strings.Cut(h.Get("Age"), ",")
	return min(max(apparent, seconds(strings.Trim(said, " \t"))+received.Sub(asked)), longest)
}

// varies tells whether an answer depends on more than a request says.
func varies(h http.Header) bool {
	for _, line := range h["Vary"] {
		if strings.Contains(line, "*") {
			return true
		}
	}
	return false
}

// Validators returns the headers that make the next request for an answer conditional (RFC 9110 section 13.1); nil if it has nothing
// for them.
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

// isOf tells whether a 304 is about the answer with this head: one that names another version must not freshen it (section 4.3.4). A tag that has become
// weak on its way, or strong, is the same.
func isOf(kept, said http.Header) bool {
	tag, known := said.Get("ETag"), kept.Get("ETag")
	if tag != "" && known != "" {
		return strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(known, "W/")
	}
	modified := said.Get("Last-Modified")
	return known != "" || modified == "" || modified == kept.Get("Last-Modified")
}

// asks tells whether a request is for a cache: one that is conditional itself, wants a part, or wants no kept answer, is not.
func asks(req *http.Request) bool {
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
