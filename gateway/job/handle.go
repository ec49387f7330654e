package job

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/origin"
)

const (
	maxURL       = 2048 // bytes of the URL of a job
	maxArguments = 2048 // bytes of the arguments of all requests about a job
)

// Handle is the data with which the state of one job is asked for: its URLs, and the arguments of its requests.
type Handle struct {
	URL    *url.URL // nil if the job has none
	Result *url.URL // where the result will be; nil if that is not known yet
	// Status, Fetch, Cancel and Answer are the arguments of the requests that have operations.
	Status, Fetch, Cancel, Answer json.RawMessage
	// Plain reports whether a body with an unknown word for the state, or without one, is the result: the URL is that of the
	// resource that the job creates.
	Plain bool
	// Target is the URL that the call was sent to, without its query. Its cached responses are stale when the job has ended. It is
	// nil if none can be cached.
	Target *url.URL
	// Origin is the URL whose origin all requests go to. URLs of the job are below Base, or anywhere if Base is nil.
	Origin, Base *url.URL
}

// Answer is a 2xx response that may have begun a job.
type Answer struct {
	Operation *openapi.Operation
	Arguments []byte // of the call, JSON
	Response  *http.Response
	Location  string // the header of that name, as it came
	Body      []byte // nil unless it is JSON
	Base      *url.URL
	Target    *url.URL // see [Handle.Target]
	// HasCallback reports whether the service will report the end by itself.
	HasCallback bool
}

// placeHeaders are the headers with the job's URL, the preferred one first: the first two are Azure's and lead to a state, while Location leads to a state
// or to a result.
var placeHeaders = [...]string{"Operation-Location", "Azure-Asyncoperation", "Location"}

// Begun returns the handle of the job that a response has begun. It is nil if none has begun, or none that requests may be sent for.
func (d *Definition) Begun(a *Answer) *Handle {
	if a.Response.Request == nil || a.Base == nil {
		return nil
	}
	h := &Handle{Origin: a.Response.Request.URL, Base: d.BaseOf(a.Base), Plain: !d.HasState, Target: a.Target}
	d.findURLs(h, a)
	x := &openapi.Exchange{Operation: a.Operation, Arguments: a.Arguments, Response: a.Response, Body: a.Body}
	complete := true
	bind := func(r *Request) json.RawMessage {
		if r == nil || r.Operation == nil {
			return nil
		}
		text, found := r.arguments(x)
		if !found && r.Linked && (r != d.Status || h.URL != nil) {
			return nil // the job is asked about without it
		}
		complete = complete && (found || r == d.Result) // what the result needs may be told later
		return text
	}
	h.Status, h.Fetch, h.Cancel = bind(d.Status), bind(d.Result), bind(d.Cancel)
	if d.Questions != nil {
		h.Answer = bind(d.Questions.Answer)
	}
	hasStatus := h.Status != nil
	if hasStatus {
		h.Plain = false // the operation returns a state
	}
	switch {
	case !complete || !hasStatus && h.URL == nil && !a.HasCallback || h.URL == nil && d.Cancel != nil && d.Cancel.Operation == nil:
		return nil
	case len(h.Status)+len(h.Fetch)+len(h.Cancel)+len(h.Answer) > maxArguments:
		return nil
	}
	return h
}

// findURLs sets the URLs of a job that the response names.
func (d *Definition) findURLs(h *Handle, a *Answer) {
	if d.location != "" {
		h.URL = h.Resolve(jsonscan.StringAt(a.Body, d.location))
		return
	}
	for i, name := range placeHeaders {
		value := a.Response.Header.Get(name)
		if name == "Location" {
			value = a.Location
		}
		u := h.Resolve(value)
		switch {
		case u == nil:
		case h.URL == nil:
			h.URL = u
			h.Plain = h.Plain && i == len(placeHeaders)-1
		default:
			h.Result = u // beside a place to ask, Location is where the result will be
		}
	}
}

// BaseOf returns the URL that the URLs of jobs must be below: the API's base URL, or nil with [Definition].Anywhere.
func (d *Definition) BaseOf(base *url.URL) *url.URL {
	if d.Anywhere {
		return nil
	}
	return base
}

// ResultIn returns the URL of the result: the one that a body names if requests may go there, else that of the handle; nil if
// neither is known.
func (d *Definition) ResultIn(h *Handle, body []byte) *url.URL {
	for _, pointer := range d.resultLocation {
		if u := h.Resolve(jsonscan.StringAt(body, pointer)); u != nil {
			return u
		}
	}
	return h.Result
}

// Resolve returns the URL that a response names if it has the origin of the handle and is below its base, since credentials go
// nowhere else (E4). Otherwise it returns nil.
func (h *Handle) Resolve(text string) *url.URL {
	if text == "" || len(text) > maxURL {
		return nil
	}
	u, err := h.Origin.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || !origin.Same(u, h.Origin) {
		return nil
	}
	if hasDotSegment(u.Path) {
		return nil // an escaped dot segment may lead elsewhere
	}
	if h.Base != nil {
		if _, below := Below(h.Base, u); !below {
			return nil
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u
}

// maxUnescaped is how often a path is unescaped to find dot segments: proxies in front of a service may do so again.
const maxUnescaped = 3

// hasDotSegment reports whether a path has a dot segment, however it is escaped.
func hasDotSegment(path string) bool {
	for range maxUnescaped {
		for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." { // some servers drop parameters of a segment first
				return true
			}
		}
		plain, err := url.PathUnescape(path)
		if err != nil || plain == path {
			return false
		}
		path = plain
	}
	return strings.Contains(path, "%") // nobody escapes a path so often for a good reason
}

// Below reports whether the path of a URL is that of base or below it, and returns the rest of the escaped path.
func Below(base, u *url.URL) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(u.EscapedPath(), strings.TrimRight(base.EscapedPath(), "/"))
	return rest, ok && (rest == "" || rest[0] == '/')
}

// JSONOf returns the body of a response if it is one JSON text, else nil.
func JSONOf(parts []answer.Part) []byte {
	if len(parts) != 1 {
		return nil
	}
	switch p := parts[0]; {
	case p.Kind == answer.JSON:
		return p.Data
	case p.Kind == answer.Text && strings.Contains(p.MediaType, "json"):
		if _, err := jsonscan.Scan(p.Data, jsonscan.Options{}); err == nil {
			return p.Data
		}
	}
	return nil
}
