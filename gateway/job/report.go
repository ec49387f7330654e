package job

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

const (
	// MaxWord and maxMessage are the most bytes of a word and of a text of a service.
	MaxWord    = 64
	maxMessage = 600
	// maxRead is how much of a text is read to show maxMessage of it: white space may be most of it.
	maxRead = 4 << 10
)

// Report is the state of a job as a response describes it.
type Report struct {
	State           State
	Word            string // the service's word for the state
	Message         string
	Progress, Total float64    // 0 if unknown
	Questions       []Question // that wait for answers of the user
}

// Read reads the report in a body; it is zero if body is nil. hide removes secrets from texts.
func (d *Definition) Read(body []byte, hide func(string) string) (r Report) {
	if body == nil {
		return r
	}
	for _, pointer := range d.states {
		v := jsonscan.At(body, pointer)
		switch jsonscan.KindOf(v) {
		case jsonscan.String:
			r.Word = string(jsonscan.Unquote(v))
		case jsonscan.Bool:
			r.Word = string(v)
		default:
			continue
		}
		r.State = d.words[config.PlainWord(r.Word)]
		break
	}
	if r.State == Succeeded && r.Word == "true" && jsonscan.KindOf(jsonscan.At(body, "/error")) == jsonscan.Object {
		r.State = Failed // Google's operations are done in both cases
	}
	if r.Word = text.Truncate(oneLine(hide(openapi.Clean(r.Word))), MaxWord); r.Word == "true" || r.Word == "false" {
		r.Word = "" // it tells a reader nothing
	}
	for _, pointer := range d.message {
		if raw := jsonscan.StringAt(body, pointer); raw != "" {
			raw = hide(openapi.Clean(raw))
			if r.State == Failed || r.State == Cancelled {
				raw = hide(withoutSecrets(raw)) // an escape that is read now may have hidden a secret
			}
			r.Message = text.Truncate(oneLine(raw), maxMessage)
			break
		}
	}
	if r.State == Unknown || r.State == Working {
		var refused string
		if r.Questions, refused = d.Questions.read(body, hide); refused != "" {
			r.Message = refused
		}
	}
	for _, pointer := range d.progress {
		if n, ok := numberAt(body, pointer); ok {
			r.Progress, r.Total = n, 100
			break
		}
	}
	for _, pointer := range d.total {
		if n, ok := numberAt(body, pointer); ok {
			r.Total = n
			break
		}
	}
	return r
}

// Text returns the message, else the service's word for the state.
func (r *Report) Text() string {
	if r.Message != "" {
		return r.Message
	}
	return r.Word
}

// GoesOn reports whether the body of a callback says that the job has not ended.
func (d *Definition) GoesOn(body []byte) bool {
	if _, err := jsonscan.Scan(body, jsonscan.Options{}); err != nil {
		return false
	}
	r := d.Read(body, func(text string) string { return text })
	return r.State == Working || r.State == Unknown && r.Word != "" && d.HasState
}

// withoutSecrets returns the beginning of a text about a job that has failed, without its secrets.
func withoutSecrets(text string) string {
	if len(text) <= maxRead+redact.Margin {
		return redact.Error(text)
	}
	text = redact.Error(text[:maxRead+redact.Margin])
	return text[:max(0, len(text)-redact.Margin)] // the last bytes may be the beginning of a secret
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

func numberAt(data []byte, pointer string) (float64, bool) {
	v := jsonscan.At(data, pointer)
	if jsonscan.KindOf(v) != jsonscan.Number || len(v) > 32 {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(v)), 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 0)
}
