package ecmaregexp

import (
	"regexp"
	"testing"
	"unicode"
)

func TestExcludes(t *testing.T) {
	for pattern, want := range map[string]bool{
		`^[a-z]+$`: true, `^[^/]+$`: true, `^(a|b)$`: true, `^a$|^b$`: true, `^\d{4}-\d{2}$`: true, `^(?:x-[\w.]+)+$`: true,
		`^.{1,512}$`: false, `[a-z]+`: false, `^[a-z]+`: false, `[a-z]+$`: false, `^a|b$`: false, `^[!-~]*$`: false, `^a/b$`: false,
		`depots/[^/]+`: false, `^(?!x)[a-z]+$`: false, `^[^a]$`: false, ``: false,
	} {
		e, err := Parse(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Excludes('/', '/'); got != want {
			t.Errorf("%q excludes the slash: %t", pattern, got)
		}
	}
}

// What is said to exclude a character never matches a text with it.
func FuzzExcludes(f *testing.F) {
	for _, pattern := range []string{`^[a-z]+$`, `^a$|^b$`, `^(a$|/)`, `^(?i)k$`, `^(^a|b)$`, `^a*(b$)$`, `^[^/]$`} {
		f.Add(pattern, "x")
	}
	f.Fuzz(func(t *testing.T, pattern, around string) {
		e, err := Parse(pattern)
		if err != nil || e.RE2 == "" || e.Size > 1000 {
			return
		}
		re, err := regexp.Compile(e.RE2)
		if err != nil {
			return
		}
		texts := append(e.Samples(), around)
		for _, r := range []rune{'/', '.', 'ſ', '\u212a', unicode.MaxRune} {
			if !e.Excludes(r, r) {
				continue
			}
			for _, text := range texts {
				for _, with := range []string{string(r) + text, text + string(r), text + string(r) + text, string(r)} {
					if re.MatchString(with) {
						t.Fatalf("%q excludes %q and matches %q", pattern, r, with)
					}
				}
			}
		}
	})
}

func TestNames(t *testing.T) {
	for pattern, want := range map[string]bool{
		`depots/[^/]+`: true, `^projects\/[^\/]+$`: true, `^[\w/.-]+$`: true, `^[/a-z]+$`: true, `^[a-z-/]+$`: true, `^[\/]$`: true, `^(heads|tags)/.+$`: true, `^[a/-]$`: true,
		`^[^/]+$`: false, `^.{1,512}$`: false, `^[!-~]*$`: false, `^[+-/]$`: false, `^[/-9]$`: false, `^(?!api/).*`: false, `^(?!(api|feed)/).*`: false, `^(?<!/)a$`: false,
		`/^[a-z]+$/`: false,
	} {
		e, err := Parse(pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		if got := e.Names('/'); got != want {
			t.Errorf("%q names the slash: %t (%s)", pattern, got, e.JavaScript)
		}
	}
}
