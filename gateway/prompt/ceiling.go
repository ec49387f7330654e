package prompt

import (
	"drawbridge/gateway/call"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/answer"
)

// tokenShare divides the ceiling of a result among the responses in a prompt. All of them are in the model's context at once.
type tokenShare struct {
	limited bool
	tokens  int // of the responses to come
	calls   int // the calls and resources to come
}

// tokens returns the tokens that the responses of the prompt may have: what its own words leave of the ceiling, and at least a quarter
// of it. The words are the operator's and the user's, and are not cut.
func (b *promptBuilder) tokens() tokenShare {
	most := b.endpoint.Ceiling.Tokens
	s := tokenShare{limited: most > 0, tokens: most}
	if !s.limited {
		return s
	}
	for i := range b.prompt.messages {
		if m := &b.prompt.messages[i]; m.Text.IsZero() {
			s.calls++
		} else {
			s.tokens -= tokensOf(m.Text.Fill(b.value), most)
		}
	}
	s.tokens = max(s.tokens, most/4)
	return s
}

// tokensOf returns the tokens of a text, up to a limit. A short text is not counted, as it has no more tokens than bytes.
func tokensOf(text string, limit int) int {
	if len(text) <= limit/50 {
		return len(text)
	}
	return tokenizer.CountUpTo([]byte(text), limit)
}

// ceil returns the parts of a response as they stand in the prompt, and a note on what they lack; "" if they are whole.
func (b *promptBuilder) ceil(out *call.Outcome) (shown []answer.Part, note string) {
	if !b.share.limited {
		shown, note, _ = b.Results.Fit(out, 0)
		return shown, note
	}
	shown, note, used := b.Results.Fit(out, b.share.tokens/max(b.share.calls, 1))
	b.share.tokens -= used
	b.share.calls--
	return shown, note
}
