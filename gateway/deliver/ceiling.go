package deliver

import (
	"drawbridge/gateway/call"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/text"
)

// besideTokens is what a limit of a rule that is higher than the ceiling leaves for notes, which it does not count.
const besideTokens = 2_000

// ceiling returns the limits for the result of the call.
func (w *result) ceiling() call.Ceiling {
	if w.inv.Origin.ByOperator() {
		return call.Ceiling{}
	}
	c := w.inv.Endpoint.Ceiling
	if p := w.plan.Projection; p != nil && c.Tokens > 0 && p.Limits.MaxTokens > c.Tokens {
		c.Tokens = p.Limits.MaxTokens + besideTokens
	}
	return c
}

// ceil returns the parts of a successful answer as they are shown, within the ceiling, and adds to the note what they lack and how
// to get it. The parts themselves are not changed. A result above the ceiling is no error: a model would repeat the call.
func (w *result) ceil(parts []answer.Part) []answer.Part {
	c := w.ceiling()
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

// beside returns what stands beside the parts of the result.
func (w *result) beside() beside {
	return beside{headers: w.headers.Text, note: w.note, structured: structured(w.inv)}
}

// fit returns the beginnings of parts that are within a number of tokens with all that stands beside them, and a note on what they
// lack, "" if they are whole, and the tokens of both.
func (w *result) fit(parts []answer.Part, most int) (shown []answer.Part, note string, tokens int) {
	f := newFitter(w.beside(), parts, most)
	if tokens = f.measure(); tokens <= most {
		return f.parts, "", tokens
	}
	w.note, w.headers.Text = beginning(w.note, most/4), beginning(w.headers.Text, most/4)
	f.beside = w.beside()
	return f.fit(w.plan.Safe, w.waysAboveCeiling(parts, most/4))
}

// ceilText returns the text of an error within the ceiling. The texts of errors are bounded, but by more than a low ceiling permits.
func (w *result) ceilText(raw string) string {
	const rest = " The rest of this text is left out."
	if most := w.ceiling().Tokens; most > 0 && len(raw) > most {
		if short := beginning(raw, most-len(rest)-len(text.Ellipsis)); len(short) < len(raw) {
			return short + rest
		}
	}
	return raw
}
