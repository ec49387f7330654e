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
	// blockTokens is an upper bound of the tokens of a part besides its data, such as its type and size.
	blockTokens = 128
	// structureTokens is an upper bound of the tokens of names and brackets around the data of a part in structuredContent.
	structureTokens = 16
	// maxFieldName is the length in bytes to which the names of form fields and files are cut in a truncated result.
	maxFieldName = 200
	// maxFitted is the maximum number of attempts to cut a response so that the result with its note is within the limit.
	maxFitted = 4
)

// beside holds the texts of a result besides its parts.
type beside struct {
	headers, note string
	structured    bool // the parts are in structuredContent, too
}

// atMost returns an upper bound of the tokens of a result without counting them: every token has at least one byte.
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

// tokens returns the number of tokens of the texts besides the parts.
func (b beside) tokens() int {
	return tokenizer.Count([]byte(b.headers)) + tokenizer.Count([]byte(b.note)) + 1
}

// fitter fits the parts of one answer into a number of tokens.
type fitter struct {
	beside
	most  int
	parts []answer.Part
	// counted is the counted beginning of each part: about most tokens, or all of it.
	counted []projection.Counted
	json    []bool // texts that are JSON although their media type or schema does not say it
	costs   []int  // tokens of the data of each part; more than most if it has more
	shown   int    // tokens of the parts that share returned, with their names and types
}

// newFitter returns the fitter of parts. It removes white space between the tokens of JSON texts.
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

// measure counts the tokens of the result. It stops in each part above most.
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

// fit returns the beginnings of the measured parts, and the note on what is left out. The note lists the ways to the rest, which
// depend on the cuts, and for an unsafe call warns against repeating it. tokens are those of both.
func (f *fitter) fit(safe bool, ways func([]projection.Cut) []string) (shown []answer.Part, note string, tokens int) {
	// The note names at most as many places as for one cut part.
	reserve := tokenizer.Count([]byte(truncationNote(f.most, nil, 0, safe, ways(nil)))) + 2*blockTokens
	texts := f.tokens()
	for range maxFitted {
		var cuts []projection.Cut
		var left int
		shown, cuts, left = f.share(f.most - texts - reserve)
		note = truncationNote(f.most, cuts, left, safe, ways(cuts))
		total := f.shown + texts + tokenizer.Count([]byte(note))
		if total <= f.most {
			return shown, note, total
		}
		reserve += total - f.most + blockTokens
	}
	note = truncationNote(f.most, nil, 0, safe, nil)
	return []answer.Part{{Kind: answer.JSON, Data: []byte("{}")}}, note, tokenizer.Count([]byte(note)) + 1
}

// around returns an upper bound of the tokens of a part besides its data.
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

// quoted returns the number of tokens of a text as a JSON string in structuredContent, counted up to limit; 0 if it is not there.
func (f *fitter) quoted(p *answer.Part, limit int) int {
	if p.Kind != answer.Text || !f.structured {
		return 0
	}
	return tokenizer.CountUpTo(jsonscan.AppendString(nil, p.Data), limit)
}

// share divides room tokens among the parts, so that short parts stay whole. If not all parts fit, the last ones are left out; left is
// their number.
func (f *fitter) share(room int) (shown []answer.Part, cuts []projection.Cut, left int) {
	const least = 8 // tokens that a part may be cut to
	shown = slices.Clone(f.parts)
	for i := range shown {
		shown[i].Field, shown[i].File = text.Truncate(shown[i].Field, maxFieldName), text.Truncate(shown[i].File, maxFieldName)
	}
	kept := 0
	f.shown = blockTokens // for the sentence about parts that are left out
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
	if left > 0 { // so that one remaining part is not taken for the whole response
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

// cutText returns the beginning of a text within most tokens, and what is left out. Leading white space is left out.
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
