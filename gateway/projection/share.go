package projection

import "drawbridge/gateway/tokenizer"

// Share divides the tokens of a rule among the parts of one answer. A part that takes less leaves more to the next ones, so the parts come
// in the order of their size.
type Share struct {
	Rule  Rule
	Parts int // that are still to come
}

// Next returns the rule for the next part.
func (s *Share) Next() Rule {
	r := s.Rule
	if r.Limits.MaxTokens > 0 && s.Parts > 1 {
		r.Limits.MaxTokens = max(r.Limits.MaxTokens/s.Parts, 1)
	}
	s.Parts--
	return r
}

// Take subtracts the tokens of a part that [Share.Next] was for.
func (s *Share) Take(projected []byte) {
	if most := &s.Rule.Limits.MaxTokens; *most > 0 && s.Parts > 0 {
		*most = max(*most-tokenizer.CountUpTo(projected, *most), 1)
	}
}
