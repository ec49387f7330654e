package deliver

import (
	"drawbridge/gateway/call"
	"drawbridge/gateway/projection"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/text"
)

// besideTokens is the number of tokens for headers and notes when result.max_tokens of a rule, which does not count them, replaces the
// configured limit.
const besideTokens = 2_000

// limits returns the limits of the result: those of the configuration, or result.max_tokens of a rule if that is higher.
func (w *result) limits() call.Ceiling {
	if w.inv.Origin.ByOperator() {
		return call.Ceiling{}
	}
	c := w.inv.Endpoint.Ceiling
	if w.plan == nil {
		return c
	}
	if p := w.plan.Projection; p != nil && c.Tokens > 0 && p.Limits.MaxTokens > c.Tokens {
		c.Tokens = p.Limits.MaxTokens + besideTokens
	}
	return c
}

// truncate returns the parts of a successful response within the limits of results, and adds a note on what is left out and how to get
// it. The given parts are not changed. A longer result is not an error, because a model would repeat the call.
func (w *result) truncate(parts []answer.Part) []answer.Part {
	c := w.limits()
	if c.Binary > 0 && binarySize(parts) > c.Binary {
		parts = w.linkBinary(parts, c.Binary)
	}
	if c.Tokens == 0 || w.beside().atMost(parts) <= c.Tokens {
		return parts
	}
	shown, note, tokens := w.fit(parts, c.Tokens)
	w.Usage.Tokens = tokens
	if note != "" {
		for i := range shown {
			if i < len(parts) && len(shown[i].Data) < len(parts[i].Data) {
				w.plan.Metrics.Results.Projected(parts[i].Data, len(shown[i].Data))
			}
		}
		w.addNote(note)
	}
	return shown
}

// beside returns the texts of the result besides its parts.
func (w *result) beside() beside {
	return beside{headers: w.headers.Text, note: w.note, structured: structured(w.inv)}
}

// fit returns the beginnings of parts that are, with headers and notes, within most tokens, a note on what is left out, "" if they are
// complete, and the tokens of both.
func (w *result) fit(parts []answer.Part, most int) (shown []answer.Part, note string, tokens int) {
	f := newFitter(w.beside(), parts, most)
	if tokens = f.measure(); tokens <= most {
		return f.parts, "", tokens
	}
	w.note, w.headers.Text = beginning(w.note, most/4), beginning(w.headers.Text, most/4)
	f.beside = w.beside()
	link := w.linkAfterTruncation(parts, most/4)
	return f.fit(w.plan.Safe, func(cuts []projection.Cut) []string { return w.waysAfterTruncation(cuts, link) })
}

// truncateText returns the text of an error within the token limit, which may be lower than the general bound of such texts.
func (w *result) truncateText(raw string) string {
	const rest = " The rest of this text is left out."
	if most := w.limits().Tokens; most > 0 && len(raw) > most {
		if short := beginning(raw, most-len(rest)-len(text.Ellipsis)); len(short) < len(raw) {
			return short + rest
		}
	}
	return raw
}
