package deliver

import (
	"bytes"
	"fmt"
	"slices"

	"drawbridge/gateway/projection"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
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

// beside is what stands beside the parts of a result.
type beside struct {
	headers, note string
	structured    bool // the parts are in structuredContent, too
}

// atMost returns an upper bound of the tokens of a result, without counting any: no token has less than a byte.
func (b beside) atMost(parts []answer.Part) (n int) {
	n = len(b.headers) + len(b.note)
	for i := range parts {
		p := &parts[i]
		n += blockTokens + structureTokens + len(p.Field) + len(p.File)
		switch {
		case isBinary(p.Kind):
			n += len(p.MediaType)
		case p.Kind == answer.Text && b.structured:
			n += len(`\u0000`) * len(p.Data) // as a JSON string
		default:
			n += len(p.Data)
		}
	}
	return n
}

// tokens returns the tokens of the texts beside the parts.
func (b beside) tokens() int {
	return tokenizer.Count([]byte(b.headers)) + tokenizer.Count([]byte(b.note)) + 1
}

// fitter fits the parts of one answer into a number of tokens.
type fitter struct {
	beside
	most  int
	parts []answer.Part
	// counted is the beginning of each part that has most tokens, or nearly, or all of it.
	counted []projection.Counted
	json    []bool // texts that are JSON which was not read as such, for lack of a schema
	costs   []int  // tokens of the data of each part; more than most if it has more
	shown   int    // tokens of the parts that share returned, with what is said about them
}

// newFitter returns the fitter of parts, in which texts that are JSON have no white space between tokens.
func newFitter(b beside, parts []answer.Part, most int) *fitter {
	f := &fitter{beside: b, most: most, parts: slices.Clone(parts), json: make([]bool, len(parts)), costs: make([]int, len(parts)), counted: make([]projection.Counted, len(parts))}
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
	total = f.tokens()
	for i := range f.parts {
		p := &f.parts[i]
		if !isBinary(p.Kind) {
			counted := &f.counted[i]
			if counted.Bytes, counted.Tokens = tokenizer.Prefix(p.Data, f.most); counted.Bytes < len(p.Data) {
				f.costs[i] = f.most + 1
			} else {
				f.costs[i] = max(counted.Tokens, f.quoted(p, f.most))
			}
		}
		total += f.around(p) + f.costs[i]
	}
	return total
}

// fit returns the beginnings of the parts, which were measured, and the note on what they lack. The note has the ways to the rest, and
// says whether the call is safe to be made again. tokens are those of both.
func (f *fitter) fit(safe bool, ways []string) (shown []answer.Part, note string, tokens int) {
	// The note has at most as many places as one part that is cut.
	reserve := tokenizer.Count([]byte(aboveCeiling(f.most, nil, 0, safe, ways))) + 2*blockTokens
	texts := f.tokens()
	for range maxFitted {
		var cuts []projection.Cut
		var left int
		shown, cuts, left = f.share(f.most - texts - reserve)
		note = aboveCeiling(f.most, cuts, left, safe, ways)
		total := f.shown + texts + tokenizer.Count([]byte(note))
		if total <= f.most {
			return shown, note, total
		}
		reserve += total - f.most + blockTokens
	}
	note = aboveCeiling(f.most, nil, 0, safe, nil)
	return []answer.Part{{Kind: answer.JSON, Data: []byte("{}")}}, note, tokenizer.Count([]byte(note)) + 1
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
	if p.Kind != answer.Text || !f.structured {
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
		shown[i].Field, shown[i].File = text.Truncate(shown[i].Field, maxFieldName), text.Truncate(shown[i].File, maxFieldName)
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
			data, left, tokens = projection.Fit(f.parts[i].Data, within, f.counted[i])
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
	var n int
	if c := f.counted[i]; len(text) == len(whole) {
		n, _ = tokenizer.Shorten(text[:c.Bytes], c.Tokens, most)
	} else {
		n, _ = tokenizer.Prefix(text, most)
	}
	data, left := projection.CutText(text, n)
	if len(left) == 0 {
		left = []projection.Cut{{Kind: jsonscan.String, Left: len(whole) - len(text)}}
	}
	return data, left
}

// isBinary reports whether parts of a kind are neither JSON nor text.
func isBinary(k answer.Kind) bool { return k != answer.JSON && k != answer.Text }
