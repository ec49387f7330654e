package ecmaregexp

import (
	"regexp"
	"testing"
)

// FuzzParse: an expression that is accepted is accepted again, unchanged, and Go compiles its other form.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.JavaScript)
		if err != nil || again.JavaScript != p.JavaScript {
			t.Errorf("%q becomes %q, which becomes %q, %v", text, p.JavaScript, again.JavaScript, err)
		}
		if p.RE2 != "" {
			if _, err := regexp.Compile(p.RE2); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

var seeds = []string{
	`^[\w\-\.]+\@[\w-.]+$`, `/^[a-z]+$/`, `^(?!x).*$`, `\A(?P<year>\d{4})\Z`, `(?i)abc`, `a++`, `^{id}$`, `^.{1,2048}$`, `[[:alpha:]]`,
	`\p{L}\pN\p{Latin}`, `(abc`, `\u{1F600}[\ud83d\ude00]`, `[^]`, `[]`, `(?<a>b)\k<a>`, `(a)\1`, `\cA\x41\0`, `[\s\S]`, `[^\S]`, `a{2}?b*?`,
	`^(?:([01]?\d|2[0-3]):([0-5]?\d))$`, `^\s*\S+\s*$`, `[a\]b]`, `[--/]`, `]`, `}`, `a|`, `()`, `(?<=a)b`, `\-`, `[\-]`, `é`, `[a-\d]`, `[[:]`,
}
