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
	f := newFitter(w, parts, most)
	if f.measure() <= most {
		return f.parts, ""
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
		total := f.shown + f.beside() + tokenizer.Count([]byte(note))
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
	json  []bool // texts that are JSON which was not read as such, for lack of a schema
	costs []int  // tokens of the data of each part; more than most if it has more
	begin []int  // bytes of each part that have as many tokens, or most
	shown int    // tokens of the parts that share returned, with what is said about them
}

// newFitter returns the fitter of parts, in which texts that are JSON have no white space between tokens.
func newFitter(w *resultWriter, parts []answer.Part, most int) *fitter {
	f := &fitter{w: w, most: most, parts: slices.Clone(parts), json: make([]bool, len(parts)), costs: make([]int, len(parts)), begin: make([]int, len(parts))}
	for i := range f.parts {
		if p := &f.parts[i]; p.Kind == answer.Text {
			if data, ok := projection.Structure(p.Data); ok {
				p.Data, f.json[i] = data, true
			}
		}
	}
	return f
}

// measure counts the tokens of the result, those of each part until there are more than most.
func (f *fitter) measure() (total int) {
	total = f.beside()
	for i := range f.parts {
		p := &f.parts[i]
		if !isBinary(p.Kind) {
			if f.begin[i], f.costs[i] = tokenizer.Prefix(p.Data, f.most); f.begin[i] < len(p.Data) {
				f.costs[i] = f.most + 1
			} else {
				f.costs[i] = max(f.costs[i], f.quoted(p, f.most))
			}
		}
		total += f.around(p) + f.costs[i]
	}
	return total
}

// beside returns the tokens of the texts beside the parts.
func (f *fitter) beside() int {
	return tokenizer.Count([]byte(f.w.headers.Text)) + tokenizer.Count([]byte(f.w.note)) + 1
}

// around returns an upper bound of the tokens of what is said about a part besides its data.
func (f *fitter) around(p *answer.Part) int {
	n := structureTokens + len(p.Field)
	if p.Events > 0 {
		n += blockTokens
	}
	if isBinary(p.Kind) {
		n += blockTokens + len(p.File) + len(p.MediaType)
	}
	return n
}

// quoted returns the tokens of a text as it stands in structuredContent, as far as they are not more than a limit; 0 if it does not.
func (f *fitter) quoted(p *answer.Part, limit int) int {
	if p.Kind != answer.Text || !f.w.structured() {
		return 0
	}
	return tokenizer.CountUpTo(jsonscan.AppendString(nil, p.Data), limit)
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
	f.shown = blockTokens // of the sentence about parts that are left out
	for i := range shown {
		around := f.around(&shown[i])
		need := around + min(f.costs[i], least)
		if kept > 0 && need > room {
			break
		}
		room -= need
		f.shown += around
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
		tokens, part := f.costs[i], max(room/(len(order)-n), least)
		if tokens > part {
			var of []projection.Cut
			shown[i].Data, of, tokens = f.cut(i, part)
			for _, c := range of {
				cuts = append(cuts, inPart(c, i, len(f.parts)))
			}
		}
		room -= tokens
		f.shown += tokens
	}
	if left > 0 { // not to be taken for an answer of one part
		shown = append(shown, answer.Part{Kind: answer.Text, Data: fmt.Appendf(nil, "%d parts are left out.", left)})
	}
	return shown, atMostPlaces(cuts), left
}

// cut returns the data of a part within a number of tokens, what is left out, and its tokens.
func (f *fitter) cut(i, most int) (data []byte, left []projection.Cut, tokens int) {
	p := f.parts[i]
	for within := most; within > 0; {
		if p.Kind == answer.JSON || f.json[i] {
			room := int64(f.begin[i]) * int64(within) / int64(max(min(f.costs[i], f.most), 1))
			data, left, tokens = projection.Fit(f.parts[i].Data, within, int(room))
		} else {
			data, left = f.cutText(i, within)
			tokens = within
		}
		p.Data = data
		quoted := f.quoted(&p, 8*most)
		if quoted <= most {
			return data, left, max(tokens, quoted)
		}
		within = min(within*most/quoted, within-1)
	}
	return nil, []projection.Cut{{Kind: jsonscan.String, Left: len(f.parts[i].Data)}}, 0
}

// cutText returns the beginning of a text within a number of tokens, and what is left out. White space before it is: nobody reads a
// block of it.
func (f *fitter) cutText(i, most int) ([]byte, []projection.Cut) {
	whole := f.parts[i].Data
	text := bytes.TrimLeft(whole, " \t\r\n")
	if len(text) == 0 {
		return []byte("The answer is white space."), []projection.Cut{{Kind: jsonscan.String, Left: len(whole)}}
	}
	data, left := projection.Limits{MaxTokens: most}.ApplyText(text)
	if len(left) == 0 {
		left = []projection.Cut{{Kind: jsonscan.String, Left: len(whole) - len(text)}}
	}
	return data, left
}
