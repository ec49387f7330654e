package upstream

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RateLimit is what a response says about the rate limit of the service.
type RateLimit struct {
	// Exhausted reports that no call is left until the limit is reset.
	Exhausted bool
	// Wait is the time until the next call is possible, and Known whether the response tells it.
	Wait  time.Duration
	Known bool
}

// The headers in which services say how many calls are left, and when the limit is reset. The fields without X- are those of the
// first drafts of draft-ietf-httpapi-ratelimit-headers; the later ones have one structured field, RateLimit.
var (
	remainingHeaders = []string{"X-Ratelimit-Remaining", "Ratelimit-Remaining", "X-Rate-Limit-Remaining"}
	resetHeaders     = []string{"X-Ratelimit-Reset-After", "Ratelimit-Reset", "X-Ratelimit-Reset", "X-Rate-Limit-Reset"}
)

// RateLimitHeaders are the headers, in their canonical form, by which services tell callers about their rate limits.
func RateLimitHeaders() []string {
	return []string{
		"Retry-After-Ms", "X-Ms-Retry-After-Ms", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "X-Ratelimit-Limit",
		"X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Ratelimit-Reset-After", "X-Rate-Limit-Limit", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset",
	}
}

// RateLimitOf reads what a response says about the rate limit of the service. Services send these headers with every response, so
// they matter only if one says that no call is left; for a status of 429 that is certain. A limit that is not exhausted has
// a wait only if the response asks for one by Retry-After, which always comes first.
func RateLimitOf(resp *http.Response, now time.Time) RateLimit {
	var l RateLimit
	for _, name := range remainingHeaders {
		l.Exhausted = l.Exhausted || hasZero(resp.Header[name])
	}
	fields := readRateLimitField(resp.Header["Ratelimit"])
	l.Exhausted = l.Exhausted || fields.exhausted
	if l.Wait, l.Known = RetryAfter(resp.Header, now); l.Known {
		return l
	}
	if fields.exhausted && fields.reset >= 0 {
		l.Wait, l.Known = seconds(fields.reset), true
		return l
	}
	if !l.Exhausted && resp.StatusCode != http.StatusTooManyRequests {
		return l
	}
	for _, name := range resetHeaders {
		for _, value := range resp.Header[name] {
			if wait, ok := parseWait(value, now); ok {
				return RateLimit{Exhausted: l.Exhausted, Wait: wait, Known: true}
			}
		}
	}
	if fields.reset >= 0 {
		l.Wait, l.Known = seconds(fields.reset), true
	}
	return l
}

// IsRateLimited reports whether a response refuses a request because of a rate limit. Some services answer 403 then: GitHub, with
// no call left or a time to wait, and those that copied it.
func IsRateLimited(resp *http.Response, now time.Time) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		if l := RateLimitOf(resp, now); l.Exhausted || l.Known {
			return true
		}
	}
	return false
}

// hasZero reports whether one of the numbers in the lines of a header is 0: some services have several limits.
func hasZero(lines []string) bool {
	for _, line := range lines {
		for value := range strings.SplitSeq(line, ",") {
			value, _, _ = strings.Cut(value, ";")
			if n, err := strconv.ParseFloat(strings.Trim(value, " \t\""), 64); err == nil && n == 0 { // some say -1 for no limit
				return true
			}
		}
	}
	return false
}

// rateLimitField is what the structured field RateLimit says.
type rateLimitField struct {
	exhausted bool
	reset     float64 // seconds; the longest of the exhausted limits, else the shortest; below 0 if there is none
}

// readRateLimitField reads the lines of RateLimit in both forms of the drafts: a list of limits with parameters,
// "burst";r=0;t=5, "daily";r=90;t=3600, and a dictionary, limit=100, remaining=0, reset=77. What can't be read is left out.
func readRateLimitField(lines []string) rateLimitField {
	field, others := rateLimitField{reset: -1}, -1.0
	dictionary := limitItem{remaining: -1, reset: -1}
	add := func(i limitItem) {
		switch {
		case i.remaining == 0:
			field.exhausted = true
			field.reset = max(field.reset, i.reset)
		case i.reset >= 0 && (others < 0 || i.reset < others):
			others = i.reset
		}
	}
	for _, line := range lines {
		item := limitItem{remaining: -1, reset: -1}
		quoted, start := false, 0
		for at := range len(line) + 1 {
			if at < len(line) && line[at] == '"' {
				quoted = !quoted
			}
			if at < len(line) && (quoted || line[at] != ',' && line[at] != ';') {
				continue
			}
			item.parameter(line[start:at])
			start = at + 1
			if at == len(line) || line[at] == ',' {
				if item.member {
					dictionary.merge(item)
				} else {
					add(item)
				}
				item = limitItem{remaining: -1, reset: -1}
			}
		}
	}
	add(dictionary)
	if !field.exhausted {
		field.reset = others
	}
	return field
}

// limitItem is one limit of RateLimit; its numbers are below 0 if it does not have them.
type limitItem struct {
	remaining, reset float64
	member           bool // of the dictionary, which has one limit in several members
}

// parameter reads a parameter or a member of the dictionary.
func (i *limitItem) parameter(text string) {
	name, value, ok := strings.Cut(text, "=")
	n, err := strconv.ParseFloat(strings.Trim(value, " \t\""), 64)
	if !ok || err != nil || !(n >= 0) {
		return
	}
	switch strings.ToLower(strings.Trim(name, " \t")) {
	case "r":
		i.remaining = n
	case "t":
		i.reset = n
	case "remaining":
		i.remaining, i.member = n, true
	case "reset":
		i.reset, i.member = n, true
	}
}

// merge adds a member of the dictionary.
func (i *limitItem) merge(member limitItem) {
	i.remaining, i.reset = max(i.remaining, member.remaining), max(i.reset, member.reset)
}
