package openapi

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
)

// output compiles the responses: the output schema, the phrase for the description, the Accept header, the plan that
// reads them.
func (c *compiler) output(op *Operation, m *model) {
	success := successes(m.responses)
	op.accept = []string{accept(success)}
	d := answer.Declaration{Method: op.Method}
	seen := make(map[string]bool)
	for _, a := range success {
		for _, ct := range a.contents {
			if media := mediatype.Essence(ct.media); !seen[media] {
				seen[media] = true
				d.MediaTypes = append(d.MediaTypes, media)
			}
		}
	}
	for _, a := range m.responses {
		d.Statuses = append(d.Statuses, answer.Status{Code: a.status, Description: a.text(), Headers: headerNames(a.node)})
	}
	main, ct := c.mainAnswer(success)
	if main != nil {
		op.Returns = c.returns(main, ct)
	}
	if ct != nil && c.options.Output != OutputOff {
		if out := c.answerSchema(ct); out != nil {
			op.Output = out.Schema
			d.Shape, d.Wrapped, d.ShapeType = out.Shape, out.Wrapped, mediatype.Essence(ct.media)
		}
	}
	op.Answers = c.plans.Compile(d)
}

// headerNames yields the names of the headers that a response object declares.
func headerNames(response *tree.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range response.Get("headers").Members() {
			if !yield(name) {
				return
			}
		}
	}
}

// answerSchema returns the output schema of a response; nil if there is none: it is not described, or it can't be JSON.
func (c *compiler) answerSchema(ct *content) *schema.Output {
	media := mediatype.Essence(ct.media)
	switch {
	case mediatype.IsSequential(media) && ct.node != nil:
		return c.schema.Output(c.array(ct, media))
	case mediatype.CanBeJSON(media) && ct.schema != nil:
		return c.schema.Output(ct.schema)
	}
	return nil
}

// array returns the schema of the array that a sequential response is assembled to. Its elements are described by
// itemSchema (OAS 3.2); earlier documents describe the array, or else an element. Events are not described: itemSchema
// declares their data as strings, for any content.
func (c *compiler) array(ct *content, media string) *tree.Node {
	array := tree.NewObject(ct.node)
	array.Set("type", tree.NewString(ct.node, "array"))
	if media == mediatype.EventStream {
		return array
	}
	element := ct.node.Get("itemSchema")
	if element == nil {
		switch c.follow(ct.schema).Get("type").Text() {
		case "array":
			return ct.schema
		case "string":
		default:
			element = ct.schema
		}
	}
	if element != nil {
		array.Set("items", element)
	}
	return array
}

// successes returns the responses of status 2xx, the most usual first; "default" counts if there is none.
func successes(all []response) []response {
	var found []response
	for _, a := range all {
		if len(a.status) == 3 && a.status[0] == '2' {
			found = append(found, a)
		}
	}
	// A digit sorts before the letters of "2XX".
	slices.SortStableFunc(found, func(a, b response) int { return cmp.Compare(a.status, b.status) })
	if found == nil {
		for _, a := range all {
			if a.status == "DEFAULT" {
				found = append(found, a)
			}
		}
	}
	return found
}

// mainAnswer selects the response that describes the tool: the first with JSON, or the first with any content, or the
// first.
func (c *compiler) mainAnswer(success []response) (*response, *content) {
	for i := range success {
		for j := range success[i].contents {
			if ct := &success[i].contents[j]; mediatype.IsJSON(mediatype.Essence(ct.media)) || mediatype.CanBeJSON(mediatype.Essence(ct.media)) && ct.schema != nil {
				return &success[i], ct
			}
		}
	}
	for i := range success {
		if len(success[i].contents) > 0 {
			return &success[i], &success[i].contents[0]
		}
	}
	if len(success) > 0 {
		return &success[0], nil
	}
	return nil, nil
}

// returns describes a response in a phrase: "200: an Order object (application/json)", "204: no content".
func (c *compiler) returns(a *response, ct *content) string {
	what := c.phrase(a, ct)
	switch {
	case a.status == "DEFAULT":
		return what
	case what == "":
		return strings.Clone(a.status)
	default:
		return a.status + ": " + what
	}
}

func (c *compiler) phrase(a *response, ct *content) string {
	switch {
	case ct == nil && (a.status == "204" || a.status == "205"):
		return "no content"
	case ct == nil:
		return firstLine(a.text())
	}
	what := ""
	switch media := mediatype.Essence(ct.media); {
	case ct.schema != nil && (mediatype.IsJSON(media) || mediatype.CanBeJSON(media)):
		what = c.schema.Summary(ct.schema)
	case mediatype.IsSequential(media) && media != mediatype.EventStream && ct.node != nil:
		what = c.schema.Summary(c.array(ct, media))
	}
	switch {
	case mediatype.IsRange(ct.media) && mediatype.CanBeJSON(mediatype.Essence(ct.media)):
		return what
	case what != "":
		return what + " (" + mediatype.Essence(ct.media) + ")"
	}
	return strings.Clone(mediatype.Essence(ct.media))
}

// firstLine returns the first line of a text, shortened for a phrase.
func firstLine(text string) string {
	line, _, _ := strings.Cut(schema.Prose(text, 0), "\n")
	return strings.Clone(schema.Clean(strings.TrimRight(strings.TrimSpace(line), "."), 100))
}

// maxAccept is the maximum number of requested media types: some documents list dozens of versions of one.
const maxAccept = 6

// accept returns the Accept header. It contains only JSON if the document offers it among others; "*/*" comes last,
// since some services answer 406 to their own documented types.
func accept(success []response) string {
	const rest = "*/*;q=0.1"
	var jsons, others []string
	seen := make(map[string]bool)
	for _, a := range success {
		for _, ct := range a.contents {
			media := mediatype.Essence(ct.media)
			switch {
			case mediatype.IsRange(media) || !printable(media) || seen[media]:
				continue
			case media == "application/json":
				jsons = slices.Insert(jsons, 0, media)
			case mediatype.IsJSON(media):
				jsons = append(jsons, media)
			default:
				others = append(others, media)
			}
			seen[media] = true
		}
	}
	switch {
	case len(jsons) > 0:
		return strings.Join(append(jsons[:min(len(jsons), maxAccept)], rest), ", ")
	case len(others) > 0:
		return strings.Join(append(others[:min(len(others), maxAccept)], rest), ", ")
	default:
		return "application/json, */*;q=0.8"
	}
}

// printable reports whether a text is valid in a header.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' || text[i] == ',' {
			return false
		}
	}
	return text != ""
}
