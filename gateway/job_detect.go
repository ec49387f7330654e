package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/origin"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

const (
	maxJobURL       = 2048 // bytes
	maxMade         = 512  // bytes of the URL that began a job, where a task's id holds it
	maxJobArguments = 2048 // bytes of the arguments of all requests about a job
)

// begun is a job under way: what is needed to ask for it.
type begun struct {
	url    *url.URL // nil: the job has none
	result *url.URL // where the result will be; nil: that is not known yet
	// arguments of the requests that have operations, by the name of the request.
	status, fetch, cancel, answer json.RawMessage
	// plain tells that a body with an unknown word, or without one, is the result: its URL is that of a thing that is made.
	plain bool
	from  *url.URL // the origin that is asked, and no other
	made  *url.URL // what was called: what is kept of it is stale when the job has ended; nil: that is not known
	root  *url.URL // what is asked is below it; nil: wherever it is there
}

// placeHeaders name the job's URL, the best first: the first two are Azure's and say that it tells a state, while Location is
// that of a state or of a result.
var placeHeaders = [...]string{"Operation-Location", "Azure-Asyncoperation", "Location"}

// begun finds the job that an answer of 2xx has begun; nil: none, or none that may be asked for. location is the header of
// that name as it came.
func (c *call) begun(args []byte, resp *http.Response, location string, parts []openapi.Part) *begun {
	j := c.plan.job
	if resp.Request == nil || c.plan.base == nil {
		return nil
	}
	b := &begun{from: resp.Request.URL, root: c.root(), plain: !j.stated}
	if c.plan.changes {
		b.made = &url.URL{Scheme: c.target.Scheme, Host: c.target.Host, Path: c.target.Path, RawPath: c.target.RawPath}
	}
	body := jsonOf(parts)
	if j.location != "" {
		b.url = b.place(stringAt(body, j.location))
	} else {
		for i, name := range placeHeaders {
			value := resp.Header.Get(name)
			if name == "Location" {
				value = location
			}
			if u := b.place(value); u != nil {
				if b.url == nil {
					b.url = u
					b.plain = b.plain && i == len(placeHeaders)-1
				} else {
					b.result = u // beside a place to ask, Location is where the result will be
				}
			}
		}
	}
	x := &openapi.Exchange{Operation: c.plan.Operation, Arguments: args, Response: resp, Body: body}
	ok := true
	bind := func(r *jobRequest) json.RawMessage {
		if r == nil || r.operation == nil {
			return nil
		}
		text, found := r.arguments(x)
		if !found && r.linked && (r != j.status || b.url != nil) {
			return nil // it is done without
		}
		ok = ok && (found || r == j.result) // what the result needs may be told later
		return text
	}
	b.status, b.fetch, b.cancel = bind(j.status), bind(j.result), bind(j.cancel)
	if j.questions != nil {
		b.answer = bind(j.questions.answer)
	}
	asked := b.status != nil
	if asked {
		b.plain = false // it is a state that the operation tells
	}
	switch {
	case !ok || !asked && b.url == nil && c.key == "" || b.url == nil && j.cancel != nil && j.cancel.operation == nil:
		return nil
	case len(b.status)+len(b.fetch)+len(b.cancel)+len(b.answer) > maxJobArguments:
		return nil
	}
	return b
}

// arguments makes those of a request; false if some of them are not there, which are left out.
func (r *jobRequest) arguments(x *openapi.Exchange) (text json.RawMessage, complete bool) {
	text, complete = json.RawMessage("{"), true
	for argument, e := range r.bind {
		value, ok := e.Evaluate(x)
		if !ok {
			complete = false
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(jsonscan.AppendString(text, argument), ':')
		text = append(text, value...)
	}
	return append(text, '}'), complete
}

// root is what URLs of jobs are below: what the API's tools call, and not what else is served there. nil: the operator's rule says where they
// stand, so they may be anywhere.
func (c *call) root() *url.URL {
	if c.plan.job.anywhere {
		return nil
	}
	return c.plan.base
}

// place returns the URL that an answer names, if it is of the origin that is asked, and below its base: what is attached to
// requests is for nobody else (E4). nil: it is not, or it is none.
func (b *begun) place(text string) *url.URL {
	if text == "" || len(text) > maxJobURL {
		return nil
	}
	u, err := b.from.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" {
		return nil
	}
	if !origin.Same(u, b.from) {
		return nil
	}
	for segment := range strings.FieldsFuncSeq(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return nil // that was escaped, and may lead elsewhere
		}
	}
	if b.root != nil {
		if _, below := pathBelow(b.root, u); !below {
			return nil
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u
}

// jsonOf returns the JSON text that an answer is, nil if it is none.
func jsonOf(parts []openapi.Part) []byte {
	if len(parts) != 1 {
		return nil
	}
	switch p := parts[0]; {
	case p.Kind == openapi.JSON:
		return p.Data
	case p.Kind == openapi.Text && strings.Contains(p.MediaType, "json"):
		if _, err := jsonscan.Scan(p.Data, jsonscan.Options{}); err == nil {
			return p.Data
		}
	}
	return nil
}

// stringAt returns the text at a place of a JSON text, "" if there is none.
func stringAt(data []byte, pointer string) string {
	if data == nil {
		return ""
	}
	if v := jsonscan.At(data, pointer); jsonscan.KindOf(v) == jsonscan.String {
		return string(jsonscan.Unquote(v))
	}
	return ""
}
