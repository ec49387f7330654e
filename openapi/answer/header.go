package answer

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	maxHeaders    = 32 // of one status
	maxHeaderName = 64 // bytes
)

// declaredHeaders are the names of the headers of a status: code is 200, or 2 for the range 2XX, or 0 for all others.
type declaredHeaders struct {
	code  uint16
	names []string
}

// Headers returns the canonical names of the headers that the document declares for responses of a status, or for
// "default" if it doesn't declare the status, in its order. The result must not be changed.
func (p *Plan) Headers(status int) []string {
	var names []string
	best := -1
	for _, h := range p.headers {
		switch code := int(h.code); code {
		case status:
			return h.names
		case status / 100, 0:
			if code > best {
				names, best = h.names, code
			}
		}
	}
	return names
}

// declaredHeaders compiles the headers of an operation. A status without headers is kept, too, since otherwise another
// could match instead.
func (c *Compiler) declaredHeaders(statuses []Status) (all []declaredHeaders) {
	some := false
	for _, s := range statuses {
		code, err := strconv.ParseUint(strings.TrimSuffix(s.Code, "XX"), 10, 10)
		if s.Code == "DEFAULT" {
			code, err = 0, nil
		} else if len(s.Code) != 3 || code == 0 {
			continue
		}
		if err != nil || len(all) == maxStatuses {
			continue
		}
		var names []string
		for name := range s.Headers {
			if name = http.CanonicalHeaderKey(name); isHeaderName(name) && !slices.Contains(names, name) && len(names) < maxHeaders {
				names = append(names, name)
			}
		}
		some = some || len(names) > 0
		all = append(all, declaredHeaders{uint16(code), c.shareNames(names)})
	}
	if !some {
		return nil
	}
	return all
}

// shareNames returns names that share their memory with equal ones: documents often repeat the same headers.
func (c *Compiler) shareNames(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	key := strings.Join(names, ",")
	known, found := c.headers.Load(key)
	if !found {
		key = strings.Clone(key)
		known, _ = c.headers.LoadOrStore(key, strings.Split(key, ","))
	}
	shared, _ := known.([]string)
	return shared
}

// isHeaderName reports whether a text is a header name of the usual characters.
func isHeaderName(name string) bool {
	return name != "" && len(name) <= maxHeaderName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}
