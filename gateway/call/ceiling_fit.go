package call

import (
	"bytes"
	"fmt"
	"slices"

	"drawbridge/gateway/projection"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

const (
	// blockTokens is an upper bound of the tokens of what a result says about a part besides its data, such as its type and size.
	blockTokens = 128
	// structureTokens is that of the names and brackets around the data of a part in structuredContent.
	structureTokens = 16
	// maxFieldName is the length in bytes to which the names of form fields and files are cut in a result above the ceiling.
	maxFieldName = 200
	// maxFitted is how often an answer is cut until the result with its note is within the ceiling.
	maxFitted = 4
)

// atMost returns an upper bound of the tokens of a result, without counting any: no token has less than a byte.
func (w *resultWriter) atMost(parts []answer.Part) (n int) {
	n = len(w.headers.Text) + len(w.note)
	for i := range parts {
		p := &parts[i]
		n += blockTokens + structureTokens + len(p.Field) + len(p.File)
		switch {
		case isBinary(p.Kind):
			n += len(p.MediaType)
		case p.Kind == answer.Text && w.structured():
			n += len(`\u0000`) * len(p.Data) // as a JSON string
		default:
			n += len(p.Data)
		}
	}
	return n
}

// fit returns the beginnings of parts that are within a number of tokens with all that stands beside them, and a note on what they
// lack; "" if they are whole.
func (w *resultWriter) fit(parts []answer.Part, most int) (shown []answer.Part, note string) {
	f := fitter{w: w, most: most, parts: slices.Clone(parts)}
	if f.measure() <= most {
		return parts, ""
	}
	w.note, w.headers.Text = beginning(w.note, most/4), beginning(w.headers.Text, most/4)
	ways := w.waysAboveCeiling(parts, most/4)
	// The note has at most as many places as one part that is cut.
	reserve := tokenizer.Count([]byte(w.aboveCeiling(most, nil, 0, ways))) + 2*blockTokens
	for range maxFitted {
		var cuts []projection.Cut
		var left int
		shown, cuts, left = f.share(most - f.beside() - reserve)
		note = w.aboveCeiling(most, cuts, left, ways)
		total := f.cost(shown) + f.beside() + tokenizer.Count([]byte(note))
		if total <= most {
			return shown, note
		}
		reserve += total - most + blockTokens
	}
	return []answer.Part{{Kind: answer.JSON, Data: []byte("{}")}}, w.aboveCeiling(most, nil, 0, nil)
}

// fitter fits the parts of one answer into a number of tokens.
type fitter struct {
	w     *resultWriter
	most  int
	parts []answer.Part
	costs []int // tokens of the data of each part, as far as they matter
}

// measure counts the tokens of the result. The count ends once it is greater than most.
func (f *fitter) measure() (total int) {
	total = f.beside()
	f.costs = make([]int, len(f.parts))
	for i := range f.parts {
		total += f.around(&f.parts[i])
	}
	for i := range f.parts {
		f.costs[i] = f.data(&f.parts[i], f.most)
		total += f.costs[i]
	}
	return total
}

// beside returns the tokens of the texts beside the parts.
func (f *fitter) beside() int {
	return tokenizer.Count([]byte(f.w.headers.Text)) + tokenizer.Count([]byte(f.w.note)) + 1
}

// around returns an upper bound of the tokens of what is said about a part besides its data.
func (f *fitter) around(p *answer.Part) int {
	n := structureTokens
	if p.Field != "" {
		n += len(p.Field)
	}
	if p.Events > 0 {
		n += blockTokens
	}
	if isBinary(p.Kind) {
		n += blockTokens + len(p.File) + len(p.MediaType)
	}
	return n
}

// data returns the tokens of the data of a part, in the block or in structuredContent, whichever has more; not exactly if they are
// more than a limit.
func (f *fitter) data(p *answer.Part, limit int) int {
	if isBinary(p.Kind) {
		return 0
	}
	n := tokenizer.CountUpTo(p.Data, limit)
	if p.Kind == answer.Text && f.w.structured() && n <= limit {
		n = max(n, tokenizer.CountUpTo(jsonscan.AppendString(nil, p.Data), limit))
	}
	return n
}

// cost returns the tokens of parts with what is said about them.
func (f *fitter) cost(parts []answer.Part) (n int) {
	for i := range parts {
		n += f.around(&parts[i]) + f.data(&parts[i], f.most)
	}
	return n
}

// share divides a number of tokens among the parts, so that short parts stay whole. Parts for which there is no room are left out from
// the end; their number is left.
func (f *fitter) share(room int) (shown []answer.Part, cuts []projection.Cut, left int) {
	const least = 8 // tokens that a part may be cut to
	shown = slices.Clone(f.parts)
	for i := range shown {
		shown[i].Field, shown[i].File = truncate.Bytes(shown[i].Field, maxFieldName), truncate.Bytes(shown[i].File, maxFieldName)
	}
	kept := 0
	for i := range shown {
		need := f.around(&shown[i]) + min(f.costs[i], least)
		if kept > 0 && need > room {
			break
		}
		room -= need
		kept++
	}
	left = len(shown) - kept
	shown = shown[:kept]
	order := make([]int, 0, kept) // of the parts with data, by size
	for i := range shown {
		if !isBinary(shown[i].Kind) {
			order = append(order, i)
			room += min(f.costs[i], least)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return f.costs[a] - f.costs[b] })
	for n, i := range order {
		part := max(room/(len(order)-n), least)
		if f.costs[i] > part {
			var of []projection.Cut
			shown[i].Data, of = f.cut(&shown[i], part)
			for _, c := range of {
				cuts = append(cuts, inPart(c, i, len(f.parts)))
			}
		}
		room -= min(f.costs[i], part)
	}
	if left > 0 { // not to be taken for an answer of one part
		shown = append(shown, answer.Part{Kind: answer.Text, Data: fmt.Appendf(nil, "%d parts are left out.", left)})
	}
	return shown, atMostPlaces(cuts), left
}

// cut returns the data of a part within a number of tokens.
func (f *fitter) cut(p *answer.Part, most int) ([]byte, []projection.Cut) {
	if p.Kind == answer.JSON {
		return projection.Limits{MaxTokens: most}.Apply(p.Data)
	}
	text := bytes.TrimLeft(p.Data, " \t\r\n") // nobody reads a block that is white space
	limits := projection.Limits{MaxTokens: most}
	for {
		shown, cuts := limits.ApplyText(text)
		n := f.data(&answer.Part{Kind: answer.Text, Data: shown}, 8*most)
		if n <= most || len(shown) == 0 {
			if len(cuts) == 0 {
				cuts = []projection.Cut{{Kind: jsonscan.String, Left: len(p.Data) - len(text)}}
			}
			return shown, cuts
		}
		limits.MaxTokens = min(limits.MaxTokens*most/n, limits.MaxTokens-1)
		if limits.MaxTokens <= 0 {
			return nil, []projection.Cut{{Kind: jsonscan.String, Left: len(p.Data)}}
		}
	}
}
